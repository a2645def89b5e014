//! Recognition of other file formats by their first bytes.

/// The UTF-8 byte-order mark.
pub(crate) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// The likely format of a file with these first bytes, and advice, for formats that are not plain text.
pub(crate) fn other_kind(text: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (BYTE_ORDER_MARK, ": the file begins with a byte-order mark; remove its first three bytes"),
        (&[0xff, 0xfe], ": the file is UTF-16; convert it to UTF-8"),
        (&[0xfe, 0xff], ": the file is UTF-16; convert it to UTF-8"),
        (&[0x28, 0xb5, 0x2f, 0xfd], ": the file is compressed by zstd; unpack it first, or use gzip"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], ": the file is compressed by xz; unpack it first, or use gzip"),
        (b"BZh", ": the file is compressed by bzip2; unpack it first, or use gzip"),
        (
            b"PK\x03\x04",
            ": the file is a zip archive; unpack it first, unless it is a matrix of SciPy, which is read as npz",
        ),
        (b"\x93NUMPY", ": the file is an array of NumPy, which is read as npy"),
        (b"\x89HDF", ": the file is HDF5, which is not read"),
        #[cfg(not(feature = "hdf5"))]
        (b"MATLAB 7.3", ": the file is one of MATLAB 7.3, which is HDF5 and not read; save it there with -v7"),
        (b"MATLAB ", ": the file is one of MATLAB, which is read as mat"),
        (b"%%MatrixMarket", ": the file is Matrix Market, which is read as mtx"),
        (b"%MatrixMarket", ": the file is Matrix Market with one % too few, which is read as mtx, leniently"),
        (b"sptensor", ": the file is a sparse tensor of the Tensor Toolbox, which is read as tns"),
    ];
    KINDS.iter().find(|(first, _)| text.starts_with(first)).map(|(_, sentence)| *sentence)
}
