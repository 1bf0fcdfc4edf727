//! Between our values and the protocol's.
//!
//! In: spans, diagnostics, suggestions, outlines. Out: the protocol's values, positions counted as agreed with the
//! editor, and files named as the editor names them. Decides nothing.

use super::complete::{self, Suggestion};
use super::fixes::{Action, Edit};
use super::position::{Encoding, Position as Place};
use super::set::Set;
use super::symbols::Symbol;
use super::tokens::Token;
use crate::diag::{Code, Diagnostic, Level};
use crate::source::{FileId, Span};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use tower_lsp_server::ls_types::*;

/// How one editor counts, and what it calls its files.
#[derive(Debug, Default)]
pub(super) struct Editor {
    /// What positions count.
    pub(super) encoding: Encoding,
    /// Whether suggestions may hold places to fill in.
    pub(super) snippets: bool,
    /// What open files are called: one path can be written as several URIs.
    pub(super) uris: BTreeMap<PathBuf, Uri>,
}

/// The path of a URI. What is no file has its URI for a path, and stands alone.
pub(super) fn path(uri: &Uri) -> PathBuf {
    let file = uri.scheme().as_str().eq_ignore_ascii_case("file").then(|| uri.to_file_path()).flatten();
    file.map_or_else(|| PathBuf::from(uri.as_str()), Cow::into_owned)
}

pub(super) fn place(position: Position) -> Place {
    Place { line: position.line, character: position.character }
}

impl Editor {
    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        self.uris.get(path).cloned().or_else(|| Uri::from_file_path(path))
    }

    pub(super) fn offset(&self, set: &Set, file: FileId, position: Position) -> Option<usize> {
        let (file, tree) = set.file(file)?;
        Some(file.lines.offset(&tree.source.text, place(position), self.encoding))
    }

    pub(super) fn range(&self, set: &Set, span: Span) -> Range {
        let Some((file, tree)) = set.file(span.file) else { return Range::default() };
        let at = |offset: u32| {
            let place = file.lines.position(&tree.source.text, offset as usize, self.encoding);
            Position::new(place.line, place.character)
        };
        Range::new(at(span.start), at(span.end))
    }

    pub(super) fn location(&self, set: &Set, span: Span) -> Option<Location> {
        let uri = self.uri(&set.file(span.file)?.0.path)?;
        Some(Location::new(uri, self.range(set, span)))
    }

    pub(super) fn diagnostic(&self, set: &Set, diagnostic: &Diagnostic) -> tower_lsp_server::ls_types::Diagnostic {
        let entry = diagnostic.entry();
        let mut message = diagnostic.message.clone();
        if !diagnostic.here.is_empty() {
            message.push_str(&format!(" ({})", diagnostic.here));
        }
        if !diagnostic.help.is_empty() {
            message.push_str(&format!("\nhelp: {}", diagnostic.help));
        }
        let related = diagnostic.labels.iter().filter_map(|label| {
            let location = self.location(set, label.span)?;
            Some(DiagnosticRelatedInformation { location, message: label.message.clone() })
        });
        let related: Vec<_> = related.collect();
        tower_lsp_server::ls_types::Diagnostic {
            range: self.range(set, diagnostic.span),
            severity: Some(match entry.level {
                Level::Error => DiagnosticSeverity::ERROR,
                Level::Warning => DiagnosticSeverity::WARNING,
                Level::Advice => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(entry.id.to_owned())),
            source: Some("switchback".to_owned()),
            message,
            related_information: (!related.is_empty()).then_some(related),
            tags: (diagnostic.code == Code::UnusedBlock).then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Default::default()
        }
    }

    pub(super) fn edit(&self, set: &Set, edit: &Edit) -> TextEdit {
        TextEdit::new(self.range(set, edit.span), edit.text.clone())
    }

    // The protocol's keys are URIs, whose hash does not change by what is cached in them.
    #[allow(clippy::mutable_key_type)]
    pub(super) fn edits(&self, set: &Set, edits: &[Edit]) -> WorkspaceEdit {
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for edit in edits {
            let uri = set.file(edit.span.file).and_then(|(file, _)| self.uri(&file.path));
            if let Some(uri) = uri {
                changes.entry(uri).or_default().push(self.edit(set, edit));
            }
        }
        WorkspaceEdit { changes: Some(changes), ..Default::default() }
    }

    pub(super) fn action(&self, set: &Set, action: &Action) -> CodeActionOrCommand {
        CodeActionOrCommand::CodeAction(CodeAction {
            title: action.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![self.diagnostic(set, &action.diagnostic)]),
            edit: Some(self.edits(set, std::slice::from_ref(&action.edit))),
            is_preferred: action.preferred.then_some(true),
            ..Default::default()
        })
    }

    pub(super) fn suggestion(&self, range: Range, at: usize, suggestion: &Suggestion) -> CompletionItem {
        let snippet = suggestion.snippet.as_ref().filter(|_| self.snippets);
        let text = snippet.unwrap_or(&suggestion.label).clone();
        CompletionItem {
            label: suggestion.label.clone(),
            kind: Some(match suggestion.kind {
                complete::Kind::Block => CompletionItemKind::STRUCT,
                complete::Kind::Setting => CompletionItemKind::PROPERTY,
                complete::Kind::Name => CompletionItemKind::REFERENCE,
                complete::Kind::Value => CompletionItemKind::VALUE,
                complete::Kind::Class => CompletionItemKind::ENUM_MEMBER,
                complete::Kind::Action => CompletionItemKind::FUNCTION,
                complete::Kind::Fact => CompletionItemKind::VARIABLE,
                complete::Kind::Keyword => CompletionItemKind::KEYWORD,
            }),
            detail: (!suggestion.detail.is_empty()).then(|| suggestion.detail.clone()),
            // Ours is the order of usefulness.
            sort_text: Some(format!("{at:04}")),
            filter_text: Some(suggestion.label.clone()),
            insert_text_format: Some(match snippet {
                Some(_) => InsertTextFormat::SNIPPET,
                None => InsertTextFormat::PLAIN_TEXT,
            }),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text))),
            ..Default::default()
        }
    }

    pub(super) fn symbol(&self, set: &Set, symbol: &Symbol) -> DocumentSymbol {
        let children: Vec<_> = symbol.children.iter().map(|child| self.symbol(set, child)).collect();
        #[allow(deprecated)]
        DocumentSymbol {
            name: symbol.name.clone(),
            detail: (!symbol.detail.is_empty()).then(|| symbol.detail.clone()),
            kind: if symbol.block.is_some() { SymbolKind::STRUCT } else { SymbolKind::PROPERTY },
            tags: None,
            deprecated: None,
            range: self.range(set, symbol.span),
            selection_range: self.range(set, symbol.name_span),
            children: (!children.is_empty()).then_some(children),
        }
    }

    /// Tokens as the protocol packs them: each counts from the one before it.
    pub(super) fn tokens(&self, set: &Set, tokens: &[Token]) -> Vec<SemanticToken> {
        let mut before = Position::default();
        let mut packed = Vec::with_capacity(tokens.len());
        for token in tokens {
            let Range { start, end } = self.range(set, token.span);
            let same_line = start.line == before.line;
            packed.push(SemanticToken {
                delta_line: start.line.saturating_sub(before.line),
                delta_start: if same_line { start.character.saturating_sub(before.character) } else { start.character },
                length: end.character.saturating_sub(start.character),
                token_type: token.kind as u32,
                token_modifiers_bitset: u32::from(token.declaration),
            });
            before = start;
        }
        packed
    }
}
