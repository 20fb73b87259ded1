//! A gRPC server of HTTP/2 frames: its first connection plays a script for the first call, every other call is answered.

use bytes::{BufMut, BytesMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One step of a script, on the stream of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// GOAWAY with the last stream and the code.
    GoAway(u32, u32),
    Reset(u32),
    Head,
    Message,
    /// The first half of a message.
    HalfMessage,
    Trailers,
    /// The end of the connection in order, or by a reset of TCP.
    Fin,
    Abort,
}

/// Bytes before the first frame of a client (RFC 9113 section 3.4).
const PREFACE_BYTES: usize = 24;
const FRAME_HEAD_BYTES: usize = 9;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
/// A message of five bytes with its prefix.
const MESSAGE: &[u8] = b"\0\0\0\0\x05first";

fn frame(out: &mut BytesMut, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.put_uint(payload.len() as u64, 3);
    out.put_slice(&[kind, flags]);
    out.put_u32(stream);
    out.put_slice(payload);
}

impl Step {
    fn frame(self, out: &mut BytesMut, stream: u32) {
        match self {
            Self::GoAway(last, code) => {
                let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
                frame(out, 7, 0, 0, &payload);
            }
            Self::Reset(code) => frame(out, 3, 0, stream, &code.to_be_bytes()),
            // `:status` 200 by its index, then content-type.
            Self::Head => frame(out, 1, 4, stream, b"\x88\x0f\x10\x10application/grpc"),
            Self::Message => frame(out, 0, 0, stream, MESSAGE),
            Self::HalfMessage => frame(out, 0, 0, stream, &MESSAGE[..7]),
            Self::Trailers => frame(out, 1, 5, stream, b"\0\x0bgrpc-status\x010"),
            Self::Fin | Self::Abort => {}
        }
    }
}

/// A listening server of a script.
pub(super) struct Scripted {
    pub(super) url: String,
    /// Calls that it has received, on all connections.
    calls: Arc<AtomicUsize>,
}

impl Scripted {
    pub(super) async fn start(script: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        tokio::spawn(async move {
            let mut script = Some(script);
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(connection(socket, script.take(), Arc::clone(&count)));
            }
        });
        Self { url, calls }
    }
    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Reads until the client leaves; a write that fails is the client's end too.
async fn connection(
    mut socket: TcpStream,
    mut script: Option<Vec<Step>>,
    calls: Arc<AtomicUsize>,
) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut input = BytesMut::new();
    let mut out = BytesMut::new();
    frame(&mut out, 4, 0, 0, &[]);
    let mut begun = false;
    loop {
        socket.write_all_buf(&mut out).await?;
        if socket.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        if !begun {
            if input.len() < PREFACE_BYTES {
                continue;
            }
            let _ = input.split_to(PREFACE_BYTES);
            begun = true;
        }
        while let Some(head) = input.first_chunk::<FRAME_HEAD_BYTES>().copied() {
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8;
            let length = length | usize::from(head[2]);
            if input.len() < FRAME_HEAD_BYTES + length {
                break;
            }
            let payload = input.split_to(FRAME_HEAD_BYTES + length);
            let (kind, flags) = (head[3], head[4]);
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            match (kind, flags & ACK) {
                (4, 0) => frame(&mut out, 4, ACK, 0, &[]),
                (6, 0) => frame(&mut out, 6, ACK, 0, &payload[FRAME_HEAD_BYTES..]),
                (0 | 1, END_STREAM) => {
                    calls.fetch_add(1, Ordering::SeqCst);
                    let steps = script.take();
                    let answer = || vec![Step::Head, Step::Message, Step::Trailers];
                    for step in steps.unwrap_or_else(answer) {
                        step.frame(&mut out, stream);
                        match step {
                            Step::Fin => {
                                socket.write_all_buf(&mut out).await?;
                                socket.shutdown().await?;
                            }
                            Step::Abort => {
                                socket.write_all_buf(&mut out).await?;
                                // The linger of 0 makes the end a reset.
                                return socket.set_zero_linger();
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
