use super::*;
use crate::runtime::upstream::Secret;
use bytes::Bytes;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Somebody who reads something, says something and hangs up.
async fn says(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut buffer = [0; 4096];
            let _ = socket.read(&mut buffer).await;
            let _ = socket.write_all(text.as_bytes()).await;
        }
    });
    address
}

async fn call(scheme: &str, address: SocketAddr) -> Result<Incoming, Fault> {
    let http = Http::new(&format!("{scheme}://{address}/v1/chat/completions"), Millis(2_000)).unwrap();
    let outgoing = Outgoing {
        headers: vec![("authorization".into(), Secret::new("Bearer k"))],
        body: Bytes::from_static(b"{}"),
        target: "t".into(),
        left: Left::default(),
    };
    http.call(outgoing).await
}

async fn fault(scheme: &str, address: SocketAddr) -> Fault {
    match call(scheme, address).await {
        Ok(incoming) => panic!("{}", incoming.status),
        Err(fault) => fault,
    }
}

#[tokio::test]
async fn a_fault_says_how_far_the_call_had_come() {
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(fault("http", nobody).await, Fault::Refused);
    assert_eq!(fault("http", says("").await).await, Fault::ResetBeforeHeaders { sent: true });
    assert_eq!(fault("http", says("good morning\r\n\r\n").await).await, Fault::NotHttp);
    assert_eq!(fault("https", says("HTTP/1.1 400 No TLS here\r\n\r\n").await).await, Fault::Tls);
}

#[tokio::test]
async fn redirects_and_encodings_are_handed_on_and_not_followed() {
    let address = says("HTTP/1.1 307 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-encoding: gzip\r\n\r\nbytes").await;
    let mut incoming = call("http", address).await.unwrap();
    assert_eq!(incoming.status, 307);
    assert_eq!(incoming.body.next().await.unwrap().unwrap(), "bytes");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_a_fault_and_no_end() {
    let mut incoming = call("http", says("HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nhalf").await).await.unwrap();
    assert_eq!(incoming.body.next().await.unwrap().unwrap(), "half");
    assert_eq!(incoming.body.next().await, Some(Err(Fault::BodyReset { output: false })));
}
