//! The types for memory written by many threads are private.

//~ struct `UninitOutput` is private
use sparring::par::UninitOutput;
//~ struct `OutputSlice` is private
use sparring::par::OutputSlice;
