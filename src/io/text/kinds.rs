//! Files of other formats, told by their first bytes.

/// What a file that begins with these bytes seems to be, and what to do, for kinds that no reader of text takes.
pub(crate) fn other_kind(text: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (&[0xef, 0xbb, 0xbf], ": the file begins with a byte-order mark; remove its first three bytes"),
        (&[0xff, 0xfe], ": the file is UTF-16; convert it to UTF-8"),
        (&[0xfe, 0xff], ": the file is UTF-16; convert it to UTF-8"),
        (&[0x28, 0xb5, 0x2f, 0xfd], ": the file is compressed by zstd; unpack it first, or use gzip"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], ": the file is compressed by xz; unpack it first, or use gzip"),
        (b"BZh", ": the file is compressed by bzip2; unpack it first, or use gzip"),
        (b"PK\x03\x04", ": the file is a zip archive; unpack it first"),
    ];
    KINDS.iter().find(|(first, _)| text.starts_with(first)).map(|(_, sentence)| *sentence)
}
