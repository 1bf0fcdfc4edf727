//! The body of a stream: pieces as they come, and an end that cannot be mistaken.
//!
//! In: the pieces of a running request. Out: a body that ends in order only after `Piece::End`. After a break it sends
//! the error event, waits until that has left the process, and fails: a chunked body then stays open-ended, and a body
//! that ends with its connection (HTTP/1.0) ends by a reset.

use super::error::ClientError;
use super::link::Link;
use crate::runtime::reply::{Piece, Pieces};
use bytes::Bytes;
use futures_util::Stream;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// A client that does not read may keep a broken stream from being flushed; it is cut off after so long.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// A stream of events.
pub struct Events {
    request_id: String,
    link: Option<Link>,
    state: State,
}

enum State {
    Running(Pieces),
    Breaking(Pin<Box<tokio::time::Sleep>>),
    Over,
}

impl Events {
    /// The stream of a request's pieces on a connection.
    pub fn new(request_id: String, pieces: Pieces, link: Option<Link>) -> Events {
        Events { request_id, link, state: State::Running(pieces) }
    }

    fn breaking(&mut self) {
        self.state = State::Breaking(Box::pin(tokio::time::sleep(FLUSH_TIMEOUT)));
    }
}

impl Stream for Events {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            match &mut self.state {
                State::Running(pieces) => match std::task::ready!(pieces.poll_recv(cx)) {
                    Some(Piece::Events(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                    Some(Piece::End) => {
                        self.state = State::Over;
                        if let Some(link) = &self.link {
                            link.complete();
                        }
                    }
                    Some(Piece::Broken(refused, said)) => {
                        let event = ClientError::refused(&refused, said.as_deref()).event(&self.request_id);
                        self.breaking();
                        return Poll::Ready(Some(Ok(event)));
                    }
                    None => self.breaking(),
                },
                State::Breaking(late) => {
                    let late = late.as_mut().poll(cx).is_ready();
                    let flushed = self.link.as_ref().is_none_or(|l| l.poll_flushed(cx).is_ready());
                    if !late && !flushed {
                        return Poll::Pending;
                    }
                    self.state = State::Over;
                    return Poll::Ready(Some(Err(io::Error::other("the stream is broken"))));
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::{Refused, Why};
    use crate::policy::Class;
    use futures_util::StreamExt;
    use tokio::sync::mpsc;

    fn refused() -> Refused {
        Refused {
            status: 502,
            why: Why::Class(Class::PartialStream),
            attempt: Some(1),
            retry_after: None,
            answered: true,
            ours: false,
        }
    }

    async fn all(pieces: Vec<Piece>) -> (String, bool) {
        let (near, far) = mpsc::channel(8);
        for piece in pieces {
            near.send(piece).await.unwrap();
        }
        drop(near);
        let (mut text, mut broken) = (String::new(), false);
        let mut events = Events::new("sb-1".into(), far, None);
        while let Some(item) = events.next().await {
            match item {
                Ok(bytes) => text.push_str(std::str::from_utf8(&bytes).unwrap()),
                Err(_) => broken = true,
            }
        }
        (text, broken)
    }

    #[tokio::test]
    async fn only_an_end_ends_in_order() {
        assert_eq!(all(vec![Piece::Events("data: 1\n\n".into()), Piece::End]).await, ("data: 1\n\n".into(), false));
        assert_eq!(all(vec![Piece::Events("data: 1\n\n".into())]).await, ("data: 1\n\n".into(), true));
    }

    #[tokio::test]
    async fn a_break_is_told_and_then_fails() {
        let (text, broken) = all(vec![Piece::Broken(refused(), None)]).await;
        assert!(broken);
        assert!(text.starts_with("data: {\"error\":") && text.contains("\"partial-stream\""), "{text}");
        assert!(!text.contains("[DONE]"));
    }
}
