//! The protocol: requests and notifications over stdio, each answered by one function of the pure half.
//!
//! In: bytes of JSON-RPC. Out: answers, and diagnostics whenever a set has changed. Messages are taken one after the
//! other, so that an answer is about the text of all changes before it. Checking runs beside them: changes that come in
//! faster than a check takes are checked together. Decides nothing about policies.

use super::capabilities::{capabilities, encoding};
use super::convert::{Editor, path, place};
use super::position::Change;
use super::set::Set;
use super::workspace::{Named, Workspace};
use super::{complete, fixes, format, frames, hover, names, symbols, tokens};
use crate::source::{FileId, LoadError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::BufReader;
use tokio::sync::Notify;
use tower_lsp_server::jsonrpc::{Error, Result};
use tower_lsp_server::ls_types::*;
use tower_lsp_server::{Client, LanguageServer, LspService, Server};

/// How many bytes of messages may wait to be read.
const PASSED: usize = 64 * 1024;

/// Serves the protocol on the process's streams until the editor ends it. `sets` are paths as the command line has
/// them: files, folders, or `FOLDER/*` for a folder whose files are sets of their own.
/// Returns whether the editor asked for the end, as it should, before it ended it.
pub async fn serve(sets: Vec<String>) -> bool {
    let asked = Arc::new(AtomicBool::new(false));
    let (service, socket) = LspService::build(|client| Backend::new(client, sets, Arc::clone(&asked)))
        .custom_method(frames::NO_JSON, Backend::no_json)
        .custom_method(frames::NO_MESSAGE, Backend::no_message)
        .finish();
    let (messages, passed) = tokio::io::duplex(PASSED);
    tokio::spawn(frames::pass(BufReader::new(tokio::io::stdin()), passed));
    Server::new(messages, tokio::io::stdout(), socket).concurrency_level(1).serve(service).await;
    asked.load(Ordering::SeqCst)
}

#[derive(Default)]
struct State {
    workspace: Workspace,
    editor: Editor,
}

impl State {
    /// What `ask` says of a place in an open file.
    fn at<T>(
        &mut self,
        document: &TextDocumentPositionParams,
        ask: impl FnOnce(&Editor, &mut Set, FileId, usize) -> Option<T>,
    ) -> Option<T> {
        let State { workspace, editor } = self;
        let (set, file) = workspace.find(&path(&document.text_document.uri))?;
        let offset = editor.offset(set, file, document.position)?;
        ask(editor, set, file, offset)
    }

    /// What `ask` says of an open file.
    fn of<T>(&mut self, uri: &Uri, ask: impl FnOnce(&Editor, &mut Set, FileId) -> Option<T>) -> Option<T> {
        let State { workspace, editor } = self;
        let (set, file) = workspace.find(&path(uri))?;
        ask(editor, set, file)
    }
}

struct Backend {
    client: Client,
    state: Arc<Mutex<State>>,
    /// Wakes the checking.
    changed: Arc<Notify>,
    /// Sets of the command line.
    sets: Vec<String>,
    /// Whether the editor asked for the end.
    asked: Arc<AtomicBool>,
}

impl Backend {
    fn new(client: Client, sets: Vec<String>, asked: Arc<AtomicBool>) -> Backend {
        Backend { client, state: Arc::default(), changed: Arc::default(), sets, asked }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers a body that is no JSON.
    async fn no_json(&self) -> Result<()> {
        Err(Error::parse_error())
    }

    /// Answers JSON that is no message.
    async fn no_message(&self) -> Result<()> {
        Err(Error::invalid_request())
    }

    async fn failed(&self, errors: impl IntoIterator<Item = LoadError>) {
        for error in errors {
            self.client.show_message(MessageType::ERROR, error).await;
        }
    }
}

/// Tells the editor what is wrong, each time that something changed.
async fn report(client: Client, state: Arc<Mutex<State>>, changed: Arc<Notify>) {
    loop {
        changed.notified().await;
        let state = Arc::clone(&state);
        let checked = tokio::task::spawn_blocking(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let reports = state.workspace.report();
            let State { workspace, editor } = &*state;
            let told = reports.into_iter().filter_map(|report| {
                let uri = editor.uri(&report.path)?;
                let set = workspace.set(&report.root);
                let found = report.diagnostics.iter().zip(std::iter::repeat(set));
                let found = found.filter_map(|(d, set)| Some(editor.diagnostic(set?, d))).collect::<Vec<_>>();
                Some((uri, found, report.version))
            });
            told.collect::<Vec<_>>()
        });
        for (uri, found, version) in checked.await.unwrap_or_default() {
            client.publish_diagnostics(uri, found, version).await;
        }
    }
}

/// The sets that the editor's options name: `{ "sets": ["policies/prod", "examples/*"] }`.
fn named(options: Option<&LSPAny>) -> Vec<String> {
    let sets = options.and_then(|options| options.get("sets")).and_then(|sets| sets.as_array());
    sets.into_iter().flatten().filter_map(|set| set.as_str()).map(str::to_owned).collect()
}

fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let several = params.workspace_folders.iter().flatten().map(|folder| path(&folder.uri)).collect::<Vec<_>>();
    #[allow(deprecated)]
    let one = || params.root_uri.iter().map(path).collect();
    if several.is_empty() { one() } else { several }
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let encoding = encoding(&params.capabilities);
        let folders = folders(&params);
        let here = std::env::current_dir().unwrap_or_default();
        let mut sets: Vec<_> = self.sets.iter().map(|set| Named::new(set, &here)).collect();
        let base = folders.first().unwrap_or(&here);
        sets.extend(named(params.initialization_options.as_ref()).iter().map(|set| Named::new(set, base)));
        let completion = params.capabilities.text_document.as_ref().and_then(|text| text.completion.as_ref());
        let item = completion.and_then(|completion| completion.completion_item.as_ref());
        let snippets = item.and_then(|item| item.snippet_support).unwrap_or(false);
        self.with(|state| {
            state.workspace.encoding = encoding;
            state.workspace.roots.folders = folders;
            state.workspace.roots.sets = sets;
            state.editor.encoding = encoding;
            state.editor.snippets = snippets;
        });
        tokio::spawn(report(self.client.clone(), Arc::clone(&self.state), Arc::clone(&self.changed)));
        Ok(InitializeResult {
            capabilities: capabilities(encoding),
            server_info: Some(ServerInfo {
                name: "switchback".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..Default::default()
        })
    }

    async fn shutdown(&self) -> Result<()> {
        self.asked.store(true, Ordering::SeqCst);
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let TextDocumentItem { uri, version, text, .. } = params.text_document;
        let failed = self.with(|state| {
            let path = path(&uri);
            state.editor.uris.insert(path.clone(), uri);
            state.workspace.open(&path, version, text)
        });
        self.changed.notify_one();
        self.failed(failed).await;
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        let changes: Vec<_> = params
            .content_changes
            .into_iter()
            .map(|change| Change { range: change.range.map(|r| (place(r.start), place(r.end))), text: change.text })
            .collect();
        self.with(|state| state.workspace.change(&path(&uri), version, &changes));
        self.changed.notify_one();
    }

    async fn did_save(&self, _: DidSaveTextDocumentParams) {
        let failed = self.with(|state| state.workspace.reread());
        self.changed.notify_one();
        self.failed(failed).await;
    }

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {
        let failed = self.with(|state| state.workspace.reread());
        self.changed.notify_one();
        self.failed(failed).await;
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.with(|state| {
            let path = path(&params.text_document.uri);
            state.workspace.close(&path);
        });
        self.changed.notify_one();
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        Ok(self.with(|state| {
            state.at(&params.text_document_position_params, |editor, set, file, offset| {
                let found = hover::hover(set, file, offset)?;
                let value = MarkupContent { kind: MarkupKind::Markdown, value: found.text };
                let range = Some(editor.range(set, found.span));
                Some(Hover { contents: HoverContents::Markup(value), range })
            })
        }))
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        Ok(self.with(|state| {
            state.at(&params.text_document_position_params, |editor, set, file, offset| {
                let spans = names::definition(set, file, offset);
                let places: Vec<_> = spans.into_iter().filter_map(|span| editor.location(set, span)).collect();
                (!places.is_empty()).then_some(GotoDefinitionResponse::Array(places))
            })
        }))
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let declaration = params.context.include_declaration;
        Ok(self.with(|state| {
            state.at(&params.text_document_position, |editor, set, file, offset| {
                let spans = names::references(set, file, offset, declaration);
                Some(spans.into_iter().filter_map(|span| editor.location(set, span)).collect())
            })
        }))
    }

    async fn document_highlight(&self, params: DocumentHighlightParams) -> Result<Option<Vec<DocumentHighlight>>> {
        Ok(self.with(|state| {
            state.at(&params.text_document_position_params, |editor, set, file, offset| {
                let spans = names::references(set, file, offset, true).into_iter().filter(|span| span.file == file);
                Some(spans.map(|span| DocumentHighlight { range: editor.range(set, span), kind: None }).collect())
            })
        }))
    }

    async fn prepare_rename(&self, params: TextDocumentPositionParams) -> Result<Option<PrepareRenameResponse>> {
        Ok(self.with(|state| {
            state.at(&params, |editor, set, file, offset| {
                let span = names::prepare_rename(set, file, offset)?;
                Some(PrepareRenameResponse::Range(editor.range(set, span)))
            })
        }))
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let renamed = self.with(|state| {
            state.at(&params.text_document_position, |editor, set, file, offset| {
                let edits = names::rename(set, file, offset, &params.new_name);
                Some(edits.map(|edits| editor.edits(set, &edits)))
            })
        });
        renamed.transpose().map_err(Error::invalid_params)
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        Ok(self.with(|state| {
            state.at(&params.text_document_position, |editor, set, file, offset| {
                let (span, found) = complete::complete(set, file, offset)?;
                let range = editor.range(set, span);
                let items = found.iter().enumerate().map(|(at, one)| editor.suggestion(range, at, one));
                Some(CompletionResponse::Array(items.collect()))
            })
        }))
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        Ok(self.with(|state| {
            state.of(&params.text_document.uri, |editor, set, file| {
                Some(format::format(set, file).iter().map(|edit| editor.edit(set, edit)).collect())
            })
        }))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        Ok(self.with(|state| {
            state.of(&params.text_document.uri, |editor, set, file| {
                let from = editor.offset(set, file, params.range.start)?;
                let to = editor.offset(set, file, params.range.end)?;
                let actions = fixes::actions(set, file, from, to);
                Some(actions.iter().map(|action| editor.action(set, action)).collect())
            })
        }))
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        Ok(self.with(|state| {
            state.of(&params.text_document.uri, |editor, set, file| {
                let outline = symbols::outline(set, file);
                Some(DocumentSymbolResponse::Nested(outline.iter().map(|s| editor.symbol(set, s)).collect()))
            })
        }))
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<WorkspaceSymbolResponse>> {
        Ok(Some(self.with(|state| {
            let State { workspace, editor } = state;
            let mut all = Vec::new();
            for set in workspace.sets() {
                for (block, name, span) in symbols::search(set, &params.query) {
                    let Some(location) = editor.location(set, span) else { continue };
                    #[allow(deprecated)]
                    all.push(SymbolInformation {
                        name,
                        kind: SymbolKind::STRUCT,
                        tags: None,
                        deprecated: None,
                        location,
                        container_name: Some(block.word().to_owned()),
                    });
                }
            }
            WorkspaceSymbolResponse::Flat(all)
        })))
    }

    async fn semantic_tokens_full(&self, params: SemanticTokensParams) -> Result<Option<SemanticTokensResult>> {
        Ok(self.with(|state| {
            state.of(&params.text_document.uri, |editor, set, file| {
                let data = editor.tokens(set, &tokens::tokens(set, file));
                Some(SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data }))
            })
        }))
    }
}
