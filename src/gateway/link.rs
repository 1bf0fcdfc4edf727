//! What a connection knows of itself that hyper does not tell: when all that was written has left this process, when
//! its client has stopped reading, and how it is to end.
//!
//! A stream that breaks has to end without its terminating chunk, and after its error event. hyper drops what it has
//! buffered when a body fails, so the body must not fail before the buffer is empty. hyper flushes the connection exactly
//! then, and a connection wrapped in `Watched` notes it. A client that takes nothing for too long ends its connection,
//! for hyper itself would wait for ever. Never touches the bytes.

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// One connection, as those who answer on it see it.
#[derive(Clone, Debug, Default)]
pub struct Link(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    flush: Mutex<Flush>,
    open_ended: AtomicBool,
}

#[derive(Debug, Default)]
enum Flush {
    /// Nobody asks.
    #[default]
    Idle,
    /// Somebody waits for the next flush.
    Asked(Waker),
    /// It happened.
    Done,
}

impl Link {
    /// Ready at the first flush after the first call.
    pub fn poll_flushed(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut flush = self.flush();
        match &*flush {
            Flush::Done => {
                *flush = Flush::Idle;
                Poll::Ready(())
            }
            Flush::Idle | Flush::Asked(_) => {
                *flush = Flush::Asked(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// What is being sent ends where the connection ends. Until [`Link::complete`] such an end is a TCP reset, since an
    /// orderly one would look like the end of the answer.
    pub fn open_ended(&self) {
        self.0.open_ended.store(true, Ordering::Relaxed);
    }

    /// The answer is complete: an orderly end says nothing wrong.
    pub fn complete(&self) {
        self.0.open_ended.store(false, Ordering::Relaxed);
    }

    fn ends_by_reset(&self) -> bool {
        self.0.open_ended.load(Ordering::Relaxed)
    }

    fn flushed(&self) {
        let mut flush = self.flush();
        if let Flush::Asked(waker) = std::mem::take(&mut *flush) {
            *flush = Flush::Done;
            waker.wake();
        }
    }

    fn flush(&self) -> std::sync::MutexGuard<'_, Flush> {
        self.0.flush.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is watched.
#[derive(Debug)]
pub struct Watched {
    io: TokioIo<TcpStream>,
    link: Link,
    stall: Duration,
    /// Runs while the client takes nothing of what is to be written.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    /// Wraps a connection whose client may take nothing for as long as `stall`.
    pub fn new(stream: TcpStream, stall: Duration) -> (Self, Link) {
        let link = Link::default();
        (Self { io: TokioIo::new(stream), link: link.clone(), stall, stalled: None }, link)
    }

    /// A write that had to wait, unless it has waited too long.
    fn bounded<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stall = self.stall;
        let late = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        late.as_mut().poll(cx).map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.link.ends_by_reset() {
            // Without a linger time the close is a reset.
            let _ = self.io.inner().set_zero_linger();
        }
    }
}

impl Read for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl Write for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.bounded(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.link.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.link.ends_by_reset() {
            // An orderly end sent first would be what the client sees.
            return Poll::Ready(Ok(()));
        }
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
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.bounded(cx, written)
    }
}
