//! Takes connections and drains them.
//!
//! In: a listener, a router, and a future that says when to stop. Out: connections served over HTTP/1.1 with limits on
//! their heads and on clients that stop reading, and at the end a bounded time for those that still run. Knows nothing
//! of what it serves.

use super::link::Watched;
use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower_service::Service;

/// Most that is held of a connection in either direction, in bytes. A head that does not fit into it is answered by a
/// bare 431; those who answer refuse long heads before that, and in their own words.
const BUFFER: usize = 128 * 1024;
/// Pause after a connection that could not be taken, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long clients are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a whole head; the next one counts from the answer before it, so idle connections end by this too.
    pub head: Duration,
    /// For a client that takes nothing of what is to be written to it.
    pub stall: Duration,
    /// For requests that run when the end comes.
    pub drain: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        let [head, stall, drain] = [30, 120, 10].map(Duration::from_secs);
        Patience { head, stall, drain }
    }
}

/// Serves until `stop` comes true, then lets running requests finish. Returns how many connections were cut off.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>, patience: Patience) -> usize {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            taken = listener.accept() => match taken {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, router.clone(), patience, graceful.watcher()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(patience.drain, graceful.shutdown()).await;
    while connections.try_join_next().is_some() {}
    let left = connections.len();
    // Dropping a connection tells its request that the client has gone, which ends it in order and writes its record.
    connections.shutdown().await;
    left
}

async fn connection(stream: TcpStream, router: Router, patience: Patience, watcher: Watcher) {
    let _ = stream.set_nodelay(true);
    let (io, link) = Watched::new(stream, patience.stall);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(link.clone());
        let mut router = router.clone();
        async move {
            let answer: Result<_, Infallible> = router.call(request.map(Body::new)).await;
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_buf_size(BUFFER)
        .serve_connection(io, service);
    // A connection ends in error whenever a client leaves or a stream breaks: the request's own record tells of it.
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended");
    }
}
