//! `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …` by nested loops over all indices.

use sparring::contract::View;

/// An expression and the extents of its letters.
pub(crate) struct Textbook {
    operands: Vec<Vec<char>>,
    pub(crate) result: Vec<char>,
    folded: Vec<char>,
    extents: Vec<(char, usize)>,
    batch: usize,
}

impl Textbook {
    pub(crate) fn read<T>(text: &str, views: &[View<'_, T>]) -> Self {
        let (left, right) = text.split_once("->").expect("an arrow");
        let operands: Vec<Vec<char>> = left.split(',').map(|w| w.chars().collect()).collect();
        let result: Vec<char> = right.chars().collect();
        let mut extents: Vec<(char, usize)> = vec![];
        for (letters, view) in operands.iter().zip(views) {
            for (&letter, &extent) in letters.iter().zip(view.layout().extents()) {
                if !extents.iter().any(|e| e.0 == letter) {
                    extents.push((letter, extent));
                }
            }
        }
        let folded = extents.iter().map(|e| e.0).filter(|c| !result.contains(c)).collect();
        let batch = views.iter().map(|v| v.layout().batch()).find(|&b| b != 1).unwrap_or(1);
        Self { operands, result, folded, extents, batch }
    }
    fn extent(&self, letter: char) -> usize {
        self.extents.iter().find(|e| e.0 == letter).expect("a letter").1
    }
    /// Calls `f` for every tensor of the batch and every value of these indices, the last fastest.
    pub(crate) fn each(&self, letters: &[char], mut f: impl FnMut(usize, &[usize])) {
        for b in 0..self.batch {
            self.every(letters, |index| f(b, index));
        }
    }
    fn every(&self, letters: &[char], mut f: impl FnMut(&[usize])) {
        let extents: Vec<usize> = letters.iter().map(|&c| self.extent(c)).collect();
        if extents.contains(&0) {
            return;
        }
        let mut index = vec![0; letters.len()];
        loop {
            f(&index);
            let Some(k) = (0..index.len()).rev().find(|&k| index[k] + 1 < extents[k]) else { return };
            index[k] += 1;
            index[k + 1..].fill(0);
        }
    }
    /// One element of the result.
    pub(crate) fn fold<T: Copy>(
        &self,
        views: &[View<'_, T>],
        b: usize,
        at: &[usize],
        zero: T,
        plus: fn(T, T) -> T,
        times: fn(T, T) -> T,
    ) -> T {
        self.fold_by(views, b, at, zero, |sum, factors| plus(sum, factors.reduce(times).expect("an operand")))
    }
    /// The same, where a step of the fold is `step(sum, factors)`.
    pub(crate) fn fold_by<T: Copy>(
        &self,
        views: &[View<'_, T>],
        b: usize,
        at: &[usize],
        zero: T,
        step: impl Fn(T, &mut dyn Iterator<Item = T>) -> T,
    ) -> T {
        // Each index of each operand is either an index of the result or a folded one.
        let place = |c: &char| match self.result.iter().position(|r| r == c) {
            Some(k) => Ok(k),
            None => Err(self.folded.iter().position(|f| f == c).expect("a letter")),
        };
        let places: Vec<Vec<_>> = self.operands.iter().map(|letters| letters.iter().map(place).collect()).collect();
        let mut index = [0; 8];
        let mut sum = zero;
        self.every(&self.folded, |folded| {
            let mut factors = places.iter().zip(views).map(|(places, view)| {
                for (index, place) in index.iter_mut().zip(places) {
                    *index = place.map_or_else(|k| folded[k], |k| at[k]);
                }
                let b = if view.layout().batch() == 1 { 0 } else { b };
                *view.get(b, &index[..places.len()]).expect("an element")
            });
            sum = step(sum, &mut factors);
        });
        sum
    }
}
