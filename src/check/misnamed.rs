//! A setting under the word of another one.
//!
//! In: a statement of a block, and the block around it. Out: the setting that it was meant to be, after a finding at its
//! word, where what it names tells: `budget mid` in a route without a tier, and `mid` is a tier. Silent where the set has
//! heads that could not be read, since the name may be theirs. Targets that stand in a tier outside of a chain are told
//! of here as well, once for a tier, and a block under the word of another kind, once for the block. Reads no value.

use super::context::{Context, Decl, Names};
use super::fields::is_said;
use crate::diag::{Code, Diagnostic};
use crate::syntax::settings::{self, Block, Setting, Status, ValueType, setting, settings_of};
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

impl Names<'_> {
    /// Whether a statement is the name of a block that there is, and nothing more.
    pub(super) fn names_one(&self, setting: &Setting, statement: &Statement) -> bool {
        let (ValueType::Block(kind), [_, item]) = (setting.value, statement.items.as_slice()) else { return false };
        statement.block.is_none() && item.word().is_some_and(|name| self.position(kind, name).is_some())
    }

    /// Whether a statement is a target that stands straight in a tier: `a`, or `target a`.
    pub(super) fn is_loose_target(&self, decl: &Decl<'_>, statement: &Statement) -> bool {
        if decl.block != Block::Tier || statement.block.is_some() {
            return false;
        }
        let target = |word: &str| self.position(Block::Target, word).is_some();
        match (statement.keyword(), statement.items.get(1)) {
            (Some("target"), Some(name)) => name.word().is_some_and(target),
            (Some(word), _) => setting(Block::Tier, word).is_none() && target(word),
            (None, _) => false,
        }
    }
}

impl<'a> Context<'a> {
    /// Whether all settings of a block are those of one other kind, and none is its own: reported once, at its word.
    pub(super) fn is_of_another_kind(&mut self, decl: &Decl<'a>) -> bool {
        let all = |kind: Block| {
            let mut words = decl.statements().iter().map(Statement::keyword);
            words.all(|word| word.is_some_and(|word| setting(kind, word).is_some()))
        };
        let own = |s: &Statement| s.keyword().is_some_and(|word| setting(decl.block, word).is_some());
        if decl.statements().len() < 2 || decl.statements().iter().any(own) {
            return false;
        }
        let mut kinds = settings::BLOCKS.iter().map(|row| row.block).filter(|kind| !kind.is_later() && all(*kind));
        let (Some(meant), None, Some(word)) = (kinds.next(), kinds.next(), decl.statement.items.first()) else {
            return false;
        };
        let (written, meant) = (decl.block.word(), meant.word());
        let message = format!("what stands in this {written} are the settings of a {meant}");
        self.report(Diagnostic::new(Code::WrongBlock, word.span, message).fix(
            format!("write `{meant}`"),
            word.span,
            meant,
            false,
        ));
        true
    }

    /// Reports the targets that stand straight in a tier.
    pub(super) fn loose_targets(&mut self, decl: &'a Decl<'a>) {
        let loose = |s: &&Statement| self.names.is_loose_target(decl, s);
        let mut all = decl.statements().iter().skip_while(|s| !loose(s)).take_while(loose);
        let Some(first) = all.next() else { return };
        let span = first.span.to(all.last().unwrap_or(first).span);
        let found = Diagnostic::new(Code::UnknownSetting, first.span, "a tier's targets stand in its chain")
            .here("outside of a chain");
        let text = self.names.slice(span);
        let alone = decl.statements().iter().all(|s| self.names.is_loose_target(decl, s));
        self.report(match alone {
            true => found.fix("write `chain { … }` around them", span, format!("chain {{ {text} }}"), false),
            false => found.help("move it into the braces of a `chain { … }`"),
        });
    }
}
