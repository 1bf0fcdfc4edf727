//! A TCP connection that can be ended by a reset.
//!
//! In: an accepted connection and a flag. Out: the same connection; if the flag is up when it is dropped, its end is a
//! TCP reset instead of an orderly close. Never looks at what goes through.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Says that a connection is to end by a reset.
#[derive(Clone, Debug, Default)]
pub struct Reset(Arc<AtomicBool>);

impl Reset {
    /// From now on the connection's end is a reset.
    pub fn demand(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_demanded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The connection.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    reset: Reset,
}

impl Socket {
    /// Takes an accepted connection.
    pub fn new(stream: TcpStream, reset: Reset) -> Socket {
        Socket { stream, reset }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.reset.is_demanded() {
            // Without a linger time the close throws away what is queued and sends a reset.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.reset.is_demanded() {
            // An orderly end sent first would be what the client sees.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
