//! Readers and writers of matrix and tensor file formats.

mod common;
mod csv;
mod frostt;
mod graph;
mod ktensor;
mod labeled;
mod matlab;
mod matrix_market;
mod numpy;
mod svmlight;
mod text;
mod whole;

pub use crate::replace::write_file;
pub use csv::{CsvOptions, parse_csv_with, read_csv_from, read_csv_with, write_csv, write_csv_to};
pub use frostt::{
    Duplicates, FrosttOptions, FrosttValue, parse_frostt, parse_frostt_with, read_frostt, read_frostt_from,
    read_frostt_with, write_frostt, write_frostt_any, write_frostt_to, write_frostt_values,
};
pub use graph::{
    EdgeOptions, Repeated, parse_dimacs_with, parse_edges_with, parse_metis_with, read_dimacs_from, read_dimacs_with,
    read_edges_from, read_edges_with, read_metis_from, read_metis_with,
};
pub use ktensor::{parse_ktensor, read_ktensor, read_ktensor_from, write_ktensor, write_ktensor_to};
pub use labeled::{LabeledMatrix, Labels};
pub use matlab::{MatlabOptions, parse_mat_with, read_mat_from, read_mat_with};
pub use matrix_market::{
    Entries, Field, Header, Layout, MarketValue, MatrixFile, ReadOptions, Symmetry, WriteOptions, parse_matrix_market,
    parse_matrix_market_with, read_matrix_market, read_matrix_market_from, read_matrix_market_with,
    write_matrix_market, write_matrix_market_any, write_matrix_market_any_to, write_matrix_market_array,
    write_matrix_market_columns, write_matrix_market_columns_to, write_matrix_market_to,
};
pub use numpy::{
    NpyArray, NumpyOptions, parse_npy_array_with, parse_npy_with, parse_npz_with, read_npy_array_from,
    read_npy_array_with, read_npy_from, read_npy_with, read_npz_from, read_npz_with, write_npy, write_npy_array_to,
    write_npy_columns_to, write_npy_to, write_npz, write_npz_arrays_to, write_npz_to,
};
pub use svmlight::{
    SvmlightOptions, parse_svmlight_with, read_svmlight_from, read_svmlight_with, write_svmlight, write_svmlight_to,
};
#[cfg(feature = "zstd")]
pub use text::ZstdWriter;
pub use whole::{read_bytes, read_bytes_from};
