//! Providers over HTTP: the only file that names reqwest and rustls.
//!
//! In: an `Outgoing`. Out: an `Incoming`, or a `Fault` that says how far the call had come. One client per provider, so
//! that connect timeouts differ and one provider's pool is not another's. No redirects, no proxies from the
//! environment, no decompression, no retries: each of them would be a call that no policy decided.

use super::{Body, Calling, HeaderList, Incoming, Left, Outgoing, Upstream};
use crate::classify::Fault;
use crate::policy::Millis;
use bytes::Bytes;
use futures_util::{StreamExt, TryFutureExt};
use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// A provider over HTTP.
pub struct Http {
    client: reqwest::Client,
    /// Read once: each call would read it anew.
    url: reqwest::Url,
}

/// Connections that nobody has used for so long are closed. Common servers keep them for 60 to 75 seconds; a shorter
/// time here makes it rare that a call meets a connection that the other side is just closing.
const POOL_IDLE: Duration = Duration::from_secs(50);

impl Http {
    /// A client for one address, with a pool of its own.
    ///
    /// # Errors
    /// When the address is none, or the system has no usable certificates; a provider in the clear does without them.
    pub fn new(url: &str, timeout_connect: Millis) -> Result<Http, String> {
        let url = reqwest::Url::parse(url).map_err(|error| format!("is no address: {error}"))?;
        // The second installation fails, and that is the point: there is one provider for the process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(timeout_connect.duration())
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .referer(false)
            .tcp_nodelay(true)
            .http1_only()
            .pool_idle_timeout(POOL_IDLE)
            .user_agent(concat!("switchback/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        let client =
            builder.build().map_err(|error| format!("needs TLS, which this system cannot do: {}", chain(&error)))?;
        Ok(Http { client, url })
    }
}

impl Upstream for Http {
    fn call(&self, outgoing: Outgoing) -> Calling {
        let left = outgoing.left.clone();
        let body = Leaving { bytes: Some(outgoing.body), left: outgoing.left };
        let mut request = self.client.post(self.url.clone()).body(reqwest::Body::wrap(body));
        for (name, value) in &outgoing.headers {
            request = request.header(name, value.expose());
        }
        Box::pin(request.send().map_ok(incoming).map_err(move |error| before_headers(error, &left)))
    }
}

/// A body that tells when it leaves: it is asked for when there is a connection to write it to.
struct Leaving {
    bytes: Option<Bytes>,
    left: Left,
}

impl hyper::body::Body for Leaving {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        self.left.set();
        Poll::Ready(self.bytes.take().map(|bytes| Ok(hyper::body::Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        let len = self.bytes.as_ref().map_or(0, Bytes::len);
        hyper::body::SizeHint::with_exact(u64::try_from(len).unwrap_or(u64::MAX))
    }
}

fn incoming(response: reqwest::Response) -> Incoming {
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let headers = headers.filter_map(|(n, v)| Some((n.as_str().to_owned(), v.to_str().ok()?.to_owned()))).collect();
    let body: Body = Box::pin(response.bytes_stream().map(|piece| {
        piece.map_err(|error| {
            tracing::debug!(why = chain(&error), "an answer broke off");
            // Whether output was forwarded is not known here.
            Fault::BodyReset { output: false }
        })
    }));
    Incoming { status, headers: HeaderList(headers), body }
}

/// What went wrong before there were headers. Only a failed connection is sure not to have carried the request.
fn before_headers(error: reqwest::Error, left: &Left) -> Fault {
    let error = error.without_url();
    tracing::debug!(why = chain(&error), "a call failed before headers");
    if error.is_dns() {
        Fault::Dns
    } else if error.is_connect() && error.is_timeout() {
        Fault::ConnectTimeout
    } else if error.is_connect() {
        if chain_holds(&error, |cause| cause.is::<rustls::Error>()) { Fault::Tls } else { Fault::Refused }
    } else if error.is_builder() {
        Fault::Other { sent: false }
    } else if chain_holds(&error, |cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)) {
        Fault::NotHttp
    } else {
        Fault::ResetBeforeHeaders { sent: left.is_set() }
    }
}

/// Whether one of an error's causes is such. An I/O error may carry another that its own `source` does not show.
fn chain_holds(error: &(dyn Error + 'static), such: impl Fn(&(dyn Error + 'static)) -> bool) -> bool {
    let mut next = Some(error);
    while let Some(cause) = next {
        if such(cause) {
            return true;
        }
        next = match cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    false
}

/// An error and its causes in one line; addresses were taken out before.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
