//! The prefix of a file of `cuda/`: a printed operator, then types, constants and switches.
//!
//! A prefix is also the key of a compiled program, so a program that was compiled before is found without printing its
//! text.

use std::fmt::Write;
use std::hash::{Hash, Hasher};

use hashbrown::Equivalent;

use crate::algebra::Type;

/// One line of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Setting {
    /// `typedef TYPE NAME;`, name first.
    Type(&'static str, &'static str),
    /// `#define NAME NUMBER`
    Number(&'static str, u32),
    /// `#define NAME WORD`
    Word(&'static str, &'static str),
    /// `#define NAME`
    Switch(&'static str),
    /// `constexpr unsigned int NAME = NUMBER;`
    Constant(&'static str, u32),
    /// A type of this name and of this many bytes, made of the largest words that its alignment allows. Kernels that
    /// only copy values serve all types of one size.
    Words(&'static str, u32),
}

impl Setting {
    /// [`Words`](Self::Words) of values of type `ty`, called `Value`.
    pub(crate) fn words(ty: Type) -> Self {
        Self::Words("Value", ty.size() as u32)
    }
    /// Appends the line.
    fn print(self, text: &mut String) {
        // Writing to a string does not fail.
        let _ = match self {
            Self::Type(name, of) => writeln!(text, "typedef {of} {name};"),
            Self::Number(name, x) => writeln!(text, "#define {name} {x}"),
            Self::Word(name, word) => writeln!(text, "#define {name} {word}"),
            Self::Switch(name) => writeln!(text, "#define {name}"),
            Self::Constant(name, x) => writeln!(text, "constexpr unsigned int {name} = {x};"),
            Self::Words(name, size) => {
                let size = size.max(1);
                // The largest power of two that divides the size: every element of an array is then aligned to it.
                let aligned = 1u32 << size.trailing_zeros().min(4);
                let (word, bytes) = match aligned {
                    1 => ("unsigned char", 1),
                    2 => ("unsigned short", 2),
                    4 => ("unsigned int", 4),
                    _ => ("unsigned long long", 8),
                };
                writeln!(text, "struct alignas({aligned}) {name} {{ {word} words[{}]; }};", size / bytes)
            }
        };
    }
}

/// The prefix of a program: the text of an operator, or none, and the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Prefix<'a> {
    pub(crate) operator: &'a str,
    pub(crate) settings: &'a [Setting],
}

impl<'a> Prefix<'a> {
    /// An operator's text and settings.
    pub(crate) fn new(operator: &'a str, settings: &'a [Setting]) -> Self {
        Self { operator, settings }
    }
    /// As text.
    pub(crate) fn text(self) -> String {
        let mut text = self.operator.to_string();
        for setting in self.settings {
            setting.print(&mut text);
        }
        text
    }
}

/// An owned [`Prefix`], for keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnedPrefix {
    operator: Box<str>,
    settings: Box<[Setting]>,
}

impl From<&Prefix<'_>> for OwnedPrefix {
    fn from(prefix: &Prefix<'_>) -> Self {
        Self { operator: prefix.operator.into(), settings: prefix.settings.into() }
    }
}
impl Hash for OwnedPrefix {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Prefix::new(&self.operator, &self.settings).hash(state);
    }
}
impl Equivalent<OwnedPrefix> for Prefix<'_> {
    fn equivalent(&self, owned: &OwnedPrefix) -> bool {
        *self == Prefix::new(&owned.operator, &owned.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_moved_in_the_largest_possible_words() {
        let words = |size| Prefix::new("", &[Setting::Words("Value", size)]).text();
        assert_eq!(words(1), "struct alignas(1) Value { unsigned char words[1]; };\n");
        assert_eq!(words(2), "struct alignas(2) Value { unsigned short words[1]; };\n");
        assert_eq!(words(8), "struct alignas(8) Value { unsigned long long words[1]; };\n");
        assert_eq!(words(12), "struct alignas(4) Value { unsigned int words[3]; };\n");
        assert_eq!(words(16), "struct alignas(16) Value { unsigned long long words[2]; };\n");
        assert_eq!(words(24), "struct alignas(8) Value { unsigned long long words[3]; };\n");
        assert_eq!(Setting::words(Type::F64), Setting::Words("Value", 8));
    }

    #[test]
    fn settings_follow_the_operator_line_by_line() {
        let settings = [
            Setting::Type("OffsetA", "unsigned int"),
            Setting::Number("GROUP", 8),
            Setting::Word("TABLE", "HashTable"),
            Setting::Switch("MERGE"),
            Setting::Constant("LANES", 4),
        ];
        assert_eq!(
            Prefix::new("struct Ring {};\n", &settings).text(),
            "struct Ring {};\ntypedef unsigned int OffsetA;\n#define GROUP 8\n#define TABLE HashTable\n#define MERGE\n\
             constexpr unsigned int LANES = 4;\n"
        );
    }

    #[test]
    fn an_owned_prefix_is_found() {
        let settings = [Setting::Switch("A")];
        let prefix = Prefix::new("text", &settings);
        let mut map = hashbrown::HashMap::new();
        map.insert(OwnedPrefix::from(&prefix), 1);
        assert_eq!(map.get(&prefix), Some(&1));
        assert_eq!(map.get(&Prefix::new("text", &[])), None);
        assert_eq!(map.get(&Prefix::new("other", &settings)), None);
    }
}
