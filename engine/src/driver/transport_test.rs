//! A transport of each side joined by a pipe in memory.

use super::tls::{COLD_AFTER, SMALL_RECORD_BYTES};
use super::*;
use crate::tls::Tls as TlsSettings;
use crate::tunnel::upgrade::Upgraded;
use bytes::Bytes;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::ReadBuf;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, DuplexStream};

/// A socket that counts writes and hides what is behind it.
struct Counted {
    socket: DuplexStream,
    writes: Arc<std::sync::Mutex<Vec<usize>>>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored_counted(cx, &[IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored_counted(cx, slices)
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl Counted {
    fn poll_write_vectored_counted(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A pipe takes one slice at a time; a socket takes all.
        let bytes: Vec<u8> = slices
            .iter()
            .flat_map(|slice| slice.iter().copied())
            .collect();
        let written = ready!(Pin::new(&mut self.socket).poll_write(cx, &bytes))?;
        self.writes.lock().unwrap().push(written);
        Poll::Ready(Ok(written))
    }
}

struct Pair {
    server: Transport<Counted>,
    client: Transport<DuplexStream>,
    writes: Arc<std::sync::Mutex<Vec<usize>>>,
}

fn tls_pair(pipe_bytes: usize) -> Pair {
    let (settings, root) = TlsSettings::self_signed_with_root(&["localhost"]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let server = ServerConnection::new(settings.config_of(None)).unwrap();
    let (near, far) = tokio::io::duplex(pipe_bytes);
    let writes = Arc::default();
    let counted = Counted {
        socket: near,
        writes: Arc::clone(&writes),
    };
    Pair {
        server: Transport::tls(counted, server.into()),
        client: Transport::tls(far, client.into()),
        writes,
    }
}

async fn shake_hands(pair: &mut Pair) {
    let Pair { server, client, .. } = pair;
    let mut nothing = Outbox::new();
    let server_side = async {
        poll_fn(|cx| server.poll_handshake(cx)).await.unwrap();
        poll_fn(|cx| server.poll_write(cx, &mut Outbox::new(), Instant::now()))
            .await
            .unwrap();
    };
    let client_side = async {
        poll_fn(|cx| client.poll_handshake(cx)).await.unwrap();
        poll_fn(|cx| client.poll_write(cx, &mut nothing, Instant::now()))
            .await
            .unwrap();
    };
    tokio::join!(server_side, client_side);
}

async fn read_some<S: AsyncRead + AsyncWrite + Unpin>(
    transport: &mut Transport<S>,
    received: &mut Vec<u8>,
) -> bool {
    let mut buffer = vec![0; 4096];
    poll_fn(|cx| {
        transport.poll_read(cx, &mut buffer, &mut |bytes| {
            received.extend_from_slice(bytes)
        })
    })
    .await
    .unwrap()
    .is_none()
}

fn outbox(bytes: &[u8]) -> Outbox {
    let mut outbox = Outbox::new();
    outbox.buffer().extend_from_slice(bytes);
    outbox
}

#[tokio::test]
async fn alpn_gives_both_sides_the_version() {
    let mut pair = tls_pair(1 << 20);
    shake_hands(&mut pair).await;
    assert_eq!(pair.server.alpn(), Some(&b"h2"[..]));
    assert_eq!(pair.client.alpn(), Some(&b"h2"[..]));
}

#[tokio::test]
async fn a_cold_connection_sends_small_records_and_a_warm_one_full_ones() {
    let mut pair = tls_pair(4 << 20);
    shake_hands(&mut pair).await;
    let now = Instant::now();
    let payload = vec![7; COLD_BYTES];
    let mut records = Vec::new();
    for _ in 0..2 {
        pair.writes.lock().unwrap().clear();
        let mut outbox = outbox(&payload);
        poll_fn(|cx| pair.server.poll_write(cx, &mut outbox, now))
            .await
            .unwrap();
        assert!(outbox.is_empty());
        records.push(pair.writes.lock().unwrap().iter().sum::<usize>() - payload.len());
    }
    // TLS 1.3: 22 bytes around each record.
    assert_eq!(records[0], payload.len().div_ceil(SMALL_RECORD_BYTES) * 22);
    assert_eq!(records[1], payload.len().div_ceil(16 * 1024) * 22);
    let mut received = Vec::new();
    while received.len() < 2 * payload.len() {
        assert!(read_some(&mut pair.client, &mut received).await);
    }
    assert!(received.iter().all(|byte| *byte == 7));
}

#[tokio::test]
async fn an_idle_connection_is_cold_again() {
    let mut pair = tls_pair(4 << 20);
    shake_hands(&mut pair).await;
    let now = Instant::now();
    for (at, size, per_record) in [
        (now, COLD_BYTES, SMALL_RECORD_BYTES),
        (now + COLD_AFTER, 8000, 16 * 1024),
        (now + 3 * COLD_AFTER, 8000, SMALL_RECORD_BYTES),
    ] {
        pair.writes.lock().unwrap().clear();
        let mut outbox = outbox(&vec![0; size]);
        poll_fn(|cx| pair.server.poll_write(cx, &mut outbox, at))
            .await
            .unwrap();
        let around = pair.writes.lock().unwrap().iter().sum::<usize>() - size;
        assert_eq!(around, size.div_ceil(per_record) * 22);
    }
}

/// Bytes of which none equals the one 251 places on, so that a loss or a swap shows.
fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[tokio::test]
async fn full_records_are_sealed_ahead_of_the_write_and_the_rest_follows_them() {
    let mut pair = tls_pair(4 << 20);
    shake_hands(&mut pair).await;
    let now = Instant::now();
    let payload = numbered(COLD_BYTES + 3 * RECORD_BYTES + 200);
    let (cold, warm) = payload.split_at(COLD_BYTES);
    let mut first = outbox(cold);
    pair.server.seal_records(&mut first, now);
    assert_eq!(first.len(), COLD_BYTES, "a cold connection's are small");
    poll_fn(|cx| pair.server.poll_write(cx, &mut first, now))
        .await
        .unwrap();
    pair.writes.lock().unwrap().clear();

    let mut second = outbox(&warm[..3 * RECORD_BYTES + 100]);
    pair.server.seal_records(&mut second, now);
    assert_eq!(second.len(), 100, "what fills no record waits for more");
    assert!(pair.writes.lock().unwrap().is_empty(), "nothing is written");
    second
        .buffer()
        .extend_from_slice(&warm[3 * RECORD_BYTES + 100..]);
    pair.server.seal_records(&mut second, now);
    assert_eq!(second.len(), 200);
    poll_fn(|cx| pair.server.poll_write(cx, &mut second, now))
        .await
        .unwrap();
    let around = pair.writes.lock().unwrap().iter().sum::<usize>() - warm.len();
    assert_eq!(around, 4 * 22, "three full records and the rest");

    let mut received = Vec::new();
    while received.len() < payload.len() {
        assert!(read_some(&mut pair.client, &mut received).await);
    }
    assert!(received == payload, "every byte once, in order");
}

#[tokio::test]
async fn large_bodies_go_out_in_writes_that_stay_near_and_small_answers_in_longer_ones() {
    let payload = numbered(5 * RECORD_BYTES);
    let now = Instant::now();
    for (is_large, longest) in [
        (true, BODY_BATCH_BYTES_MAX + 4 * 22),
        (false, 5 * (RECORD_BYTES + 22)),
    ] {
        let mut pair = tls_pair(4 << 20);
        shake_hands(&mut pair).await;
        let mut cold = outbox(&[0; COLD_BYTES]);
        poll_fn(|cx| pair.server.poll_write(cx, &mut cold, now))
            .await
            .unwrap();
        pair.writes.lock().unwrap().clear();
        let mut body = Outbox::new();
        match is_large {
            true => body.push_body(payload.clone().into()),
            false => body.buffer().extend_from_slice(&payload),
        }
        poll_fn(|cx| pair.server.poll_write(cx, &mut body, now))
            .await
            .unwrap();
        assert_eq!(pair.writes.lock().unwrap().iter().max(), Some(&longest));
        let mut received = Vec::new();
        while received.len() < COLD_BYTES + payload.len() {
            assert!(read_some(&mut pair.client, &mut received).await);
        }
        assert!(
            received[COLD_BYTES..] == payload,
            "every byte once, in order"
        );
    }
}

#[tokio::test]
async fn large_bodies_in_cleartext_go_out_in_writes_that_stay_near() {
    let payload = numbered(3 * BODY_BATCH_BYTES_MAX + 7);
    let (near, far) = tokio::io::duplex(4 << 20);
    let writes = Arc::default();
    let counted = Counted {
        socket: near,
        writes: Arc::clone(&writes),
    };
    let (mut near, mut far) = (Transport::plain(counted), Transport::plain(far));
    let mut body = outbox(b"head");
    body.push_body(payload.clone().into());
    poll_fn(|cx| near.poll_write(cx, &mut body, Instant::now()))
        .await
        .unwrap();
    let full = BODY_BATCH_BYTES_MAX;
    assert_eq!(*writes.lock().unwrap(), [full, full, full, 11]);
    let mut received = Vec::new();
    while received.len() < 4 + payload.len() {
        assert!(read_some(&mut far, &mut received).await);
    }
    assert!(received[4..] == payload, "every byte once, in order");
}

#[tokio::test]
async fn what_is_gathered_goes_out_in_one_write() {
    let mut pair = tls_pair(4 << 20);
    shake_hands(&mut pair).await;
    pair.writes.lock().unwrap().clear();
    let now = Instant::now();
    assert!(pair.server.gather(&mut outbox(b"one "), now).unwrap());
    assert!(pair.server.gather(&mut outbox(b"two"), now).unwrap());
    assert!(!pair.server.is_flushed());
    poll_fn(|cx| pair.server.poll_write(cx, &mut Outbox::new(), now))
        .await
        .unwrap();
    assert_eq!(pair.writes.lock().unwrap().len(), 1);
    let mut received = Vec::new();
    while received.len() < 7 {
        assert!(read_some(&mut pair.client, &mut received).await);
    }
    assert_eq!(received, b"one two");
}

#[tokio::test]
async fn close_notify_ends_the_peers_reading() {
    let mut pair = tls_pair(1 << 20);
    shake_hands(&mut pair).await;
    poll_fn(|cx| pair.server.poll_shutdown(cx)).await.unwrap();
    let mut received = Vec::new();
    while read_some(&mut pair.client, &mut received).await {}
    assert_eq!(received, b"");
}

#[tokio::test]
async fn an_end_of_file_without_close_notify_is_ragged_and_cleartext_has_none() {
    let (near, far) = tokio::io::duplex(1 << 20);
    drop(far);
    let end = |transport: Transport<DuplexStream>| async move {
        let mut transport = transport;
        let mut buffer = vec![0; 4096];
        poll_fn(|cx| transport.poll_read(cx, &mut buffer, &mut |_| {})).await
    };
    let ended = end(Transport::plain(near)).await.unwrap();
    assert_eq!(ended, Some(TransportEnd::InOrder));
    let mut pair = tls_pair(1 << 20);
    shake_hands(&mut pair).await;
    drop(pair.server);
    let mut ended = None;
    while ended.is_none() {
        let mut buffer = vec![0; 4096];
        ended = poll_fn(|cx| pair.client.poll_read(cx, &mut buffer, &mut |_| {}))
            .await
            .unwrap();
    }
    assert_eq!(ended, Some(TransportEnd::Ragged));
}

#[tokio::test]
async fn bytes_of_a_tunnel_in_front_of_a_bad_record_are_read_before_its_error() {
    let mut pair = tls_pair(1 << 20);
    shake_hands(&mut pair).await;
    let mut bytes = outbox(b"bytes");
    poll_fn(|cx| pair.server.poll_write(cx, &mut bytes, Instant::now()))
        .await
        .unwrap();
    // Both records come in one read.
    let bad_record = [&[23, 3, 3, 0, 32][..], &[0; 32]].concat();
    let socket = &mut pair.server.socket.socket;
    socket.write_all(&bad_record).await.unwrap();
    let mut tunnel = Upgraded::new(pair.client, &Bytes::new());
    let mut received = [0; 16];
    assert_eq!(tunnel.read(&mut received).await.unwrap(), 5);
    assert_eq!(&received[..5], b"bytes");
    for _ in 0..2 {
        let error = tunnel.read(&mut received).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}

#[tokio::test]
async fn bytes_that_are_not_tls_are_answered_with_an_alert() {
    let (settings, _) = TlsSettings::self_signed_with_root(&["localhost"]).unwrap();
    let server = ServerConnection::new(settings.config_of(None)).unwrap();
    let (near, mut far) = tokio::io::duplex(4096);
    let mut server = Transport::tls(near, server.into());
    far.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let failed = poll_fn(|cx| server.poll_handshake(cx)).await;
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::InvalidData);
    let mut record = [0; 7];
    far.read_exact(&mut record).await.unwrap();
    assert_eq!(record[0], 21, "an alert record");
}

#[tokio::test]
async fn a_stream_that_buffers_is_flushed_behind_what_is_written() {
    let (near, mut far) = tokio::io::duplex(64);
    let mut transport = Transport::plain(BufWriter::new(near));
    let (sent, mut received) = (numbered(1000), vec![0; 1000]);
    let mut waiting = outbox(&sent);
    let write = async {
        let now = Instant::now();
        poll_fn(|cx| transport.poll_write(cx, &mut waiting, now)).await
    };
    let (written, read) = tokio::join!(write, far.read_exact(&mut received));
    written.unwrap();
    read.unwrap();
    assert_eq!(received, sent);
    assert!(transport.is_flushed());
}

#[tokio::test]
async fn cleartext_passes_through_a_pipe_of_one_byte() {
    let (near, far) = tokio::io::duplex(1);
    let (mut near, mut far) = (Transport::plain(near), Transport::plain(far));
    let mut outbox = outbox(b"hello");
    let mut received = Vec::new();
    let writing = poll_fn(|cx| near.poll_write(cx, &mut outbox, Instant::now()));
    let reading = async {
        while received.len() < 5 {
            assert!(read_some(&mut far, &mut received).await);
        }
    };
    let (written, ()) = tokio::join!(writing, reading);
    written.unwrap();
    assert_eq!(received, b"hello");
}

#[tokio::test]
async fn a_handshake_passes_through_a_pipe_of_one_byte() {
    let Pair {
        mut server,
        mut client,
        ..
    } = tls_pair(1);
    let mut hello = outbox(b"hello");
    let server_side = async {
        poll_fn(|cx| server.poll_handshake(cx)).await.unwrap();
        // The session tickets go first.
        poll_fn(|cx| server.poll_write(cx, &mut hello, Instant::now()))
            .await
            .unwrap();
    };
    let client_side = async {
        poll_fn(|cx| client.poll_handshake(cx)).await.unwrap();
        poll_fn(|cx| client.poll_write(cx, &mut Outbox::new(), Instant::now()))
            .await
            .unwrap();
        let mut received = Vec::new();
        while received.len() < 5 {
            assert!(read_some(&mut client, &mut received).await);
        }
        received
    };
    let both = async { tokio::join!(server_side, client_side) };
    let patience = Duration::from_secs(20);
    let ((), received) = tokio::time::timeout(patience, both)
        .await
        .expect("each side waits for the other");
    assert_eq!(received, b"hello");
}
