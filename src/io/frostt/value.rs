//! Value types of tensors in FROSTT files.

use crate::algebra::for_each_type;
use crate::io::MarketValue;
use crate::io::text::{Bad, Cursor, quoted, real, whole};

/// A value type that is written as a single number, and can therefore be read from and written to FROSTT files.
///
/// Implemented for all real number types and `bool`. [`MarketValue`] defines the conversion from numbers,
/// [`ONE`](MarketValue::ONE) for files without values, and the sum of duplicates, [`repeated`](MarketValue::repeated).
#[diagnostic::on_unimplemented(
    message = "FROSTT files hold no values of type `{Self}`",
    label = "cannot be read from or written to a FROSTT file",
    note = "bool, the integers, f32 and f64 can; for a type of your own, implement `MarketValue` and `FrosttValue`"
)]
pub trait FrosttValue: MarketValue {
    /// Whether integers are read exactly, by [`from_integer`](MarketValue::from_integer) and
    /// [`from_unsigned`](MarketValue::from_unsigned), instead of as the nearest f64.
    const WHOLE: bool;
}

macro_rules! whole_numbers {
    ($($variant:ident $t:ty),*) => {$(impl FrosttValue for $t { const WHOLE: bool = true; })*};
}
for_each_type!(bits, whole_numbers!());

impl FrosttValue for f64 {
    const WHOLE: bool = false;
}

impl FrosttValue for f32 {
    const WHOLE: bool = false;
}

/// Reads one value at the cursor.
#[inline(always)]
pub(super) fn read<T: FrosttValue>(cursor: &mut Cursor<'_>) -> Result<T, Bad> {
    let start = cursor.at;
    let found = if T::WHOLE {
        let mut ahead = cursor.clone();
        match whole(&mut ahead) {
            Ok(x) => {
                *cursor = ahead;
                i64::try_from(x).map_or_else(|_| u64::try_from(x).ok().and_then(T::from_unsigned), T::from_integer)
            }
            Err(_) => T::from_real(real(cursor)?),
        }
    } else {
        T::from_real(real(cursor)?)
    };
    found.ok_or_else(|| no_value::<T>(cursor.text, start))
}

#[cold]
fn no_value<T: FrosttValue>(text: &[u8], at: usize) -> Bad {
    Bad::new(at, format!("the value {} does not fit {}", quoted(text, at), T::TYPE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: FrosttValue>(text: &str) -> Result<T, String> {
        read(&mut Cursor { text: text.as_bytes(), at: 0 }).map_err(|bad| bad.message)
    }

    #[test]
    fn whole_numbers_do_not_pass_through_floating_point() {
        assert_eq!(of("9007199254740993"), Ok(9_007_199_254_740_993_i64));
        assert_eq!(of("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(of("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(of("3.0"), Ok(3_u8));
        assert_eq!(of("2.5e1"), Ok(25_i32));
        assert_eq!(of("-0"), Ok(0_u8));
        assert_eq!((of("2"), of("0.0"), of("0.5")), (Ok(true), Ok(false), Ok(true)));
        for text in ["256", "-1", "0.5", "nan", "inf", "1e3", "18446744073709551616", "-18446744073709551615"] {
            assert_eq!(of::<u8>(text), Err(format!("the value \"{text}\" does not fit u8")));
        }
        assert!(of::<i64>("9223372036854775808").is_err() && of::<u64>("18446744073709551616").is_err());
        assert_eq!(of::<i64>("x"), Err("expected a real number, found \"x\"".to_owned()));
    }

    #[test]
    fn a_number_beyond_the_type_is_not_infinity() {
        assert_eq!((of("inf"), of("-inf")), (Ok(f32::INFINITY), Ok(f64::NEG_INFINITY)));
        assert!(of::<f32>("nan").unwrap().is_nan());
        assert_eq!(of("3.4028235e38"), Ok(f32::MAX));
        assert_eq!(of::<f32>("3.5e38"), Err("the value \"3.5e38\" does not fit f32".to_owned()));
        assert!(of::<f64>("1e309").unwrap_err().contains("beyond the range"));
        assert_eq!(of("9007199254740993"), Ok(9_007_199_254_740_992.0));
    }
}
