//! The frame of the library's binary files: magic bytes, a version, numbers, and a checksum.
//!
//! All numbers are little-endian. A file starts with eight magic bytes, four bytes of version and four bytes defined by
//! its kind; it ends with an eight-byte checksum, the 64-bit FNV-1a of all preceding bytes. A reader allocates memory
//! as bytes arrive, so a corrupt size does not cause a large allocation.

use std::io::{ErrorKind, Read, Write};

use crate::algebra::{Array, Number, Slice, Type, for_each_type};
use crate::par::{filled, out_of_memory};
use crate::{Error, Result};

/// Bytes read or written at a time.
const PIECE: usize = 1 << 16;

/// The FNV-1a checksum.
struct Check(u64);

impl Check {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// A kind of file: its magic bytes, and its name in messages (`an index`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) version: u32,
    pub(crate) name: &'static str,
}

impl Kind {
    pub(crate) fn io(self, e: std::io::Error) -> Error {
        Error::Io { path: self.name.into(), source: e }
    }
    /// The error at byte `at`; its position is given as a column of line 1.
    pub(crate) fn wrong(self, at: u64, message: String) -> Error {
        Error::Parse { file: self.name.into(), line: 1, column: at + 1, message }
    }
}

/// Writer that updates the checksum.
pub(crate) struct Out<'a> {
    kind: Kind,
    to: &'a mut dyn Write,
    check: Check,
}

impl<'a> Out<'a> {
    /// Writes the header; `head` is the four bytes defined by the kind.
    pub(crate) fn new(to: &'a mut dyn Write, kind: Kind, head: [u8; 4]) -> Result<Self> {
        let mut out = Self { kind, to, check: Check::new() };
        out.bytes(kind.magic)?;
        out.bytes(&kind.version.to_le_bytes())?;
        out.bytes(&head)?;
        Ok(out)
    }
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.check.take(bytes);
        self.to.write_all(bytes).map_err(|e| self.kind.io(e))
    }
    pub(crate) fn number(&mut self, x: u64) -> Result<()> {
        self.bytes(&x.to_le_bytes())
    }
    /// Numbers of `width` bytes each.
    pub(crate) fn numbers(&mut self, width: usize, all: &mut dyn Iterator<Item = u64>) -> Result<()> {
        let (mut piece, mut filled) = ([0; PIECE], 0);
        for x in all {
            if filled + width > PIECE {
                self.bytes(&piece[..filled])?;
                filled = 0;
            }
            piece[filled..filled + width].copy_from_slice(&x.to_le_bytes()[..width]);
            filled += width;
        }
        self.bytes(&piece[..filled])
    }
    /// Values of a number type.
    pub(crate) fn values(&mut self, values: Slice<'_>) -> Result<()> {
        let size = values.ty().size();
        let (mut piece, mut done) = ([0; PIECE], 0);
        while done < values.len() {
            let here = (values.len() - done).min(PIECE / size);
            values.copy_le_bytes(done, &mut piece[..here * size]);
            self.bytes(&piece[..here * size])?;
            done += here;
        }
        Ok(())
    }
    /// Writes the checksum.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.number(self.check.0)?;
        self.to.flush().map_err(|e| self.kind.io(e))
    }
}

/// Reader that updates the checksum.
pub(crate) struct In<'a> {
    kind: Kind,
    from: &'a mut dyn Read,
    check: Check,
    /// Bytes read so far.
    at: u64,
}

impl<'a> In<'a> {
    /// Reads the header; returns the four bytes defined by the kind.
    pub(crate) fn new(from: &'a mut dyn Read, kind: Kind) -> Result<(Self, [u8; 4])> {
        let mut file = Self { kind, from, check: Check::new(), at: 0 };
        let mut head = [0; 16];
        file.bytes(&mut head, "head")?;
        if &head[..8] != kind.magic {
            return Err(kind.wrong(0, format!("the file does not begin as {} does", kind.name)));
        }
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if version != kind.version {
            let message = format!("version {version}, this library reads version {}", kind.version);
            return Err(kind.wrong(8, message));
        }
        Ok((file, [head[12], head[13], head[14], head[15]]))
    }
    pub(crate) fn bytes(&mut self, to: &mut [u8], what: &str) -> Result<()> {
        let mut done = 0;
        while done < to.len() {
            match self.from.read(&mut to[done..]) {
                Ok(0) => {
                    let (at, missing) = (self.at + done as u64, to.len() - done);
                    let message = format!("the file ends at byte {at}, in the {what}: {missing} more are expected");
                    return Err(self.kind.wrong(at, message));
                }
                Ok(n) => done += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.kind.io(e)),
            }
        }
        self.at += to.len() as u64;
        self.check.take(to);
        Ok(())
    }
    pub(crate) fn number(&mut self, what: &str) -> Result<u64> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes, what)?;
        Ok(u64::from_le_bytes(bytes))
    }
    /// A number that must fit `usize`.
    pub(crate) fn size(&mut self, what: &'static str) -> Result<usize> {
        let needed = self.number(what)?;
        usize::try_from(needed).map_err(|_| Error::IndexOverflow {
            what,
            needed: needed.into(),
            max: usize::MAX as u128,
        })
    }
    /// `count` numbers of `width` bytes; element x at byte offset p becomes `of(p, x)`.
    pub(crate) fn numbers<T>(
        &mut self,
        width: usize,
        count: u64,
        what: &'static str,
        of: impl Fn(u64, u64) -> Result<T>,
    ) -> Result<Vec<T>> {
        let (mut all, mut left) = (Vec::new(), count);
        let mut piece = [0; PIECE];
        while left > 0 {
            let here = left.min((PIECE / width) as u64) as usize;
            self.bytes(&mut piece[..here * width], what)?;
            all.try_reserve(here).map_err(|_| out_of_memory::<T>(what, all.len() + here))?;
            for (n, bytes) in piece[..here * width].chunks_exact(width).enumerate() {
                let mut x = [0; 8];
                x[..width].copy_from_slice(bytes);
                all.push(of(self.at - ((here - n) * width) as u64, u64::from_le_bytes(x))?);
            }
            left -= here as u64;
        }
        Ok(all)
    }
    /// `count` values of a number type; memory for `present` of them is allocated at once.
    pub(crate) fn values(&mut self, ty: Type, count: usize, present: usize) -> Result<Array> {
        let size = ty.size();
        let mut all = zeros_any(ty, count.min(present.max(PIECE / size)))?;
        let (mut piece, mut done) = ([0; PIECE], 0);
        while done < count {
            if done == all.len() {
                let mut more = zeros_any(ty, count.min(2 * done))?;
                more.slice_mut().part(0..done).copy_from(&all.slice());
                all = more;
            }
            let here = (all.len() - done).min(PIECE / size);
            let bytes = &mut piece[..here * size];
            self.bytes(bytes, "values")?;
            let start = self.at - bytes.len() as u64;
            let set = all.slice_mut().part(done..done + here).set_le_bytes(bytes);
            set.map_err(|at| self.kind.wrong(start + at as u64, format!("a value is {}, no bool", bytes[at])))?;
            done += here;
        }
        Ok(all)
    }
    /// The error at the byte `before` bytes back from the current position.
    pub(crate) fn wrong(&self, before: u64, message: String) -> Error {
        self.kind.wrong(self.at - before, message)
    }
    /// Reads the checksum and compares it.
    pub(crate) fn finish(mut self) -> Result<()> {
        let (found, said) = (self.check.0, self.number("check")?);
        if found == said {
            return Ok(());
        }
        let message = format!("the file is corrupt: its checksum is {said:#018x}, that of its bytes {found:#018x}");
        Err(self.wrong(8, message))
    }
}

/// `len` zeros of a number type.
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::Unsupported`] for structs.
pub(crate) fn zeros_any(ty: Type, len: usize) -> Result<Array> {
    macro_rules! of {
        ($($variant:ident $t:ty),*) => {
            match ty {
                $(Type::$variant => Ok(Array::of(filled(len, <$t>::ZERO, "values")?)),)*
                Type::Struct(_) => Err(Error::Unsupported {
                    what: format!("zeros of {ty}"),
                    why: "its values are numbers".into(),
                }),
            }
        };
    }
    for_each_type!(numbers, of!())
}
