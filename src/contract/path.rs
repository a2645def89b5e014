//! The contraction order.
//!
//! With up to eight operands all orders are compared, by the least cost of every subset. With more, a greedy search
//! takes the pair whose result is smallest relative to what it replaces. The cost of contracting two operands is the
//! product of the extents of all their indices; ties are broken by less intermediate memory, then by order. A pure
//! function of extents, so the order is the same on every machine.

use super::einsum::INDICES;
use crate::Result;
use crate::par::{collected, filled};

/// Most operands for which all orders are compared: 3⁸ pairs of subsets.
const EXHAUSTIVE: usize = 8;

/// A set of indices, a bit each.
pub(crate) type Set = u64;
/// Compared lexicographically; smaller is better.
type Cost = (f64, f64);

/// The members of a set, in order.
pub(crate) fn members(set: Set) -> impl Iterator<Item = u8> {
    (0..INDICES as u8).filter(move |&i| set >> i & 1 == 1)
}

/// Elements of a tensor with these indices.
pub(crate) fn size(set: Set, extents: &[usize; INDICES]) -> f64 {
    members(set).map(|i| extents[usize::from(i)] as f64).product()
}

/// Pairs to contract, in order, for at least one operand. Operands have the numbers `0..n`; the result of the k-th pair
/// has n + k.
pub(super) fn path(operands: &[Set], result: Set, extents: &[usize; INDICES]) -> Result<Vec<(usize, usize)>> {
    if operands.len() <= EXHAUSTIVE { best(operands, result, extents) } else { Ok(greedy(operands, result, extents)) }
}

fn best(operands: &[Set], result: Set, extents: &[usize; INDICES]) -> Result<Vec<(usize, usize)>> {
    let n = operands.len();
    let all = (1usize << n) - 1;
    let union = |subset: usize| (0..n).filter(|i| subset >> i & 1 == 1).fold(0, |set, i| set | operands[i]);
    // The indices left of each subset after its contraction.
    let remaining: Vec<Set> = collected(all + 1, (0..=all).map(|s| union(s) & (result | union(all & !s))), "a path")?;
    let mut least = filled(all + 1, ((0.0, 0.0), 0usize), "a path")?;
    for subset in 1..=all {
        if subset.is_power_of_two() {
            continue;
        }
        let own = if subset == all { 0.0 } else { size(remaining[subset], extents) };
        let mut found: Option<(Cost, usize)> = None;
        // Only halves that contain the lowest operand of the subset, so that no split is tried twice.
        let lowest = subset & subset.wrapping_neg();
        let mut half = (subset - 1) & subset;
        while half > 0 {
            if half & lowest != 0 {
                let (left, right) = (least[half].0, least[subset & !half].0);
                let cost = size(remaining[half] | remaining[subset & !half], extents);
                let total = (left.0 + right.0 + cost, left.1 + right.1 + own);
                if found.is_none_or(|(before, _)| total < before) {
                    found = Some((total, half));
                }
            }
            half = (half - 1) & subset;
        }
        least[subset] = found.unwrap_or_default();
    }
    let mut pairs = vec![];
    unfold(all, n, &least, &mut pairs);
    Ok(pairs)
}

/// Appends the pairs that contract a subset; returns the number of its result.
fn unfold(subset: usize, n: usize, least: &[(Cost, usize)], pairs: &mut Vec<(usize, usize)>) -> usize {
    if subset.is_power_of_two() {
        return subset.trailing_zeros() as usize;
    }
    let half = least[subset].1;
    let left = unfold(half, n, least, pairs);
    let right = unfold(subset & !half, n, least, pairs);
    pairs.push((left, right));
    n + pairs.len() - 1
}

fn greedy(operands: &[Set], result: Set, extents: &[usize; INDICES]) -> Vec<(usize, usize)> {
    let mut alive: Vec<(usize, Set)> = operands.iter().copied().enumerate().collect();
    let mut pairs = vec![];
    while alive.len() > 1 {
        let mut found: Option<(Cost, (usize, usize), Set)> = None;
        for (i, &(_, x)) in alive.iter().enumerate() {
            for (j, &(_, y)) in alive.iter().enumerate().skip(i + 1) {
                let others =
                    alive.iter().enumerate().filter(|(k, _)| *k != i && *k != j).fold(result, |s, (_, x)| s | x.1);
                let remaining = (x | y) & others;
                let grows = size(remaining, extents) - size(x, extents) - size(y, extents);
                let cost = (grows, size(x | y, extents));
                if found.is_none_or(|(before, ..)| cost < before) {
                    found = Some((cost, (i, j), remaining));
                }
            }
        }
        // If costs are NaN no pair compares as better; any pair will do.
        let (_, (i, j), remaining) = found.unwrap_or(((0.0, 0.0), (0, 1), alive[0].1 | alive[1].1));
        pairs.push((alive[i].0, alive[j].0));
        alive[i] = (operands.len() + pairs.len() - 1, remaining);
        alive.remove(j);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(of: &[(u8, usize)]) -> [usize; INDICES] {
        let mut all = [1; INDICES];
        of.iter().for_each(|&(i, e)| all[usize::from(i)] = e);
        all
    }
    fn cost(pairs: &[(usize, usize)], operands: &[Set], result: Set, extents: &[usize; INDICES]) -> f64 {
        let mut alive: Vec<Option<Set>> = operands.iter().copied().map(Some).collect();
        let mut total = 0.0;
        for &(i, j) in pairs {
            let both = alive[i].take().unwrap() | alive[j].take().unwrap();
            total += size(both, extents);
            alive.push(Some(both & alive.iter().flatten().fold(result, |s, x| s | x)));
        }
        assert_eq!(alive.iter().flatten().count(), 1);
        total
    }
    /// Tries every order of pairs.
    fn cheapest(operands: &[Set], result: Set, extents: &[usize; INDICES]) -> f64 {
        if operands.len() < 2 {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for i in 0..operands.len() {
            for j in 0..i {
                let mut rest = operands.to_vec();
                let both = rest.remove(i) | rest.remove(j);
                rest.push(both & rest.iter().fold(result, |s, x| s | x));
                least = least.min(size(both, extents) + cheapest(&rest, result, extents));
            }
        }
        least
    }

    /// A chain of matrices whose best bracketing is not from the left.
    #[test]
    fn a_chain_from_the_right() {
        let extents = extents(&[(0, 10), (1, 100), (2, 100), (3, 1)]);
        let operands = [0b0011, 0b0110, 0b1100];
        assert_eq!(path(&operands, 0b1001, &extents).unwrap(), [(1, 2), (0, 3)]);
    }

    #[test]
    fn no_order_is_cheaper() {
        let mut seed = 7u64;
        let mut next = move |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..60 {
            let n = 1 + next(5) as usize;
            let of: Vec<_> = (0..6).map(|i| (i, 1 + next(9) as usize)).collect();
            let extents = extents(&of);
            let mut operands: Vec<Set> = (0..n).map(|_| next(64)).collect();
            let result = next(64) & operands.iter().fold(0, |s, x| s | x);
            // Indices of a single operand are folded before paths are searched.
            for k in 0..n {
                let others = operands.iter().enumerate().filter(|(j, _)| *j != k).fold(result, |s, x| s | x.1);
                operands[k] &= others;
            }
            let (found, wanted) = (
                cost(&path(&operands, result, &extents).unwrap(), &operands, result, &extents),
                cheapest(&operands, result, &extents),
            );
            assert_eq!(found, wanted, "{operands:?} {result} {of:?}");
        }
    }

    #[test]
    fn many_operands_are_contracted_once_each() {
        let extents = extents(&(0..13).map(|i| (i, 2 + usize::from(i) % 3)).collect::<Vec<_>>());
        let operands: Vec<Set> = (0..12).map(|i| 0b11 << i).collect();
        let pairs = path(&operands, 1 | 1 << 12, &extents).unwrap();
        assert_eq!(pairs.len(), 11);
        cost(&pairs, &operands, 1 | 1 << 12, &extents);
    }
}
