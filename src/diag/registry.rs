//! The one registry of diagnostic codes.
//!
//! A code is its number; name, level and page hang on it here and nowhere else. The page is the text of
//! `docs/diagnostics/SBxxxx.md`, which is also what `explain` prints; it carries a trigger and a clean counterpart
//! that tests run.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The set cannot be served.
    Error,
    /// It can be served, and somebody should look.
    Warning,
    /// It could be better.
    Advice,
}

impl Level {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Advice => "advice",
        }
    }
}

/// What the registry knows of a code.
#[derive(Debug)]
pub struct Entry {
    /// `SB0101`.
    pub id: &'static str,
    /// `unclosed-bracket`.
    pub name: &'static str,
    /// Its level.
    pub level: Level,
    /// Its page, in Markdown.
    pub page: &'static str,
}

macro_rules! registry {
    ($($variant:ident $id:literal $name:literal $level:ident;)*) => {
        /// A kind of diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(
                #[doc = concat!("`", $id, "` ", $name, ".")]
                $variant,
            )*
        }

        impl Code {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The registry's entry.
            pub fn entry(self) -> &'static Entry {
                match self {
                    $(Code::$variant => {
                        static ENTRY: Entry = Entry {
                            id: $id,
                            name: $name,
                            level: Level::$level,
                            page: include_str!(concat!("../../docs/diagnostics/", $id, ".md")),
                        };
                        &ENTRY
                    })*
                }
            }

            /// The code of an id (`SB0101`) or a name (`unclosed-bracket`), in any case.
            pub fn find(word: &str) -> Option<Code> {
                Code::ALL.iter().copied().find(|c| {
                    let entry = c.entry();
                    entry.id.eq_ignore_ascii_case(word) || entry.name.eq_ignore_ascii_case(word)
                })
            }
        }
    };
}

registry! {
    // SB01xx: text and shape.
    UnclosedBracket "SB0101" "unclosed-bracket" Error;
    StrayCloser "SB0102" "stray-closer" Error;
    MismatchedBracket "SB0103" "mismatched-bracket" Error;
    UnclosedString "SB0104" "unclosed-string" Error;
    BadEscape "SB0105" "bad-escape" Error;
    StrayText "SB0106" "stray-text" Error;
    MissingItem "SB0107" "missing-item" Error;
    HeadlessBlock "SB0108" "headless-block" Error;
    EmptyStatement "SB0109" "empty-statement" Error;
    TooDeep "SB0110" "too-deep" Error;
    TextTooLarge "SB0111" "text-too-large" Error;
}
