//! Memory that is written by many threads is no matter of callers.

//~ struct `Fresh` is private
use sparring::par::Fresh;
//~ struct `Slots` is private
use sparring::par::Slots;
