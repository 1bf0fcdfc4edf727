//! `switchback lsp` as an editor sees it: JSON-RPC over the streams of the real process.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const POLICY: &str = "switchback 1\r
\r
provider p { api emulated }\r
model m { modalities [text]; context 32k; max-output 4k }\r
target north { model m; provider p }\r
target south { model m; provider p }\r
tier t { chain { north; south } }\r
matrix x { otherwise -> stop }\r
budget b { deadline 10s; attempts 2 }\r
route r { tier t; matrix x; budget b }\r
";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        // Spaces and letters beyond ASCII, so that URIs are more than paths with a prefix.
        let folder = std::env::temp_dir().join(format!("switchback lsp ä {}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder.canonicalize().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.uri(name)
    }

    fn uri(&self, name: &str) -> String {
        uri(&self.0.join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn uri(path: &Path) -> String {
    let mut text = "file://".to_owned();
    for byte in path.to_str().unwrap().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => text.push(byte as char),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

struct Editor {
    process: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    /// Notifications that nobody waited for yet.
    kept: Vec<Value>,
    id: u64,
}

impl Editor {
    fn start(args: &[&str], capabilities: Value, folder: &Folder, options: Value) -> (Editor, Value) {
        let mut process = Command::new(env!("CARGO_BIN_EXE_switchback"))
            .arg("lsp")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let (send, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if stdout.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    if line == "\r\n" {
                        break;
                    }
                    if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = n.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                stdout.read_exact(&mut body).unwrap();
                if send.send(serde_json::from_slice(&body).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut editor = Editor { process, stdin, messages, kept: Vec::new(), id: 0 };
        let workspace = json!([{ "uri": folder.uri(""), "name": "policies" }]);
        let answer = editor.ask(
            "initialize",
            json!({ "processId": null, "rootUri": null, "capabilities": capabilities,
                    "workspaceFolders": workspace, "initializationOptions": options }),
        );
        editor.tell("initialized", json!({}));
        (editor, answer["result"].clone())
    }

    fn write(&mut self, message: &Value) {
        let body = serde_json::to_vec(message).unwrap();
        write!(self.stdin, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
        self.stdin.write_all(&body).unwrap();
        self.stdin.flush().unwrap();
    }

    fn raw(&mut self, body: &str) {
        write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.stdin.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn next(&mut self) -> Value {
        self.messages.recv_timeout(Duration::from_secs(60)).expect("the server says nothing more")
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.write(&message);
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.kept.push(message);
        }
    }

    fn at(&mut self, method: &str, uri: &str, line: u32, character: u32, more: Value) -> Value {
        let mut params =
            json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        let answer = self.ask(method, params);
        if answer.get("error").is_some() { answer } else { answer["result"].clone() }
    }

    /// The next diagnostics that are published for a file that is not open.
    fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        self.diagnostics_of(uri, Value::Null)
    }

    /// The diagnostics that are published for a version of a file.
    fn diagnostics_of(&mut self, uri: &str, version: impl Into<Value>) -> Vec<Value> {
        let version = version.into();
        let is_it = |message: &Value| {
            let params = &message["params"];
            let is_file = message["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri;
            is_file && params["version"] == version
        };
        let message = match self.kept.iter().position(is_it) {
            Some(at) => self.kept.remove(at),
            None => loop {
                let message = self.next();
                if is_it(&message) {
                    break message;
                }
                self.kept.push(message);
            },
        };
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "switchback", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, version: i32, from: (u32, u32), to: (u32, u32), text: &str) {
        let place = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
        self.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "range": { "start": place(from), "end": place(to) }, "text": text }],
            }),
        );
    }

    fn end(mut self) -> Option<i32> {
        assert!(self.ask("shutdown", Value::Null)["result"].is_null());
        self.write(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        self.process.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.process.kill();
    }
}

#[test]
fn a_body_that_is_no_message_is_answered_and_passed_over() {
    let folder = Folder::new("unreadable");
    let uri = folder.file("a.sbk", POLICY);
    let (mut editor, _) = Editor::start(&[], json!({}), &folder, Value::Null);
    for (body, code) in [("{not json", -32700), ("[]", -32600), ("\u{7}", -32700), ("42", -32600), ("{}", -32600)] {
        editor.raw(body);
        let answer = loop {
            let message = editor.next();
            if message.get("error").is_some() {
                break message;
            }
        };
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&Value::Null, Some(code)), "{body}: {answer}");
    }
    editor.open(&uri, POLICY);
    assert!(!editor.at("textDocument/hover", &uri, 2, 2, json!({})).is_null());
    assert_eq!(editor.end(), Some(0));
}

fn labels(completion: &Value) -> Vec<&str> {
    completion.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect()
}

#[test]
fn an_editor_is_told_helped_and_left() {
    let folder = Folder::new("whole");
    let policy = folder.file("a.sbk", POLICY);
    let tests = "switchback 1\ntest \"x\" {\n  send r\n  north answers ok\n  expect served by nrth\n}\n";
    let other = folder.file("b.test.sbk", tests);
    let (mut editor, said) = Editor::start(&[], json!({}), &folder, Value::Null);
    assert_eq!(said["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(said["serverInfo"]["name"], "switchback");

    // The whole set is looked at when one of its files is opened.
    editor.open(&policy, POLICY);
    let found = editor.diagnostics(&other);
    assert_eq!((found.len(), found[0]["code"].as_str()), (1, Some("SB0202")), "{found:#?}");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 4, "character": 19 }));
    assert_eq!(found[0]["relatedInformation"][0]["location"]["uri"], policy.as_str());

    // Two names in front of an emoji are counted in UTF-16, and CR LF is one line's end.
    editor.change(&policy, 2, (4, 0), (4, 0), "model z { like \"😀😀\" }; ");
    editor.diagnostics_of(&policy, 2);
    let hover = editor.at("textDocument/hover", &policy, 4, 33, json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("**target north**"), "{hover:#}");
    assert_eq!(hover["range"]["start"], json!({ "line": 4, "character": 32 }), "{hover:#}");
    editor.change(&policy, 3, (4, 0), (4, 25), "");
    editor.diagnostics_of(&policy, 3);

    let place = editor.at("textDocument/definition", &policy, 6, 18, json!({}));
    assert_eq!(
        (place[0]["uri"].as_str(), place[0]["range"]["start"]["line"].as_u64()),
        (Some(policy.as_str()), Some(4))
    );
    let all = editor.at("textDocument/references", &policy, 4, 8, json!({ "context": { "includeDeclaration": true } }));
    assert_eq!(all.as_array().unwrap().len(), 3, "{all:#}");
    let completion = editor.at("textDocument/completion", &policy, 8, 25, json!({}));
    assert!(
        labels(&completion).contains(&"per-target") && !labels(&completion).contains(&"deadline"),
        "{completion:#}"
    );

    let renamed = editor.at("textDocument/rename", &policy, 6, 18, json!({ "newName": "east" }));
    let changes = renamed["changes"].as_object().unwrap();
    assert_eq!((changes[&policy].as_array().unwrap().len(), changes[&other].as_array().unwrap().len()), (2, 1));
    let refused = editor.at("textDocument/rename", &policy, 6, 18, json!({ "newName": "south" }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("already"), "{refused:#}");

    // A file beside it is opened, and mended by what is offered.
    editor.open(&other, tests);
    editor.diagnostics_of(&other, 1);
    let range = json!({ "start": { "line": 4, "character": 20 }, "end": { "line": 4, "character": 20 } });
    let context = json!({ "diagnostics": [] });
    let params = json!({ "textDocument": { "uri": other }, "range": range, "context": context });
    let actions = editor.ask("textDocument/codeAction", params)["result"].clone();
    let edit = &actions[0]["edit"]["changes"][&other][0];
    assert_eq!((actions[0]["kind"].as_str(), edit["newText"].as_str()), (Some("quickfix"), Some("north")));
    editor.change(&other, 2, (4, 19), (4, 23), "north");
    assert_eq!(editor.diagnostics_of(&other, 2), Vec::<Value>::new());

    let params = json!({ "textDocument": { "uri": other } });
    let outline = editor.ask("textDocument/documentSymbol", params.clone())["result"].clone();
    assert_eq!((outline[0]["name"].as_str(), outline[0]["children"][0]["name"].as_str()), (Some("x"), Some("send")));
    let tokens = editor.ask("textDocument/semanticTokens/full", params.clone())["result"]["data"].clone();
    assert_eq!(tokens.as_array().unwrap().len() % 5, 0);
    assert!(tokens.as_array().unwrap().len() > 50);
    editor.change(&other, 3, (2, 0), (2, 2), "");
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let formatted =
        editor.ask("textDocument/formatting", json!({ "textDocument": { "uri": other }, "options": options }));
    assert!(formatted["result"][0]["newText"].as_str().unwrap().contains("  send"), "{formatted:#}");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn positions_are_counted_as_the_editor_offers() {
    let folder = Folder::new("utf8");
    let text = POLICY
        .replace("chain { north; south }", "chain { north; soth }")
        .replace("tier t {", "model y { like \"😀\" }; tier t {");
    let policy = folder.file("a.sbk", &text);
    for (offered, agreed, at) in [(json!(["utf-8", "utf-16"]), "utf-8", 49), (json!(["utf-16"]), "utf-16", 47)] {
        let capabilities = json!({ "general": { "positionEncodings": offered } });
        let (mut editor, said) = Editor::start(&["--stdio"], capabilities, &folder, Value::Null);
        assert_eq!(said["capabilities"]["positionEncoding"], agreed);
        editor.open(&policy, &text);
        let found = editor.diagnostics_of(&policy, 1);
        let unknown = found.iter().find(|d| d["code"] == "SB0202").unwrap();
        assert_eq!(unknown["range"]["start"], json!({ "line": 6, "character": at }), "{agreed}");
        assert_eq!(editor.end(), Some(0));
    }
}

#[test]
fn each_file_can_be_a_set_of_its_own() {
    let folder = Folder::new("sets");
    let (a, _) = (folder.file("a.sbk", POLICY), folder.file("b.sbk", POLICY));
    let (mut editor, _) = Editor::start(&[], json!({}), &folder, Value::Null);
    editor.open(&a, POLICY);
    assert!(
        !editor.diagnostics(&folder.uri("b.sbk")).is_empty(),
        "a folder is one set, in which each name is there twice"
    );
    assert_eq!(editor.end(), Some(0));

    let (mut editor, _) = Editor::start(&[], json!({}), &folder, json!({ "sets": ["./*"] }));
    editor.open(&a, POLICY);
    let errors: Vec<_> = editor.diagnostics_of(&a, 1).into_iter().filter(|d| d["severity"] == 1).collect();
    assert_eq!(errors, Vec::<Value>::new());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn what_is_mended_on_disk_is_cleared() {
    let folder = Folder::new("disk");
    let policy = folder.file("a.sbk", POLICY);
    let other = folder.file("b.sbk", "switchback 1\nroute r { }\n");
    let (mut editor, _) = Editor::start(&[], json!({}), &folder, Value::Null);
    editor.open(&policy, POLICY);
    assert!(!editor.diagnostics(&other).is_empty());
    std::fs::remove_file(folder.0.join("b.sbk")).unwrap();
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": other, "type": 3 }] }));
    assert!(editor.diagnostics(&other).is_empty());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn an_end_that_was_not_asked_for_is_told_apart() {
    let folder = Folder::new("end");
    let (mut editor, _) = Editor::start(&[], json!({}), &folder, Value::Null);
    editor.write(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(editor.process.wait().unwrap().code(), Some(1));
}
