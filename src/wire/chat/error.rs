//! Errors in the dialect's shape, as a body and as the last event of a stream.
//!
//! In: what the client is told. Out: bytes. Who decides what is told decides it elsewhere.

use bytes::Bytes;
use serde::Serialize;

#[derive(Serialize)]
struct Envelope<'a> {
    error: Inner<'a>,
}

#[derive(Serialize)]
struct Inner<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: &'a str,
    request_id: &'a str,
}

/// An error as a body: `{"error":{"message","type","param","code","request_id"}}`.
pub fn body(message: &str, kind: &str, param: Option<&str>, code: &str, request_id: &str) -> Vec<u8> {
    let envelope = Envelope { error: Inner { message, r#type: kind, param, code, request_id } };
    // Strings and nothing else cannot fail to be written.
    serde_json::to_vec(&envelope).unwrap_or_default()
}

/// An error as an event of a stream.
pub fn event(message: &str, kind: &str, param: Option<&str>, code: &str, request_id: &str) -> Bytes {
    let mut bytes = b"data: ".to_vec();
    bytes.extend(body(message, kind, param, code, request_id));
    bytes.extend(b"\n\n");
    bytes.into()
}

/// The `type` that goes with a status.
pub fn kind(status: u16) -> &'static str {
    match status {
        400..=499 => "invalid_request_error",
        _ => "server_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_the_message_holds() {
        let event = event("two\nlines \"quoted\"", kind(503), None, "overloaded", "r-1");
        let text = std::str::from_utf8(&event).unwrap();
        assert_eq!(
            text,
            "data: {\"error\":{\"message\":\"two\\nlines \\\"quoted\\\"\",\"type\":\"server_error\",\"param\":null,\
             \"code\":\"overloaded\",\"request_id\":\"r-1\"}}\n\n"
        );
    }
}
