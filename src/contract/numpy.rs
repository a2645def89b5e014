//! Expressions in the syntax of `numpy.einsum`, converted to those of [`Einsum`](super::Einsum).

use super::einsum::INDICES;
use super::layout::Layout;
use super::subscripts::{LETTERS, name, number};
use crate::{Error, Result};

/// The expression and layouts that are equivalent to `text` and `layouts` in `numpy.einsum`.
///
/// `...` stands for the indices that an operand has beyond its letters; those of several operands are matched from the
/// right. Without `->` the result has the indices of `...`, then the letters that occur once, in alphabetical order,
/// capitals first. An index of extent 1 in one operand and larger in others is broadcast: its stride becomes 0.
/// ```
/// use sparring::contract::{Layout, as_numpy};
/// let layouts = [Layout::row_major(&[5, 2, 3])?, Layout::row_major(&[1, 3, 4])?];
/// let (text, layouts) = as_numpy("...ij,...jk", &layouts)?;
/// assert_eq!((&*text, layouts[1].extents(), layouts[1].strides()), ("aij,ajk->aik", &[5, 3, 4][..], &[0, 4, 1][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// [`Error::Expression`], with the position marked: `...` twice in a term, or missing in a result whose operands have
/// indices for it; more letters than the operand has indices. Other mistakes pass through, and
/// [`Einsum::new`](super::Einsum::new) reports them.
pub fn as_numpy(text: &str, layouts: &[Layout]) -> Result<(String, Vec<Layout>)> {
    let wrong = |at: usize, message: &str| Error::Expression { text: text.into(), at, message: message.into() };
    let (left, right) = text.split_once("->").map_or((text, None), |(left, right)| (left, Some(right)));
    let terms: Vec<&str> = left.split(',').collect();
    let position = |k: usize| terms[..k].iter().map(|t| t.len() + 1).sum::<usize>();
    // Number of indices that `...` stands for, in each term and at most.
    let mut hidden = vec![];
    for (k, term) in terms.iter().enumerate() {
        let letters = term.bytes().filter(|&b| number(b).is_some()).count();
        let rank = layouts.get(k).map_or(letters, Layout::rank);
        hidden.push(match term.match_indices("...").count() {
            0 => None,
            1 if rank < letters => {
                return Err(wrong(position(k), &format!("operand {k} has {letters} letters and {rank} indices")));
            }
            1 => Some(rank - letters),
            _ => return Err(wrong(position(k), "`...` occurs twice in a term")),
        });
    }
    let most = hidden.iter().flatten().copied().max().unwrap_or(0);
    let unused: String = (0..LETTERS as u8).map(name).filter(|&c| !text.contains(c)).take(most).collect();
    if unused.len() < most {
        return Err(wrong(0, "more than 52 indices"));
    }
    let spelled = |term: &str, hidden: usize| term.replace("...", &unused[most - hidden..]);
    let left: Vec<String> = terms.iter().zip(&hidden).map(|(term, n)| spelled(term, n.unwrap_or(0))).collect();
    let result = match right {
        Some(right) => {
            let at = text.len() - right.len();
            match right.matches("...").count() {
                0 if most > 0 => return Err(wrong(at, "the result needs `...` for the indices that it stands for")),
                0 | 1 => spelled(right, most),
                _ => return Err(wrong(at, "`...` occurs twice in a term")),
            }
        }
        None => {
            let mut once: Vec<char> =
                left.concat().chars().filter(|c| c.is_ascii_alphabetic() && !unused.contains(*c)).collect();
            once.sort_unstable();
            let once = once.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).flatten();
            unused.chars().chain(once.copied()).collect()
        }
    };
    let mut extents = [1; INDICES];
    let letters = |term: &str| -> Vec<usize> { term.bytes().filter_map(number).map(usize::from).collect() };
    for (term, layout) in left.iter().zip(layouts) {
        for (index, &extent) in letters(term).into_iter().zip(layout.extents()) {
            if extents[index] == 1 {
                extents[index] = extent;
            }
        }
    }
    let stretched = |(k, layout): (usize, &Layout)| {
        let letters = left.get(k).map(|term| letters(term)).unwrap_or_default();
        if letters.len() != layout.rank() {
            return Ok(layout.clone());
        }
        let axes = layout.extents().iter().zip(layout.strides()).zip(&letters);
        let axes = axes.map(|((&n, &stride), &i)| if n == 1 { (extents[i], 0) } else { (n, stride) });
        let (extents, strides): (Vec<_>, Vec<_>) = axes.unzip();
        Layout::new(&extents, &strides, layout.offset())?.strided(layout.batch(), layout.batch_stride())
    };
    let layouts = layouts.iter().enumerate().map(stretched).collect::<Result<Vec<_>>>()?;
    Ok((format!("{}->{result}", left.join(",")), layouts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, shapes: &[&[usize]]) -> std::result::Result<(String, Vec<Vec<usize>>), usize> {
        let layouts: Vec<_> = shapes.iter().map(|shape| Layout::row_major(shape).unwrap()).collect();
        match as_numpy(text, &layouts) {
            Ok((text, layouts)) => Ok((text, layouts.iter().map(|l| l.extents().to_vec()).collect())),
            Err(Error::Expression { at, .. }) => Err(at),
            Err(e) => panic!("{e}"),
        }
    }

    #[test]
    fn texts_are_spelled_out() {
        let text = |text: &str, shapes: &[&[usize]]| read(text, shapes).map(|x| x.0);
        for (short, shapes, long) in [
            ("ij,jk", &[&[2, 3][..], &[3, 4]][..], "ij,jk->ik"),
            ("ba", &[&[2, 3]], "ba->ab"),
            ("bA", &[&[2, 3]], "bA->Ab"),
            ("ii", &[&[2, 2]], "ii->"),
            ("...ii->...i", &[&[4, 2, 2]], "aii->ai"),
            ("i...,...", &[&[2, 3, 4], &[4]], "iab,b->abi"),
            ("...,...", &[&[], &[]], ",->"),
            ("a...->...", &[&[2, 3]], "ab->b"),
            ("ij->ji", &[&[2, 3]], "ij->ji"),
        ] {
            assert_eq!(text(short, shapes).as_deref(), Ok(long), "{short}");
        }
        for (wrong, shapes, at) in [
            ("...i...->i", &[&[2, 3][..]][..], 0),
            ("i,...j->ij", &[&[2], &[3, 4]], 8),
            ("i,...->......", &[&[2], &[3, 4]], 7),
            ("i,...jk->...", &[&[2], &[3]], 2),
        ] {
            assert_eq!(text(wrong, shapes), Err(at), "{wrong}");
        }
    }

    #[test]
    fn one_value_stands_for_all() {
        assert_eq!(read("ij,ij->ij", &[&[1, 3], &[2, 1]]).unwrap().1, [[2, 3], [2, 3]]);
        assert_eq!(read("i,i->i", &[&[1], &[0]]).unwrap().1, [[0], [0]]);
        // Passed through; `Einsum::new` refuses it.
        assert_eq!(read("i,i->i", &[&[2], &[3]]).unwrap().1, [[2], [3]]);
    }
}
