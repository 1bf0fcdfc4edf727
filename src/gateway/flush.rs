//! Knows when all that was written to a client has left this process.
//!
//! A stream that breaks has to end without its terminating chunk, and after its error event. hyper drops what it has
//! buffered when a body fails, so the body must not fail before the buffer is empty. hyper flushes the connection exactly
//! then, and a connection wrapped in `Watched` notes it. Never touches the bytes.

use hyper::rt::{Read, ReadBufCursor, Write};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// One connection's flushes.
#[derive(Clone, Debug, Default)]
pub struct Flushes(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    /// Nobody asks.
    #[default]
    Idle,
    /// Somebody waits for the next flush.
    Asked(Waker),
    /// It happened.
    Done,
}

impl Flushes {
    /// Ready at the first flush after the first call.
    pub fn poll_next(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Done => {
                *state = State::Idle;
                Poll::Ready(())
            }
            State::Idle | State::Asked(_) => {
                *state = State::Asked(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn happened(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Asked(waker) = std::mem::take(&mut *state) {
            *state = State::Done;
            waker.wake();
        }
    }
}

/// A connection whose flushes are noted.
#[derive(Debug)]
pub struct Watched<T> {
    io: T,
    flushes: Flushes,
}

impl<T> Watched<T> {
    /// Wraps a connection.
    pub fn new(io: T) -> (Self, Flushes) {
        let flushes = Flushes::default();
        (Self { io, flushes: flushes.clone() }, flushes)
    }
}

impl<T: Read + Unpin> Read for Watched<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: Write + Unpin> Write for Watched<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.flushes.happened();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
    }
}
