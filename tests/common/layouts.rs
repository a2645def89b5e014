//! Layouts of dense tensors with permuted axes, and arrays for them.

use sparring::contract::Layout;

use super::arbitrary::Rng;

/// A layout with these extents, gaps and permuted axes; with `read`, some indices may run backwards or have stride 0.
pub(crate) fn layout(random: &mut Rng, extents: &[usize], batch: usize, read: bool) -> Layout {
    let made = match random.below(6) {
        0 => Layout::row_major(extents).and_then(|l| l.batched(batch)),
        1 => Layout::column_major(extents).and_then(|l| l.batched(batch)),
        2 => Layout::interleaved(extents, batch),
        _ => {
            let all: Vec<usize> = extents.iter().copied().chain([batch]).collect();
            let mut strides = vec![0isize; all.len()];
            let mut step = 1;
            for k in random.order(all.len()) {
                strides[k] = step;
                step = step * all[k].max(1) as isize + random.below(2) as isize;
            }
            let mut offset = random.below(3);
            for (stride, &extent) in strides.iter_mut().zip(&all) {
                if read && random.below(4) == 0 {
                    offset += stride.unsigned_abs() * extent.saturating_sub(1);
                    *stride = -*stride;
                } else if read && random.below(8) == 0 {
                    *stride = 0;
                }
            }
            let batch_stride = strides.pop().expect("the batch's");
            Layout::new(extents, &strides, offset).and_then(|l| l.strided(batch, batch_stride))
        }
    };
    made.expect("a layout")
}

/// An array for a layout, of at least one element.
pub(crate) fn array<T>(layout: &Layout, mut number: impl FnMut() -> T) -> Vec<T> {
    let (batch, stride) = (layout.batch(), layout.batch_stride());
    let axes = layout.extents().iter().zip(layout.strides()).chain([(&batch, &stride)]);
    let reach: usize = axes.filter(|a| *a.1 > 0).map(|(e, s)| e.saturating_sub(1) * s.unsigned_abs()).sum();
    (0..=layout.offset() + reach).map(|_| number()).collect()
}

/// A random expression of `count` operands over `letters` indices: its text, and the indices of operands and result.
pub(crate) fn expression(
    random: &mut Rng,
    count: usize,
    letters: usize,
    name: impl Fn(usize) -> char,
) -> (String, Vec<Vec<usize>>, Vec<usize>) {
    let terms: Vec<Vec<usize>> =
        (0..count).map(|_| (0..random.below(5)).map(|_| random.below(letters)).collect()).collect();
    let known: Vec<usize> = random.order(letters).into_iter().filter(|k| terms.iter().any(|t| t.contains(k))).collect();
    let result: Vec<usize> = known.into_iter().filter(|_| random.below(3) > 0).collect();
    let word = |term: &Vec<usize>| term.iter().map(|&k| name(k)).collect::<String>();
    let text = format!("{}->{}", terms.iter().map(word).collect::<Vec<_>>().join(","), word(&result));
    (text, terms, result)
}

/// Random extents for this many indices, with at most 3000 elements including the batch.
pub(crate) fn extents(random: &mut Rng, letters: usize, largest: usize, batch: usize, empty: bool) -> Vec<usize> {
    let mut extents: Vec<usize> = (0..letters).map(|_| 1 + random.below(largest)).collect();
    if empty {
        let k = random.below(letters);
        extents[k] = 0;
    }
    while extents.iter().product::<usize>() * batch.max(1) > 3000 {
        let k = random.below(letters);
        extents[k] = extents[k].div_ceil(2);
    }
    extents
}
