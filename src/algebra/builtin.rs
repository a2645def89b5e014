//! The list of built-in monoids, semirings and NAMMs, with the laws that each must satisfy.
//!
//! Tests and [`dynamic`](super::dynamic) read this list; a built-in that is missing from it fails
//! `tests/laws.rs`. Each list calls the macro `$then` with classes of rows:
//!
//! | class | types |
//! | --- | --- |
//! | `any`, `place`, `truth`, `place1` | all eleven |
//! | `numbers` | all but bool |
//! | `reals`, `integers`, `logic` | floats; integers; bool |
//!
//! A row of monoids: name, operator, domain on which the laws hold. A row of semirings: name, alias, purpose,
//! domain, sides on which ⊗ distributes over ⊕, and whether the identity of ⊕ annihilates ⊗.
//!
//! | domain | values |
//! | --- | --- |
//! | `every` | every value but NaN |
//! | `finite` | floats of moderate size, equal up to rounding; every integer, exactly |
//! | `small` | values whose sums and products do not overflow |
//! | `natural` | `small` and not negative |

/// Monoids by class.
#[doc(hidden)]
#[macro_export]
macro_rules! builtin_monoids {
    ($($then:tt)+) => { $($then)+! {
        numbers(Num) {
            plus Plus finite;
            times Times finite;
            min Min every;
            max Max every;
            max_from_zero MaxFromZero natural;
        }
        any(Num) {
            any Any every;
        }
        integers(Int) {
            bor Bor every;
            band Band every;
            bxor Bxor every;
            bxnor Bxnor every;
        }
        reals(Real) {
            logaddexp LogAddExp finite;
        }
        logic(Num) {
            lor Lor every;
            land Land every;
            lxor Lxor every;
            lxnor Lxnor every;
        }
    } };
}

/// Semirings by class.
#[doc(hidden)]
#[macro_export]
macro_rules! builtin_semirings {
    ($($then:tt)+) => { $($then)+! {
        numbers(Num) {
            plus_times PlusTimes "linear algebra" finite both always;
            min_plus MinPlus "shortest paths" small both floats;
            max_plus MaxPlus "longest paths, schedules" small both floats;
            min_times MinTimes "least probable path" natural both never;
            max_times MaxTimes "most probable path" natural both never;
            min_max MinMax "least largest step" every both always;
            max_min MaxMin "widest path" every both always;
            plus_min PlusMin "common part of multisets" natural none always;
            min_first MinFirst "least of A's values" every both left;
            min_second MinSecond "least of B's values" every both right;
            max_first MaxFirst "largest of A's values" every both left;
            max_second MaxSecond "largest of B's values" every both right;
            plus_first PlusFirst "sum of A's values" finite right left;
            plus_second PlusSecond "sum of B's values" finite left right;
            plus_pair PlusPair "count of common entries" finite none never;
        }
        reals(Real) {
            log_plus LogPlus "linear algebra on logarithms" finite both always;
        }
        integers(Int) {
            bor_band BorBand "reachability, a problem per bit" every both always;
            band_bor BandBor "dual of bor_band" every both always;
            bxor_band BxorBand "arithmetic modulo 2, a problem per bit" every both always;
            bxnor_bor BxnorBor "dual of bxor_band" every both always;
        }
        logic(Num) {
            land_lor LandLor "dual of lor_land" every both always;
            lxor_land LxorLand "arithmetic modulo 2" every both always;
            lxnor_lor LxnorLor "dual of lxor_land" every both always;
        }
        truth(Num) {
            lor_land LorLand "reachability" every both always;
        }
        any(Num) {
            any_pair AnyPair "pattern of the product" every both never;
            any_first AnyFirst "one of A's values" every both left;
            any_second AnySecond "one of B's values" every both right;
        }
        place(Num) {
            any_firsti AnyFirstI "row of some entry" every none never;
            any_secondi AnySecondI "index of some common entry: parents" every none never;
            any_secondj AnySecondJ "column of some entry" every none never;
            min_secondi MinSecondI "least common index: parents, whatever the order" every none never;
            max_secondi MaxSecondI "largest common index" every none never;
        }
        place1(Num) {
            any_firsti1 AnyFirstI1 "any_firsti from 1" every none never;
            any_secondi1 AnySecondI1 "any_secondi from 1" every none never;
            any_secondj1 AnySecondJ1 "any_secondj from 1" every none never;
            min_secondi1 MinSecondI1 "min_secondi from 1" every none never;
            max_secondi1 MaxSecondI1 "max_secondi from 1" every none never;
        }
    } };
}

/// NAMMs, on all number types.
#[doc(hidden)]
#[macro_export]
macro_rules! builtin_unions {
    ($($then:tt)+) => { $($then)+! { Manhattan SquaredEuclidean Chebyshev Hamming } };
}
