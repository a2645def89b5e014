//! Files: readers and writers of the formats that matrices and tensors are exchanged in.

mod frostt;
mod matrix_market;
mod text;

pub use crate::replace::write_file;
pub use frostt::{
    Duplicates, FrosttOptions, FrosttValue, parse_frostt, parse_frostt_with, read_frostt, read_frostt_from,
    read_frostt_with, write_frostt, write_frostt_any, write_frostt_to,
};
pub use matrix_market::{
    Entries, Field, Header, Layout, MarketValue, MatrixFile, ReadOptions, Symmetry, WriteOptions, parse_matrix_market,
    parse_matrix_market_with, read_matrix_market, read_matrix_market_from, read_matrix_market_with,
    write_matrix_market, write_matrix_market_any, write_matrix_market_any_to, write_matrix_market_array,
    write_matrix_market_columns, write_matrix_market_columns_to, write_matrix_market_to,
};
