//! What the server and an editor can do, as they tell each other at the start.
//!
//! In: what an editor offers. Out: how places are counted, and what may be asked of the server. Answers nothing itself.

use super::position::Encoding;
use super::tokens;
use tower_lsp_server::ls_types::*;

/// How both count places within a line.
pub(super) fn encoding(capabilities: &ClientCapabilities) -> Encoding {
    let offered = capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    // Ours is the one that needs no counting.
    match offered {
        Some(offered) if offered.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
        Some(offered)
            if !offered.contains(&PositionEncodingKind::UTF16) && offered.contains(&PositionEncodingKind::UTF32) =>
        {
            Encoding::Utf32
        }
        Some(_) | None => Encoding::Utf16,
    }
}

/// What the server can do.
pub(super) fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let legend = SemanticTokensLegend {
        token_types: tokens::Kind::ALL.iter().map(|kind| SemanticTokenType::new(kind.name())).collect(),
        token_modifiers: vec![SemanticTokenModifier::DECLARATION],
    };
    ServerCapabilities {
        position_encoding: Some(match encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..Default::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([" ", "[", ",", ">", "."].map(str::to_owned).to_vec()),
            ..Default::default()
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..Default::default()
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions { legend, full: Some(SemanticTokensFullOptions::Bool(true)), ..Default::default() },
        )),
        ..Default::default()
    }
}
