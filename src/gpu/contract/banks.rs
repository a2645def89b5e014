//! Shared memory of a multiprocessor: 32 banks of 4 bytes, each of which delivers one word at a time.

/// Bytes of shared memory per vector read or copy.
pub(super) const AT_ONCE: usize = 16;

/// Turns that a warp takes to read `width` bytes at each of these byte offsets. Lanes that read the same word share it;
/// one turn serves as many lanes as 128 bytes hold.
pub(super) fn turns(offsets: &[usize], width: usize) -> usize {
    let lanes = (128 / width.max(1)).clamp(1, 32);
    let of = |group: &[usize]| {
        let mut words: Vec<usize> = group.iter().flat_map(|&at| at / 4..(at + width).div_ceil(4)).collect();
        words.sort_unstable();
        words.dedup();
        let mut banks = [0usize; 32];
        words.iter().for_each(|word| banks[word % 32] += 1);
        banks.into_iter().max().unwrap_or(0)
    };
    offsets.chunks(lanes).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_share_words_and_wait_for_banks() {
        let offsets = |step: usize| (0..32).map(|t| t * step).collect::<Vec<_>>();
        assert_eq!(turns(&offsets(4), 4), 1);
        assert_eq!(turns(&offsets(0), 8), 2, "one word for all, half a warp at a time");
        assert_eq!(turns(&offsets(8), 8), 2);
        assert_eq!(turns(&offsets(128), 4), 32, "all in one bank");
        assert_eq!(turns(&offsets(128), 16), 32);
        assert_eq!(turns(&offsets(144), 16), 4, "rows of 128 bytes, 16 more from one to the next");
        assert_eq!(turns(&offsets(1), 1), 1);
        assert_eq!(turns(&[], 4), 0);
    }
}
