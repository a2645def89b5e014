//! Memory that is written by many threads is no matter of callers.

//~ struct `UninitOutput` is private
use sparring::par::UninitOutput;
//~ struct `OutputSlice` is private
use sparring::par::OutputSlice;
