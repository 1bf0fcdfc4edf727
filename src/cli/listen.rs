//! What commands that serve have in common: an address that only this machine reaches, and the end of the process.

use std::net::{SocketAddr, ToSocketAddrs};

/// The address of `text`, if nobody but this machine reaches it.
///
/// # Errors
/// A sentence that says why not.
pub(super) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map_err(|e| format!("`{text}` is no address to listen on: {e}"))?;
    let found: Vec<SocketAddr> = found.collect();
    match found.first() {
        Some(first) if found.iter().all(|a| a.ip().is_loopback()) => Ok(*first),
        Some(_) => {
            Err(format!("`{text}` can be reached from outside; only loopback is served, such as 127.0.0.1:4000"))
        }
        None => Err(format!("`{text}` is no address to listen on")),
    }
}

/// Ends when the process is asked to end: by SIGTERM or from the keyboard. Signals are caught from the call on.
///
/// # Errors
/// When the system does not let signals be caught.
#[cfg(unix)]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}

/// Ends when the process is asked to end, from the keyboard.
///
/// # Errors
/// Never; the form is that of other systems.
#[cfg(not(unix))]
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_served() {
        assert!(loopback("127.0.0.1:0").is_ok() && loopback("[::1]:4000").is_ok());
        for bad in ["0.0.0.0:4000", "[::]:4000", "192.0.2.1:80", "4000", "127.0.0.1"] {
            assert!(loopback(bad).is_err(), "{bad}");
        }
    }
}
