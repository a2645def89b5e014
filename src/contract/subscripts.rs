//! The indices of a contraction as text: `"bij,bjk->bik"`. A single parser, which also runs at compile time.

use crate::{Error, Result};

/// Number of letters for indices.
pub(super) const LETTERS: usize = 52;
/// Most operands of an expression.
pub(super) const MAX_OPERANDS: usize = 64;

/// An error message and its byte position.
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: &'static str,
}

/// The index number of a letter.
pub(super) const fn number(byte: u8) -> Option<u8> {
    match byte {
        b'a'..=b'z' => Some(byte - b'a'),
        b'A'..=b'Z' => Some(byte - b'A' + 26),
        _ => None,
    }
}

/// Letter `position` of operand `operand` in a text, if it exists.
pub(super) const fn term_letter(text: &str, operand: usize, position: usize) -> Option<u8> {
    let bytes = text.as_bytes();
    let (mut at, mut term, mut found) = (0, 0, 0);
    while at < bytes.len() && bytes[at] != b'-' && term <= operand {
        match number(bytes[at]) {
            Some(index) if term == operand => {
                if found == position {
                    return Some(index);
                }
                found += 1;
            }
            _ if bytes[at] == b',' => term += 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The first error in the text; with the known extents of each operand, also the first mismatch with those.
pub(super) const fn fault(text: &str, shapes: Option<&[&[Option<usize>]]>) -> Option<Fault> {
    let bytes = text.as_bytes();
    let (mut at, mut start) = (0, 0);
    let (mut operands, mut rank, mut result) = (0, 0, false);
    // Indices of the operands and of the result: a bit for each letter.
    let (mut known, mut named) = (0u64, 0u64);
    let mut extents = [None; LETTERS];
    loop {
        let end = at >= bytes.len();
        let arrow = !end && bytes[at] == b'-';
        if end || arrow || bytes[at] == b',' {
            if result {
                return match end {
                    true => None,
                    false => Some(Fault { at, message: "the indices of the result end the expression" }),
                };
            }
            if let Some(shapes) = shapes {
                if operands >= shapes.len() {
                    return Some(Fault { at: start, message: "there is no such operand" });
                }
                if shapes[operands].len() != rank {
                    return Some(Fault { at: start, message: "the operand has another number of indices" });
                }
                if !end && !arrow && operands + 1 == shapes.len() {
                    return Some(Fault { at: at + 1, message: "there is no such operand" });
                }
                if arrow && operands + 1 != shapes.len() {
                    return Some(Fault { at, message: "an operand has no indices here" });
                }
            }
            operands += 1;
            if operands > MAX_OPERANDS {
                return Some(Fault { at: start, message: "more than 64 operands" });
            }
            if end {
                return Some(Fault { at, message: "expected `->` and the indices of the result" });
            }
            if arrow {
                if at + 1 >= bytes.len() || bytes[at + 1] != b'>' {
                    return Some(Fault { at, message: "expected `->`" });
                }
                result = true;
                at += 1;
            }
            at += 1;
            start = at;
            rank = 0;
            continue;
        }
        if bytes[at] != b' ' {
            let Some(index) = number(bytes[at]) else {
                return Some(Fault { at, message: "expected a letter, `,` or `->`" });
            };
            let bit = 1u64 << index;
            if !result {
                known |= bit;
                if let Some(shapes) = shapes
                    && operands < shapes.len()
                    && rank < shapes[operands].len()
                    && let Some(extent) = shapes[operands][rank]
                {
                    let before = &mut extents[index as usize];
                    match *before {
                        Some(before) if before != extent => {
                            return Some(Fault { at, message: "the index has one extent here and another one before" });
                        }
                        _ => *before = Some(extent),
                    }
                }
            } else if known & bit == 0 {
                return Some(Fault { at, message: "no operand has this index of the result" });
            } else if named & bit != 0 {
                return Some(Fault { at, message: "the result has this index twice" });
            } else {
                named |= bit;
            }
            rank += 1;
        }
        at += 1;
    }
}

/// The number of indices of each operand of an expression, and of the result: the ranks that their layouts must have.
/// ```
/// assert_eq!(sparring::contract::ranks("bij,bjk->bik")?, (vec![3, 3], 3));
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// [`Error::Expression`], with the position.
pub fn ranks(expression: &str) -> Result<(Vec<usize>, usize)> {
    let Subscripts { operands, result, .. } = Subscripts::parse(expression)?;
    Ok((operands.iter().map(|term| term.letters.len()).collect(), result.letters.len()))
}

/// Fails compilation of an invalid checked expression.
/// # Panics
/// With the error message; in a constant, so at compile time.
#[doc(hidden)]
pub const fn assert_subscripts(text: &str, shapes: Option<&[&[Option<usize>]]>) {
    if let Some(fault) = fault(text, shapes) {
        panic!("{}", fault.message);
    }
}

/// The indices of one operand, or of the result: the number and text position of each.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) at: usize,
    pub(super) letters: Vec<(u8, usize)>,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subscripts {
    pub(super) text: String,
    pub(super) operands: Vec<Term>,
    pub(super) result: Term,
}

impl Subscripts {
    pub(super) fn parse(text: &str) -> Result<Self> {
        if let Some(Fault { at, message }) = fault(text, None) {
            return Err(Error::Expression { text: text.to_owned(), at, message: message.to_owned() });
        }
        let term = |at: usize, part: &str| {
            let letters = part.bytes().enumerate().filter_map(|(k, b)| Some((number(b)?, at + k)));
            Term { at, letters: letters.collect() }
        };
        let (left, right) = text.split_once("->").unwrap_or((text, ""));
        let mut at = 0;
        let mut operands = vec![];
        for part in left.split(',') {
            operands.push(term(at, part));
            at += part.len() + 1;
        }
        Ok(Self { text: text.to_owned(), operands, result: term(left.len() + 2, right) })
    }
    /// An error at byte `at`.
    pub(super) fn wrong(&self, at: usize, message: String) -> Error {
        Error::Expression { text: self.text.clone(), at, message }
    }
}

/// The letter of an index.
pub(super) fn name(index: u8) -> char {
    char::from(if index < 26 { b'a' + index } else { b'A' + index.saturating_sub(26) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(text: &str, ranks: Option<&[usize]>) -> Option<(usize, &'static str)> {
        let of: Option<Vec<_>> = ranks.map(|ranks| ranks.iter().map(|&r| &[None; 8][..r]).collect());
        fault(text, of.as_deref()).map(|f| (f.at, f.message))
    }

    #[test]
    fn faults_have_their_positions() {
        for text in ["ij,jk->ik", "->", ",i->i", " i j , j -> i ", "aA,Ab->ab", "ii->", "i->i"] {
            assert_eq!(fault_of(text, None), None, "{text}");
        }
        for (text, at) in [
            ("", 0),
            ("ij,jk", 5),
            ("ij-jk", 2),
            ("ij->ii", 5),
            ("ij->k", 4),
            ("i1->i", 1),
            ("i->i,i", 4),
            ("i->i->i", 4),
            ("ié->i", 1),
        ] {
            assert_eq!(fault_of(text, None).map(|f| f.0), Some(at), "{text}");
        }
        assert_eq!(fault_of("ij,jk->ik", Some(&[2, 2])), None);
        assert_eq!(fault_of("ij,jk->ik", Some(&[2, 3])).map(|f| f.0), Some(3));
        assert_eq!(fault_of("ij,jk->ik", Some(&[2])).map(|f| f.0), Some(3));
        assert_eq!(fault_of("ij,jk->ik", Some(&[2, 2, 1])).map(|f| f.0), Some(5));
        let shaped = |text: &str, shapes: &[&[Option<usize>]]| fault(text, Some(shapes)).map(|f| f.at);
        assert_eq!(shaped("ij,jk->ik", &[&[None, Some(3)], &[Some(3), None]]), None);
        assert_eq!(shaped("ij, jk->ik", &[&[None, Some(3)], &[Some(4), None]]), Some(4));
        assert_eq!(shaped("ij,kl,jj->ik", &[&[None, None], &[Some(5), Some(6)], &[Some(3), Some(2)]]), Some(7));
        assert_eq!(shaped("ii,ij->j", &[&[Some(3), None], &[Some(2), None]]), Some(3));
        assert_eq!(shaped("ij->ij", &[&[Some(3)]]), Some(0), "an index too many");
        let many = ",".repeat(MAX_OPERANDS) + "->";
        assert!(fault_of(&many, None).is_some() && fault_of(&many[1..], None).is_none());
    }

    #[test]
    fn what_is_read_is_what_is_written() {
        let read = Subscripts::parse("iB, j->Bj").unwrap();
        let letters = |t: &Term| t.letters.iter().map(|l| name(l.0)).collect::<String>();
        assert_eq!(read.operands.iter().map(letters).collect::<Vec<_>>(), ["iB", "j"]);
        assert_eq!((letters(&read.result), read.operands[1].letters[0].1), ("Bj".into(), 4));
    }
}
