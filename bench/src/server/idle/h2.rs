//! A minimal HTTP/2 client that opens a connection, sends one GET, takes the response and then
//! rests.

use crate::scenario::Scenario;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEAD_BYTES: usize = 9;
/// RFC 9113 section 6.5.2: no peer may send us more in one frame, as we raise no setting.
const PAYLOAD_BYTES_MAX: usize = 16_384;
/// Frames before the answer's end; a peer that sends more is not going to answer.
const FRAMES_MAX: usize = 64;

const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;
const SETTINGS: u8 = 0x4;
const GOAWAY: u8 = 0x7;
const END_STREAM: u8 = 0x1;
const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

/// Sends the GET on stream 1 and reads to the end of its answer.
///
/// # Errors
/// When the peer ends the connection or does not answer with status 200.
pub(crate) async fn get_once(
    socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
    scheme_is_https: bool,
) -> Result<(), String> {
    let mut first = PREFACE.to_vec();
    push_frame(&mut first, SETTINGS, 0, 0, &[]);
    push_frame(
        &mut first,
        HEADERS,
        END_STREAM | END_HEADERS,
        1,
        &head(scheme_is_https),
    );
    socket
        .write_all(&first)
        .await
        .map_err(|error| error.to_string())?;
    let mut payload = vec![0; PAYLOAD_BYTES_MAX];
    for _ in 0..FRAMES_MAX {
        let mut frame = [0; FRAME_HEAD_BYTES];
        socket
            .read_exact(&mut frame)
            .await
            .map_err(|error| error.to_string())?;
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]) as usize;
        let (kind, flags) = (frame[3], frame[4]);
        let payload = payload
            .get_mut(..length)
            .ok_or_else(|| format!("a frame of {length} bytes"))?;
        socket
            .read_exact(payload)
            .await
            .map_err(|error| error.to_string())?;
        match kind {
            SETTINGS if flags & ACK == 0 => {
                let mut answer = Vec::new();
                push_frame(&mut answer, SETTINGS, ACK, 0, &[]);
                socket
                    .write_all(&answer)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            // RFC 7541 section 6.1: 0x88 is `:status 200`; a table update may stand before it.
            HEADERS if !payload.contains(&0x88) => return Err("the answer is not a 200".into()),
            GOAWAY => return Err("the server ends the connection".into()),
            DATA | HEADERS if flags & END_STREAM != 0 => return Ok(()),
            _ => {}
        }
    }
    Err("the answer does not end".into())
}

/// A header block with static names and literal values (RFC 7541 sections 6.1 and 6.2.2).
fn head(scheme_is_https: bool) -> Vec<u8> {
    // `:method GET`, `:scheme`.
    let mut block = vec![0x82, if scheme_is_https { 0x87 } else { 0x86 }];
    for (name, value) in [(0x04, Scenario::H2c.path()), (0x01, "127.0.0.1")] {
        // Lengths below 127 are one byte, without Huffman coding.
        block.extend([name, value.len() as u8]);
        block.extend(value.as_bytes());
    }
    block
}

fn push_frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
}
