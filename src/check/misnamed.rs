//! A setting under the word of another one.
//!
//! In: a statement of a block, and the block around it. Out: the setting that it was meant to be, after a finding at its
//! word, where what it names tells: `budget mid` in a route without a tier, and `mid` is a tier. Silent where the set has
//! heads that could not be read, since the name may be theirs. Reads no value.

use super::context::{Context, Decl};
use super::fields::is_said;
use crate::diag::{Code, Diagnostic};
use crate::syntax::settings::{Setting, Status, ValueType, setting, settings_of};
use crate::syntax::tree::Statement;

impl<'a> Context<'a> {
    /// The setting that a statement was meant to be: one that is not said otherwise, while its own word does
    /// not take such a value.
    pub(super) fn misnamed(&mut self, decl: &'a Decl<'a>, statement: &Statement) -> Option<&'static Setting> {
        let (word, [item]) = statement.items.split_first()? else { return None };
        let (written, name) = (setting(decl.block, word.word()?)?, item.word()?);
        let takes = |row: &Setting| match row.value {
            ValueType::Block(kind) => self.names.position(kind, name).is_some() || name == "none",
            ValueType::OneOf(words) => words.iter().any(|(word, _)| *word == name),
            ValueType::Flag
            | ValueType::Count
            | ValueType::Tokens
            | ValueType::Duration
            | ValueType::Percent
            | ValueType::Prices => false,
            ValueType::Text
            | ValueType::Reference
            | ValueType::Name
            | ValueType::ListOf(_)
            | ValueType::List
            | ValueType::Guard => true,
            ValueType::Form(form) => form.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == name),
        };
        // A required word that stands once is hardly the wrong one.
        let once = decl.statements().iter().filter(|s| s.keyword() == Some(written.word)).count() < 2;
        if statement.block.is_some() || takes(written) || written.required && once {
            return None;
        }
        let unsaid = |row: &&Setting| row.status == Status::InEffect && !is_said(decl, row.word);
        let fits = |row: &&Setting| match row.value {
            ValueType::Block(kind) => {
                let refers = row.word == kind.word() || row.word == "extends" && name != decl.name;
                refers && self.names.position(kind, name).is_some()
            }
            ValueType::OneOf(words) => row.required && words.iter().any(|(word, _)| *word == name),
            ValueType::Flag
            | ValueType::Count
            | ValueType::Tokens
            | ValueType::Duration
            | ValueType::Percent
            | ValueType::Prices
            | ValueType::Text
            | ValueType::Reference
            | ValueType::Name
            | ValueType::ListOf(_)
            | ValueType::List
            | ValueType::Guard
            | ValueType::Form(_) => false,
        };
        // The name may be that of a block whose head could not be read.
        if !self.names.lost.is_empty() {
            return None;
        }
        let meant = settings_of(decl.block).filter(fits).find(unsaid)?;
        self.report(
            Diagnostic::new(
                Code::UnknownName,
                word.span,
                format!("`{}` does not take `{name}`, and `{}` does", written.word, meant.word),
            )
            .help(format!("write `{} {name}`, or name something else", meant.word))
            .fix(format!("write `{}`", meant.word), word.span, meant.word, false),
        );
        Some(meant)
    }
}
