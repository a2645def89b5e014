//! What stands in front of a file of `cuda/`: a printed operator, then types, constants and switches.
//!
//! A program is known by these, so that nothing is printed for one that was compiled before.

use std::fmt::Write;
use std::hash::{Hash, Hasher};

use hashbrown::Equivalent;

use crate::algebra::Type;

/// One line in front of a program.
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
    /// A type of this name, of so many bytes in plain words that are as large as the bytes allow: what moves values and
    /// does not compute with them serves all types of a size.
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
                // The largest power of two that divides the size; every element of an array then lies at a multiple of
                // it.
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

/// All that stands in front of a program: the text of an operator, or none, and the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Front<'a> {
    pub(crate) operator: &'a str,
    pub(crate) settings: &'a [Setting],
}

impl<'a> Front<'a> {
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

/// A [`Front`] that is kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    operator: Box<str>,
    settings: Box<[Setting]>,
}

impl From<&Front<'_>> for Kept {
    fn from(front: &Front<'_>) -> Self {
        Self { operator: front.operator.into(), settings: front.settings.into() }
    }
}
impl Hash for Kept {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Front::new(&self.operator, &self.settings).hash(state);
    }
}
impl Equivalent<Kept> for Front<'_> {
    fn equivalent(&self, kept: &Kept) -> bool {
        *self == Front::new(&kept.operator, &kept.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_moved_in_words_as_large_as_they_allow() {
        let words = |size| Front::new("", &[Setting::Words("Value", size)]).text();
        assert_eq!(words(1), "struct alignas(1) Value { unsigned char words[1]; };\n");
        assert_eq!(words(2), "struct alignas(2) Value { unsigned short words[1]; };\n");
        assert_eq!(words(8), "struct alignas(8) Value { unsigned long long words[1]; };\n");
        assert_eq!(words(12), "struct alignas(4) Value { unsigned int words[3]; };\n");
        assert_eq!(words(16), "struct alignas(16) Value { unsigned long long words[2]; };\n");
        assert_eq!(words(24), "struct alignas(8) Value { unsigned long long words[3]; };\n");
        assert_eq!(Setting::words(Type::F64), Setting::Words("Value", 8));
    }

    #[test]
    fn settings_are_lines_behind_the_operator() {
        let settings = [
            Setting::Type("OffsetA", "unsigned int"),
            Setting::Number("GROUP", 8),
            Setting::Word("TABLE", "HashTable"),
            Setting::Switch("MERGE"),
            Setting::Constant("LANES", 4),
        ];
        assert_eq!(
            Front::new("struct Ring {};\n", &settings).text(),
            "struct Ring {};\ntypedef unsigned int OffsetA;\n#define GROUP 8\n#define TABLE HashTable\n#define MERGE\n\
             constexpr unsigned int LANES = 4;\n"
        );
    }

    #[test]
    fn what_is_kept_is_found() {
        let settings = [Setting::Switch("A")];
        let front = Front::new("text", &settings);
        let mut map = hashbrown::HashMap::new();
        map.insert(Kept::from(&front), 1);
        assert_eq!(map.get(&front), Some(&1));
        assert_eq!(map.get(&Front::new("text", &[])), None);
        assert_eq!(map.get(&Front::new("other", &settings)), None);
    }
}
