//! Takes connections and drains them.
//!
//! In: a listener, a router, and a future that says when to stop. Out: connections served over HTTP/1.1 with limits on
//! their heads, and at the end a bounded time for those that still run. Knows nothing of what it serves.

use super::flush::Watched;
use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tower_service::Service;

/// A head that is not complete by then ends the connection; idle connections end by it too.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest request head, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// Pause after a connection that could not be taken, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` comes true, then lets running requests finish for at most `drain`. Returns how many connections
/// were cut off.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>, drain: Duration) -> usize {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            taken = listener.accept() => match taken {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, router.clone(), graceful.watcher()));
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
    let _ = tokio::time::timeout(drain, graceful.shutdown()).await;
    while connections.try_join_next().is_some() {}
    let left = connections.len();
    // Dropping a connection tells its request that the client has gone, which ends it in order and writes its record.
    connections.shutdown().await;
    left
}

async fn connection(stream: TcpStream, router: Router, watcher: Watcher) {
    let _ = stream.set_nodelay(true);
    let (io, flushes) = Watched::new(TokioIo::new(stream));
    let service = hyper::service::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(flushes.clone());
        let mut router = router.clone();
        async move {
            let answer: Result<_, Infallible> = router.call(request.map(Body::new)).await;
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(HEAD_BYTES)
        .serve_connection(io, service);
    // A connection ends in error whenever a client leaves or a stream breaks: the request's own record tells of it.
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended");
    }
}
