//! Parallel reader of sparse tensors in FROSTT and Tensor Toolbox (`sptensor`) files: every rank parses a part.

use std::ops::ControlFlow;
use std::path::Path;

use sparring::algebra::Real;
use sparring::io::{Duplicates, FrosttOptions, FrosttValue, parse_frostt_with, read_frostt_with};
use sparring::tensor::AnyTensor;
use sparring::{Error, Index, Result, with_tensor};

use crate::Cluster;
use crate::grid::cut;
use crate::tensor::{Round, Tensor};
use crate::text::{BLOCK, Share, in_file, newlines};
use crate::wire::{bytes, reserved};

/// The settings of the options that parsing by parts depends on.
struct FrosttRules {
    dims: Option<Vec<usize>>,
    /// Number of the first index, 0 or 1.
    base: usize,
    has_values: bool,
    refuses: bool,
}

/// Header of a file, and its first entry.
struct Head {
    dims: Option<Vec<usize>>,
    entries: Option<usize>,
    /// Byte offset of the first entry, and the number of lines before it.
    start: usize,
    lines: usize,
    /// The line of the first entry, including its line end.
    first: Vec<u8>,
}

impl Cluster {
    /// The tensor of a FROSTT file accessible to every rank, compressed or not, as by
    /// [`read_frostt_with`](sparring::io::read_frostt_with). Duplicates are summed in file order, even if the options
    /// would keep them. Collective.
    ///
    /// Rank r of p parses the lines that begin in the r-th of p equal parts of the bytes, or every p-th block of 4 MiB
    /// of compressed text, and sends entries to their owners: O(nnz / p) memory per rank. Every rank decompresses all
    /// of a compressed file, a block at a time.
    /// # Errors
    /// Those of [`read_frostt_with`](sparring::io::read_frostt_with), with line numbers of the whole file. An error of
    /// one rank is reported on all.
    /// # Example
    /// ```
    /// use sparring::{Cpu, factor::CpAls, io::FrosttOptions};
    /// use sparring_cluster::Cluster;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/aminoacid.tns.gz");
    /// let cluster = Cluster::new(Cpu::new())?;
    /// let x = cluster.read_frostt::<f64>(path, &FrosttOptions::new())?;
    /// assert_eq!(x.dims(), [5, 201, 61]);
    /// let found = cluster.cp_als(&CpAls::new(2).sweeps(3), &x)?;
    /// assert!((found.fit - 0.583).abs() < 1e-3);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn read_frostt<T: Real + FrosttValue>(
        &self,
        path: impl AsRef<Path>,
        options: &FrosttOptions<'_>,
    ) -> Result<Tensor<T>> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let made = self.by_parts(path, |shares| {
            let Some(rules) = frostt_rules(options) else { return Ok(None) };
            let head = shares.head(|text, is_all| head(text, is_all, &rules))?;
            // If the first entry is invalid, reading the whole file reports the error.
            let head = head.filter(|head| parse::<T>(&head.first, "", options, head, &rules).is_ok());
            Ok(head.map(|head| (rules, head)))
        })?;
        let Some((mut shares, (rules, head))) = made else { return self.read_whole(path, options) };
        shares.skip(head.start, head.lines);
        let mut rounds = Vec::new();
        let mut failed = Ok(());
        while let Some(share) = shares.next(self, &head.first, BLOCK)? {
            let made = round::<T>(&share, &name, options, &head, &rules);
            // All ranks parse a round before they compare errors, so that the first error of the file is reported.
            match self.agree("part of a file", made) {
                Ok(round) => rounds.push(round),
                Err(e) => {
                    failed = Err(e);
                    break;
                }
            }
        }
        failed?;
        let (dims, total) = self.extent(&rounds, &head, &rules)?;
        if let Some(expected) = head.entries.filter(|&expected| expected != total) {
            let message = format!("the header declares {expected} entries, and the file has {total}");
            return Err(Error::Parse { file: name, line: shares.lines() as u64 + 1, column: 1, message });
        }
        self.distributed("read a tensor", dims, Ok(rounds), &|index, earlier, later| {
            repeated(&name, &rules, index, earlier, later)
        })
    }
    /// The tensor of a file read whole by every rank.
    fn read_whole<T: Real + FrosttValue>(&self, path: &Path, options: &FrosttOptions<'_>) -> Result<Tensor<T>> {
        let whole = self.agree("file", read_frostt_with::<T>(path, options))?;
        let of_rank = |rank| cut(whole.nnz(), self.size(), rank);
        let mine = of_rank(self.rank())..of_rank(self.rank() + 1);
        let entries = with_tensor!(&whole, x => {
            let list = |mode: usize| x.indices(mode)[mine.clone()].to_vec();
            let lists = (0..x.order()).map(list).collect();
            sparring::Tensor::new(x.dims().to_vec(), lists, x.values()[mine.clone()].to_vec()).and_then(|x| x.any())
        });
        let rounds = entries.map(|entries| vec![Round { entries, lines: None }]);
        self.distributed("read a tensor", whole.dims().to_vec(), rounds, &|_, _, _| crate::wire::broken())
    }
    /// Dimensions and number of entries over the rounds of all ranks.
    fn extent<T: Real>(&self, rounds: &[Round<T>], head: &Head, rules: &FrosttRules) -> Result<(Vec<usize>, usize)> {
        let here: usize = rounds.iter().map(|round| round.entries.nnz()).sum();
        let total = self.0.world.all_words([here as u64, 0]).iter().map(|words| words[0] as usize).sum();
        if let Some(dims) = rules.dims.as_ref().or(head.dims.as_ref()) {
            return Ok((dims.clone(), total));
        }
        let order = rounds.first().map_or(0, |round| round.entries.order());
        let largest = |mode: usize| rounds.iter().map(|round| round.entries.dims()[mode] as u64).max().unwrap_or(0);
        let mine: Vec<u64> = (0..order).map(largest).collect();
        let mut dims = vec![0; order];
        for part in self.0.world.all_gather(bytes(&mine))?.iter() {
            dims.iter_mut().zip(part.as_chunks().0).for_each(|(n, m)| *n = u64::from_le_bytes(*m).max(*n));
        }
        Ok((dims.into_iter().map(|n| n as usize).collect(), total))
    }
}

/// Infers the settings by parsing small inputs with these options; `None` if the options are invalid.
fn frostt_rules(options: &FrosttOptions<'_>) -> Option<FrosttRules> {
    let parse = |text: &str| parse_frostt_with::<f64>(text.as_bytes(), "", options);
    let dims = parse("").ok().map(|x| x.dims().to_vec());
    let entry = |base: usize, order: usize| vec![base.to_string(); order].join(" ");
    let order = dims.as_ref().map_or(1, Vec::len);
    let values = |base| [(true, entry(base, order + 1)), (false, entry(base, order))];
    // Without dimensions, two numbers are a valid entry with or without a value.
    let found = [0, 1].into_iter().flat_map(|base| values(base).map(|(has, text)| (base, has, text)));
    let mut found = found.filter_map(|(base, has_values, text)| Some((base, has_values, parse(&text).ok()?, text)));
    let (base, has_values, x, text) = match found.next() {
        Some(found) => found,
        // No entry is valid if a mode has size 0.
        None if dims.as_ref().is_some_and(|dims| dims.contains(&0)) => {
            return Some(FrosttRules { dims, base: 1, has_values: true, refuses: false });
        }
        None => return None,
    };
    let has_values = has_values && (dims.is_some() || x.order() == 1);
    let refuses = parse(&format!("{text}\n{text}")).is_err();
    Some(FrosttRules { dims, base, has_values, refuses })
}

/// The lines that are neither blank nor comments, each with the numbers of bytes and lines before it.
fn entries(text: &[u8]) -> impl Iterator<Item = (&[u8], usize, usize)> {
    let mut at = 0;
    let lines = text.split_inclusive(|b| *b == b'\n').enumerate().map(move |(number, line)| {
        at += line.len();
        (line, at - line.len(), number)
    });
    lines.filter(|(line, ..)| !matches!(line.trim_ascii_start().first(), None | Some(b'#')))
}

fn numbers(line: &[u8]) -> Option<Vec<usize>> {
    std::str::from_utf8(line).ok()?.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
}

/// The header of the file; `None` if it cannot be read by parts.
fn head(text: &[u8], is_all: bool, rules: &FrosttRules) -> ControlFlow<Option<Head>> {
    // The last line may be incomplete.
    let lines = entries(text).filter(|(line, ..)| is_all || line.ends_with(b"\n"));
    let lines: Vec<(&[u8], usize, usize)> = lines.take(5).collect();
    if lines.len() < 5 && !is_all { ControlFlow::Continue(()) } else { ControlFlow::Break(head_of(&lines, rules)) }
}

/// The header in the first lines.
fn head_of(lines: &[(&[u8], usize, usize)], rules: &FrosttRules) -> Option<Head> {
    let line = |k: usize| lines.get(k).map(|line| line.0);
    let at = |k: usize, dims: Option<Vec<usize>>, entries: Option<usize>| {
        let (first, start, lines) = *lines.get(k)?;
        let end: &[u8] = if first.ends_with(b"\n") { b"" } else { b"\n" };
        Some(Head { dims, entries, start, lines, first: [first, end].concat() })
    };
    if line(0)?.trim_ascii() == b"sptensor" {
        let (order, dims, entries) = (numbers(line(1)?)?, numbers(line(2)?)?, numbers(line(3)?)?);
        let is_one =
            order == [dims.len()] && entries.len() == 1 && rules.dims.as_ref().is_none_or(|given| *given == dims);
        return if is_one { at(4, Some(dims), Some(entries[0])) } else { None };
    }
    if rules.dims.is_none() && rules.has_values {
        // A header of order, optional number of entries, and dimensions, if the lines cannot be anything else.
        let words =
            |k: usize| line(k).map_or(0, |line| line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count());
        if let (Some(first), Some(dims)) = (numbers(line(0)?), line(1).and_then(numbers)) {
            let third = line(2).unwrap_or_default().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let indices = third.take(dims.len()).map(|word| std::str::from_utf8(word).ok()?.parse().ok());
            let is_entry = words(2) == dims.len() + 1 && indices.collect::<Option<Vec<usize>>>().is_some();
            let differs = first.len() != words(2) || dims.len() != words(2);
            if (1..=2).contains(&first.len()) && first[0] == dims.len() && is_entry && differs {
                let entries = first.get(1).copied();
                return at(2, Some(dims), entries);
            }
        }
    }
    at(0, None, None)
}

/// The entries of a text without header, in file order.
fn parse<T: FrosttValue>(
    text: &[u8],
    name: &str,
    options: &FrosttOptions<'_>,
    head: &Head,
    rules: &FrosttRules,
) -> Result<AnyTensor<T>> {
    let options = options.duplicates(Duplicates::Keep);
    match &head.dims {
        Some(dims) if rules.dims.is_none() => parse_frostt_with(text, name, &options.dims(dims)),
        _ => parse_frostt_with(text, name, &options),
    }
}

/// The entries of a share. Its text starts with a copy of the file's first entry, which is removed.
fn round<T: Real + FrosttValue>(
    share: &Share,
    name: &str,
    options: &FrosttOptions<'_>,
    head: &Head,
    rules: &FrosttRules,
) -> Result<Round<T>> {
    let parsed = parse::<T>(&share.text, name, options, head, rules);
    let x = parsed.map_err(|e| in_file(e, share.before, newlines(&head.first)))?;
    let entries = match x {
        AnyTensor::Narrow(x) => AnyTensor::Narrow(without_first(x)?),
        AnyTensor::Wide(x) => AnyTensor::Wide(without_first(x)?),
    };
    let lines = rules.refuses.then(|| {
        let mut lines = reserved(entries.nnz(), "lines of entries")?;
        let own = &share.text[head.first.len()..];
        lines.extend(self::entries(own).map(|(.., number)| (share.before + number + 1) as u64));
        Ok(lines)
    });
    Ok(Round { entries, lines: lines.transpose()? })
}

fn without_first<T: Real, I: Index>(x: sparring::Tensor<T, I>) -> Result<sparring::Tensor<T, I>> {
    let (dims, mut indices, mut values) = x.into_parts();
    indices.iter_mut().for_each(|list| drop(list.drain(..1)));
    values.drain(..1);
    sparring::Tensor::new(dims, indices, values)
}

/// The error of a duplicate entry.
fn repeated(name: &str, rules: &FrosttRules, index: &[usize], earlier: u64, later: u64) -> Error {
    const SHOWN: usize = 8;
    let mut indices: Vec<String> = index.iter().take(SHOWN).map(|i| (i + rules.base).to_string()).collect();
    if index.len() > SHOWN {
        indices.push("…".to_owned());
    }
    let message = format!("entry ({}) is in the file already, in line {earlier}", indices.join(", "));
    Error::Parse { file: name.into(), line: later, column: 1, message }
}
