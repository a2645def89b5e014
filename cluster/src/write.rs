//! Parallel writer of Matrix Market files: every rank writes its block.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sparring::Result;
use sparring::io::{WriteOptions, write_matrix_market_any, write_matrix_market_any_to};
use sparring::runtime::Matrix;

use crate::Cluster;
use crate::blocks::Block;
use crate::text::io_error;
use crate::wire::broken;

/// Field types, in order of increasing generality.
const FIELDS: [&str; 5] = ["pattern", "integer", "unsigned-integer", "real", "complex"];

impl Cluster {
    /// Writes a Matrix Market file as [`write_matrix_market_any`](sparring::io::write_matrix_market_any) does. Every
    /// rank writes its block at its offset of one file. Collective; the directory must be visible to all ranks.
    ///
    /// The lines are those of a single rank, ordered by blocks: (0, 0), (0, 1), … Reading the file restores the matrix
    /// bit for bit. Each rank formats and stores O(nnz / p) lines, and communicates only their length. The file is
    /// written under a temporary name in the same directory and renamed when all parts are complete; on failure an
    /// existing file is left untouched. Targets that are not regular files (pipes, for example) or end in `.gz` are
    /// written by rank 0, which gathers the matrix.
    /// # Errors
    /// Those of [`write_matrix_market_any`](sparring::io::write_matrix_market_any). An error of one rank is reported on
    /// all.
    /// # Example
    /// ```
    /// use sparring::{Cpu, Csr, runtime::Matrix};
    /// use sparring_cluster::Cluster;
    /// let cluster = Cluster::new(Cpu::new())?;
    /// let a = cluster.machine().upload(&Matrix::from(Csr::<f64>::new(1, 2, vec![0, 1], vec![1], vec![0.1])?))?;
    /// let path = std::env::temp_dir().join("sparring-cluster-example.mtx");
    /// cluster.write_matrix_market(&path, &a)?;
    /// let text = std::fs::read_to_string(&path).unwrap_or_default();
    /// assert_eq!(text, "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 0.1\n");
    /// # std::fs::remove_file(path).ok();
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn write_matrix_market(&self, path: impl AsRef<Path>, a: &Matrix) -> Result<()> {
        let (path, shared, rank) = (path.as_ref(), &self.0, self.rank());
        shared.begin("write a matrix")?;
        let is_plain = fs::metadata(path).map_or(true, |about| about.is_file());
        let is_whole = self.size() == 1 || !is_plain || path.extension().is_some_and(|e| e == "gz");
        // Rank 0 decides.
        if shared.world.all_words([u64::from(is_whole), 0])[0][0] != 0 {
            let whole = a.download()?;
            return self.agree("write a whole matrix", if rank == 0 { write_whole(path, &whole) } else { Ok(()) });
        }
        let block = self.block(a)?;
        // Rank 0 creates the file and broadcasts its name.
        let part = PathBuf::from(self.first("name of a file", || made_beside(path))?);
        let written = self.written(path, &part, &block);
        if rank == 0 && written.is_err() {
            fs::remove_file(beside(path).join(&part)).ok();
        }
        written
    }
    /// Broadcasts a text made by rank 0.
    fn first(&self, what: &str, make: impl FnOnce() -> Result<String>) -> Result<String> {
        let mine = if self.rank() == 0 { make() } else { Ok(String::new()) };
        let mine = self.agree(what, mine)?;
        let all = self.0.world.all_gather(mine.as_bytes())?;
        Ok(String::from_utf8_lossy(all.iter().next().ok_or_else(broken)?).into_owned())
    }
    fn written(&self, path: &Path, part: &Path, block: &Block) -> Result<()> {
        let (shared, rank, (m, n)) = (&self.0, self.rank(), block.shape);
        let (rows, cols) = shared.grid.block(block.shape);
        let mut lines = self.agree("text of a matrix", Lines::of(&block.block, (rows.start, cols.start)))?;
        let fields = shared.world.all_words([lines.field as u64, 0]);
        let field = fields.iter().map(|words| words[0] as usize).max().unwrap_or(0);
        // A block of ones alone was formatted as `pattern`; other blocks may have other values.
        let lines = self.agree("text of a matrix", lines.with_values(field).map(|()| lines.text))?;
        let field = FIELDS.get(field).ok_or_else(broken)?;
        let head = format!("%%MatrixMarket matrix coordinate {field} general\n{m} {n} {}\n", block.nnz);
        let lengths = shared.world.all_words([lines.len() as u64, 0]);
        let before: u64 = lengths[..rank].iter().map(|words| words[0]).sum();
        let write = || -> io::Result<()> {
            let mut file = OpenOptions::new().write(true).open(beside(path).join(part))?;
            if rank == 0 {
                file.write_all(head.as_bytes())?;
            }
            file.seek(SeekFrom::Start(head.len() as u64 + before))?;
            file.write_all(&lines)?;
            // Data from other nodes must be on disk before the file is renamed.
            file.sync_data()
        };
        let fail = |e| io_error(path, e);
        self.agree("part of a file", write().map_err(fail))?;
        let named = || {
            let (target, part) = (target(path), beside(path).join(part));
            if let Ok(about) = fs::metadata(&target) {
                fs::set_permissions(&part, about.permissions())?;
            }
            fs::rename(part, target)
        };
        self.agree("end of a file", if rank == 0 { named().map_err(fail) } else { Ok(()) })
    }
}

fn write_whole(path: &Path, a: &Matrix) -> Result<()> {
    let (pattern, values) = (a.pattern().ok_or_else(broken)?, a.values().ok_or_else(broken)?);
    write_matrix_market_any(path, pattern, values, &WriteOptions::new())
}

/// The target of a path, with symbolic links resolved.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.into())
}

/// The directory of a file.
fn beside(path: &Path) -> PathBuf {
    match target(path).parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

/// Creates an empty temporary file in the directory of `path`, and returns its name.
fn made_beside(path: &Path) -> Result<String> {
    let target = target(path);
    let name = target.file_name().ok_or_else(|| io_error(path, io::ErrorKind::IsADirectory.into()))?.to_string_lossy();
    for number in 0.. {
        let part = format!(".{name}.{}-{number}.part", std::process::id());
        match File::create_new(beside(path).join(&part)) {
            Ok(_) => return Ok(part),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
            Err(e) => return Err(io_error(path, e)),
        }
    }
    Err(broken())
}

/// A sink for the text of a block, which shifts local row and column numbers to global ones.
struct Lines {
    start: (usize, usize),
    /// Index into [`FIELDS`]; known once the first line is complete.
    field: usize,
    /// Number of header lines seen, and the incomplete current line.
    heads: usize,
    line: Vec<u8>,
    text: Vec<u8>,
}

impl Lines {
    fn of(block: &Matrix, start: (usize, usize)) -> Result<Self> {
        let here = block.download()?;
        let (pattern, values) = (here.pattern().ok_or_else(broken)?, here.values().ok_or_else(broken)?);
        let mut lines = Self { start, field: 0, heads: 0, line: Vec::new(), text: Vec::new() };
        write_matrix_market_any_to(&mut lines, pattern, values, &WriteOptions::new())?;
        Ok(lines)
    }
    /// Processes a line, without its line end.
    fn take(&mut self) -> io::Result<()> {
        let line = std::str::from_utf8(&self.line).map_err(io::Error::other)?;
        let wrong = || io::Error::other(format!("a line of a matrix is {line}"));
        if self.heads < 2 {
            if self.heads == 0 {
                let field = line.split(' ').nth(3).ok_or_else(wrong)?;
                self.field = FIELDS.iter().position(|f| *f == field).ok_or_else(wrong)?;
            }
            self.heads += 1;
            return Ok(());
        }
        let mut words = line.splitn(3, ' ');
        let mut index = |start: usize| Some(words.next()?.parse::<usize>().ok()? + start);
        let (row, col) = (index(self.start.0).ok_or_else(wrong)?, index(self.start.1).ok_or_else(wrong)?);
        let value = words.next();
        self.text.try_reserve(line.len() + 40).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        match value {
            Some(value) => writeln!(self.text, "{row} {col} {value}"),
            None => writeln!(self.text, "{row} {col}"),
        }
    }
    /// Appends the value 1 to lines without values, if the file's field has values.
    fn with_values(&mut self, field: usize) -> Result<()> {
        if self.field > 0 || field == 0 {
            return Ok(());
        }
        let lines = self.text.iter().filter(|b| **b == b'\n').count();
        let mut text = crate::wire::buffer(self.text.len() + 2 * lines)?;
        for &byte in &self.text {
            if byte == b'\n' {
                text.extend_from_slice(b" 1");
            }
            text.push(byte);
        }
        self.text = text;
        Ok(())
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            match piece.strip_suffix(b"\n") {
                None => self.line.extend_from_slice(piece),
                Some(end) => {
                    self.line.extend_from_slice(end);
                    self.take()?;
                    self.line.clear();
                }
            }
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
