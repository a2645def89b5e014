//! kkSpGEMM's choices on a GPU, as pure functions with their reasons.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3.3; where the paper gives no number, KokkosKernels 4.7.99.

use crate::spgemm::{Accumulator, KkSettings};

/// Threads of a team under kkmem, and the initial team under kklp.
pub(super) const TEAM: u32 = 256;
/// Initial bytes of shared memory of a team. The paper has 16 KiB, its implementation 256 bytes less.
const SHARED: u32 = 16_128;
/// Mean multiplications per row from which kklp is chosen.
const MANY_FLOPS: f64 = 256.0;
/// kklp halves its shared memory while the mean row of C fills less than this fraction of it,
const SPARSE: f64 = 0.275;
/// and doubles it if the mean row fills more than this fraction.
const CROWDED: f64 = 0.55;
/// If the longest row fills less than this fraction, there is no second level.
const SPREAD: f64 = 0.70;

/// The algorithm of the numeric phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Linked lists, Thread-Sequential.
    Kkmem,
    /// Linear probing, Thread-Flat-Parallel.
    Kklp,
}

/// Statistics of the rows, the input of the rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowStats {
    /// Mean entries of a row of B.
    pub(super) mean_b: f64,
    /// Mean multiplications of a row.
    pub(super) mean_flops: f64,
    /// Mean entries of a row of C (ars), known or estimated.
    pub(super) mean_c: f64,
    /// Most entries of a row of C (maxrs), or an upper bound.
    pub(super) longest: u64,
}

/// Shape of kkmem: `lanes` lanes per row, and a first level of `hashes` lists with room for `room` keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lists {
    pub(super) lanes: u32,
    pub(super) hashes: u32,
    pub(super) room: u32,
}

/// Shape of kklp: `threads` threads per row, and a first level of `slots` slots for at most `limit` keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probing {
    pub(super) threads: u32,
    pub(super) slots: u32,
    pub(super) limit: u32,
}

/// Lanes that share a row of B of `mean` entries.
pub(super) fn vector_length(mean: f64) -> u32 {
    match mean {
        m if m < 3.0 => 2,
        m if m <= 6.0 => 4,
        m if m <= 12.0 => 8,
        m if m <= 24.0 => 16,
        _ => 32,
    }
}

/// The symbolic phase's estimate of the mean entries of a row of C: an eighth of the geometric mean of the most and the
/// mean multiplications of a row. The mean alone would be too low where rows differ much.
pub(super) fn guessed_row(most_flops: u64, mean_flops: f64) -> f64 {
    (most_flops as f64 * mean_flops).sqrt() / 8.0
}

/// The algorithm of the numeric phase, and the reason.
pub(super) fn method(forced: Accumulator, rows: &RowStats) -> (Method, String) {
    let (flops, ars) = (rows.mean_flops, rows.mean_c);
    let lanes = vector_length(rows.mean_b);
    match forced {
        Accumulator::LinkedList => (Method::Kkmem, "kkmem (LL, forced)".into()),
        Accumulator::LinearProbe => (Method::Kklp, "kklp (LP, forced)".into()),
        _ if flops < MANY_FLOPS => (Method::Kkmem, format!("kkmem (LL, row flops {flops:.1} < {MANY_FLOPS})")),
        _ if ars < f64::from(lanes) => {
            (Method::Kkmem, format!("kkmem (LL, row flops {flops:.1}, but rows of C {ars:.1} < {lanes} lanes)"))
        }
        _ => (Method::Kklp, format!("kklp (LP, row flops {flops:.1} >= {MANY_FLOPS})")),
    }
}

/// The lists that fit `bytes` bytes, with values of `value` bytes.
fn lists_in(bytes: u32, value: u32) -> (u32, u32) {
    let keys = bytes / (12 + value);
    let hashes = (keys.max(1) + 1).next_power_of_two() / 2;
    // Rounding the hashes down leaves room for more keys.
    (hashes, bytes.saturating_sub(4 * hashes) / (8 + value))
}

/// Shape of kkmem for values of `value` bytes, with at least `least` lanes per row, and the reason. `most` is the
/// shared memory available to a block.
pub(super) fn linked_lists(
    rows: &RowStats,
    value: u32,
    least: u32,
    settings: &KkSettings,
    most: u32,
) -> (Lists, String) {
    let first = vector_length(rows.mean_b).max(least);
    let share = |lanes: u32| SHARED / (TEAM / lanes) / 8 * 8;
    if let Some(forced) = settings.first_level {
        let lanes = first;
        let (_, fits) = lists_in(most / (TEAM / lanes), value);
        let room = u32::try_from(forced).unwrap_or(u32::MAX).min(fits);
        // One list per key, as far as memory allows.
        let mut hashes = room.max(1).next_power_of_two();
        while hashes > 1 && 4 * hashes + (8 + value) * room > most / (TEAM / lanes) {
            hashes /= 2;
        }
        return (Lists { lanes, hashes, room }, format!("{lanes} lanes, first level of {room} keys (forced)"));
    }
    let mut lanes = first;
    let (mut hashes, mut room) = lists_in(share(lanes), value);
    while rows.mean_c > f64::from(room) && lanes < 32 {
        lanes *= 2;
        (hashes, room) = lists_in(share(lanes), value);
    }
    let raised = if lanes > first { format!(", {first} raised to fit rows of {:.1}", rows.mean_c) } else { "".into() };
    let why = format!("{lanes} lanes (rows of B {:.1}{raised}), first level of {room} keys", rows.mean_b);
    (Lists { lanes, hashes, room }, why)
}

/// Keys that a table of `slots` slots takes. One slot always stays empty: it terminates searches.
fn limit(slots: u32, max_occupancy: f64) -> u32 {
    ((f64::from(slots) * max_occupancy) as u32).min(slots - 1)
}

/// Slots that fit `bytes` bytes of keys and values. Our additional word per slot (the waiting thread) is not counted,
/// so that the sizes are those of the paper.
fn slots_in(bytes: u32, value: u32) -> u32 {
    (bytes / (4 + value) + 1).next_power_of_two() / 2
}

/// Bytes of shared memory of a kklp block for values of `value` bytes, with offsets of `offset` bytes.
pub(super) fn probing_bytes(shape: Probing, value: u32, offset: u32) -> u32 {
    (value * shape.slots).next_multiple_of(16) + 8 * shape.slots + 4 * (shape.threads + 4) + offset * shape.threads
}

/// Shape of kklp for values of `value` bytes, and the reason. `most` is the shared memory available to a block.
pub(super) fn linear_probe(rows: &RowStats, value: u32, settings: &KkSettings, most: u32) -> (Probing, String) {
    let fits = |slots: u32, threads: u32| {
        probing_bytes(Probing { threads, slots, limit: 0 }, value, 8) <= most.saturating_sub(1024)
    };
    if let Some(forced) = settings.first_level {
        let mut slots = u32::try_from(forced).unwrap_or(u32::MAX).clamp(2, 1 << 20).next_power_of_two();
        while slots > 2 && !fits(slots, TEAM) {
            slots /= 2;
        }
        let limit = limit(slots, settings.max_occupancy);
        return (Probing { threads: TEAM, slots, limit }, format!("{TEAM} threads, {slots} slots (forced)"));
    }
    let ars = rows.mean_c;
    let (mut shared, mut threads) = (SHARED, TEAM);
    let mut slots = slots_in(shared, value);
    let mut why = "";
    // Two warps are the smallest team.
    while threads > 64 && ars < SPARSE * f64::from(slots) {
        (shared, threads, why) = (shared / 2, threads / 2, ", less for short rows");
        slots = slots_in(shared, value);
    }
    let twice = slots_in(2 * shared, value);
    if shared == SHARED
        && ars > CROWDED * f64::from(slots)
        && rows.mean_flops > f64::from(2 * threads)
        && fits(twice, 2 * threads)
    {
        (shared, threads, slots, why) = (2 * shared, 2 * threads, twice, ", more for long rows");
    }
    let spread = (rows.longest as f64) < SPREAD * f64::from(slots);
    let (limit, levels) = if spread {
        (slots - 1, "spread: one level")
    } else {
        (limit(slots, settings.max_occupancy), "big spread: two levels")
    };
    let why = format!(
        "{threads} threads, {shared} bytes{why}, {slots} slots (rows of C {ars:.1}, at most {}; {levels})",
        rows.longest
    );
    (Probing { threads, slots, limit }, why)
}

/// Slots of a second level of kklp that takes `longest` keys; `None` if that exceeds the maximum.
pub(super) fn second_slots(longest: u64, max_occupancy: f64) -> Option<u32> {
    let most = 1u64 << 31;
    let wanted = ((longest as f64 / max_occupancy).ceil() as u64).saturating_add(1).clamp(2, most);
    let slots = wanted.next_power_of_two().min(most);
    u32::try_from(slots).ok().filter(|_| slots > longest)
}

/// Chunks of the memory pool: as many as can be held at a time, or as the setting says, but at most half of the free
/// memory, and at least one.
pub(super) fn chunks(at_a_time: u64, forced: Option<usize>, chunk_bytes: u64, free: u64) -> u32 {
    let wanted = forced.map_or(at_a_time, |n| at_a_time.min(n as u64));
    let affordable = free / 2 / chunk_bytes.max(1);
    u32::try_from(wanted.min(affordable).max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 227 << 10;
    const AUTO: Accumulator = Accumulator::Auto;

    fn rows(mean_b: f64, mean_flops: f64, mean_c: f64, longest: u64) -> RowStats {
        RowStats { mean_b, mean_flops, mean_c, longest }
    }
    fn settings() -> KkSettings {
        KkSettings::default()
    }

    #[test]
    fn vectors_are_as_long_as_rows_of_b() {
        let found = [0.0, 2.9, 3.0, 6.0, 6.1, 12.0, 12.1, 24.0, 24.1, 48.0, 1e9].map(vector_length);
        assert_eq!(found, [2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 32]);
    }

    #[test]
    fn few_multiplications_a_row_use_lists() {
        let of = |mean_b, flops, ars| method(AUTO, &rows(mean_b, flops, ars, 9));
        assert_eq!(of(5.0, 255.9, 100.0), (Method::Kkmem, "kkmem (LL, row flops 255.9 < 256)".into()));
        assert_eq!(of(5.0, 256.0, 100.0), (Method::Kklp, "kklp (LP, row flops 256.0 >= 256)".into()));
        // Rows of C shorter than a vector.
        let short = (Method::Kkmem, "kkmem (LL, row flops 300.0, but rows of C 31.0 < 32 lanes)".into());
        assert_eq!(of(30.0, 300.0, 31.0), short);
        assert_eq!(of(30.0, 300.0, 32.0).0, Method::Kklp);
        assert_eq!(method(Accumulator::LinkedList, &rows(5.0, 1e6, 1e5, 9)).0, Method::Kkmem);
        assert_eq!(method(Accumulator::LinearProbe, &rows(5.0, 1.0, 1.0, 9)).0, Method::Kklp);
    }

    #[test]
    fn the_estimate_is_an_eighth_from_mean_to_maximum() {
        assert_eq!(guessed_row(400, 100.0), 25.0);
        assert_eq!(guessed_row(0, 0.0), 0.0);
    }

    #[test]
    fn lists_use_their_share() {
        // 2016 bytes of a warp: 100 keys at 20 bytes, 64 lists, and 110 keys in the space of the 36 lists rounded away.
        assert_eq!(lists_in(2016, 8), (64, 110));
        assert_eq!(lists_in(2016, 0), (128, 188));
        assert_eq!(lists_in(20, 8), (1, 1));
        assert_eq!(lists_in(0, 8), (1, 0));
        for (bytes, value) in [(2016, 8), (120, 32), (504, 1), (15, 4), (100_000, 4)] {
            let (hashes, room) = lists_in(bytes, value);
            assert!(hashes.is_power_of_two() && 4 * hashes + (8 + value) * room <= bytes, "{bytes} {value}");
        }
    }

    #[test]
    fn vectors_grow_until_rows_fit() {
        let of = |mean_b, ars, least| linked_lists(&rows(mean_b, 0.0, ars, 0), 8, least, &settings(), MOST);
        // 128 bytes for 2 lanes (of 126: 120), 248 for 4, 504 for 8, 1008 for 16, 2016 for 32.
        assert_eq!(of(2.0, 6.0, 1).0, Lists { lanes: 2, hashes: 4, room: 6 });
        assert_eq!(of(2.0, 6.1, 1).0.lanes, 4);
        assert_eq!(of(2.0, 0.0, 4).0.lanes, 4, "the symbolic phase has at least 4");
        assert_eq!(of(5.0, 20.0, 1).0, Lists { lanes: 8, hashes: 16, room: 27 });
        assert_eq!(of(5.0, 1e9, 1).0, Lists { lanes: 32, hashes: 64, room: 110 });
        let (_, why) = of(5.0, 20.0, 1);
        assert_eq!(why, "8 lanes (rows of B 5.0, 4 raised to fit rows of 20.0), first level of 27 keys");
        assert_eq!(of(5.0, 1.0, 1).1, "4 lanes (rows of B 5.0), first level of 13 keys");
    }

    #[test]
    fn a_forced_first_level_is_limited_to_what_fits() {
        let of = |first_level, value| {
            let forced = KkSettings { first_level: Some(first_level), ..settings() };
            let all = rows(5.0, 0.0, 1e6, 1000);
            (linked_lists(&all, value, 1, &forced, MOST).0, linear_probe(&all, value, &forced, MOST).0)
        };
        assert_eq!(of(0, 8).0, Lists { lanes: 4, hashes: 1, room: 0 });
        assert_eq!(of(0, 8).1, Probing { threads: 256, slots: 2, limit: 1 });
        assert_eq!(of(5, 8).0, Lists { lanes: 4, hashes: 8, room: 5 });
        assert_eq!(of(5, 8).1, Probing { threads: 256, slots: 8, limit: 4 });
        for value in [0, 1, 8, 32] {
            for first_level in [0, 1, 3, 100, 160, 1000, 1 << 20, usize::MAX] {
                let (lists, probing) = of(first_level, value);
                let bytes = (4 * lists.hashes + (8 + value) * lists.room) * (TEAM / lists.lanes);
                assert!(bytes <= MOST && lists.hashes.is_power_of_two(), "{first_level} {value} {lists:?}");
                assert!(probing_bytes(probing, value, 8) <= MOST, "{first_level} {value} {probing:?}");
            }
        }
    }

    #[test]
    fn tables_follow_the_rows_of_c() {
        let of = |flops, ars, longest| linear_probe(&rows(9.0, flops, ars, longest), 8, &settings(), MOST);
        // 16 128 bytes: 1344 slots of 12 bytes, 1024 as a power of 2; halved at ars below 281.6 and 140.8.
        assert_eq!(of(1000.0, 281.6, 1000).0, Probing { threads: 256, slots: 1024, limit: 512 });
        assert_eq!(of(1000.0, 281.5, 1000).0, Probing { threads: 128, slots: 512, limit: 256 });
        assert_eq!(of(1000.0, 140.7, 1000).0, Probing { threads: 64, slots: 256, limit: 128 });
        assert_eq!(of(1000.0, 1.0, 1000).0, Probing { threads: 64, slots: 256, limit: 128 }, "two warps are the least");
        // Doubled once, above 563.2, if there is work for the threads.
        assert_eq!(of(1000.0, 563.3, 9999).0, Probing { threads: 512, slots: 2048, limit: 1024 });
        assert_eq!(of(512.0, 563.3, 9999).0, Probing { threads: 256, slots: 1024, limit: 512 });
        assert_eq!(of(1000.0, 563.2, 9999).0.threads, 256);
        assert_eq!(of(1e6, 1e6, 1 << 30).0.slots, 2048);
        // Spread: one level.
        assert_eq!(of(1000.0, 400.0, 716).0.limit, 1023);
        assert_eq!(of(1000.0, 400.0, 717).0.limit, 512);
        assert_eq!(
            of(1000.0, 400.0, 716).1,
            "256 threads, 16128 bytes, 1024 slots (rows of C 400.0, at most 716; spread: one level)"
        );
        assert!(of(1000.0, 600.0, 9999).1.contains("32256 bytes, more for long rows"));
        assert!(of(1000.0, 100.0, 9999).1.ends_with("big spread: two levels)"));
        // On a device with less shared memory it is not doubled.
        let little = linear_probe(&rows(9.0, 1000.0, 600.0, 9999), 32, &settings(), 20 << 10).0;
        assert_eq!(little, Probing { threads: 256, slots: 256, limit: 128 });
    }

    #[test]
    fn occupancy_is_a_setting() {
        let of = |max_occupancy| {
            let settings = KkSettings { max_occupancy, ..settings() };
            linear_probe(&rows(9.0, 1000.0, 400.0, 9999), 8, &settings, MOST).0.limit
        };
        assert_eq!([of(0.25), of(1.0), of(1e-9)], [256, 1023, 0]);
        assert_eq!(second_slots(0, 0.5), Some(2));
        assert_eq!(second_slots(7, 0.5), Some(16));
        assert_eq!(second_slots(8, 1.0), Some(16), "a slot stays empty");
        assert_eq!(second_slots(1000, 1e-12), Some(1 << 31));
        assert_eq!(second_slots((1 << 31) - 1, 0.5), Some(1 << 31));
        assert_eq!(second_slots(1 << 31, 0.5), None);
    }

    #[test]
    fn a_pool_uses_half_of_the_free_memory() {
        assert_eq!(chunks(1000, None, 10, 1 << 30), 1000);
        assert_eq!(chunks(1000, None, 10, 2000), 100);
        assert_eq!(chunks(1000, None, 10, 3), 1);
        assert_eq!(chunks(1000, Some(3), 10, 1 << 30), 3);
        assert_eq!(chunks(2, Some(3), 10, 1 << 30), 2);
        assert_eq!(chunks(0, None, 0, 0), 1);
    }
}
