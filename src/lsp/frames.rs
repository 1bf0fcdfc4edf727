//! Messages of an editor as they come in, before the protocol reads them.
//!
//! In: bytes, a header and a body for each message. Out: the same bytes, but for a body that is no message: in its place
//! stands a request that is answered with what was wrong. The protocol's own reader ends at the first one, though its
//! header says where the next message begins. Where no header can be read, everything is passed on as it is.

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tower_lsp_server::jsonrpc::{Request, Response};

/// What is asked in the place of a body that is no JSON.
pub(super) const NO_JSON: &str = "switchback/no-json";
/// What is asked in the place of JSON that is no message.
pub(super) const NO_MESSAGE: &str = "switchback/no-message";

/// What follows a message.
enum Next {
    Message,
    /// Bytes without a header that can be read.
    Bytes,
    Nothing,
}

/// Passes messages on until there are no more, or nobody takes them.
pub(super) async fn pass(mut from: impl AsyncBufRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    loop {
        match one(&mut from, &mut to).await {
            Ok(Next::Message) => {}
            Ok(Next::Bytes) => {
                let _ = tokio::io::copy(&mut from, &mut to).await;
                break;
            }
            Ok(Next::Nothing) | Err(_) => break,
        }
    }
    let _ = to.shutdown().await;
}

/// Passes one message on.
async fn one(from: &mut (impl AsyncBufRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) -> std::io::Result<Next> {
    let mut header = Vec::new();
    let mut length = None;
    loop {
        let start = header.len();
        if from.read_until(b'\n', &mut header).await? == 0 {
            to.write_all(&header).await?;
            return Ok(Next::Nothing);
        }
        let line = String::from_utf8_lossy(header.get(start..).unwrap_or_default()).trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length else {
        to.write_all(&header).await?;
        return Ok(Next::Bytes);
    };
    let mut body = Vec::new();
    (&mut *from).take(length).read_to_end(&mut body).await?;
    match instead(&body) {
        Some(method) => {
            let body = format!(r#"{{"jsonrpc":"2.0","id":null,"method":"{method}"}}"#);
            to.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await?;
        }
        None => {
            to.write_all(&header).await?;
            to.write_all(&body).await?;
        }
    }
    to.flush().await?;
    Ok(Next::Message)
}

/// What is asked in the place of a body, if it is no message.
fn instead(body: &[u8]) -> Option<&'static str> {
    let is_message =
        |body| serde_json::from_slice::<Request>(body).is_ok() || serde_json::from_slice::<Response>(body).is_ok();
    if body.is_empty() || is_message(body) {
        return None;
    }
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    Some(if is_json { NO_MESSAGE } else { NO_JSON })
}
