//! Encodes frames of HTTP/2 by hand, so that malformed ones can be sent too.

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// `GET /` and `POST /`, without the dynamic table.
pub(crate) const GET: &[u8] = &[0x82, 0x86, 0x84, 0x01, 1, b'a'];
pub(crate) const POST: &[u8] = &[0x83, 0x86, 0x84, 0x01, 1, b'a'];
/// `:status: 200`.
pub(crate) const OK: &[u8] = &[0x88];

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;
pub(crate) const ALTSVC: u8 = 10;
pub(crate) const PRIORITY_UPDATE: u8 = 16;

/// Settings by their identifiers (RFC 9113 section 6.5.2).
pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}
pub(crate) fn data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, bytes)
}
pub(crate) fn headers(stream: u32, block: &[u8], end: bool) -> Vec<u8> {
    let flags = END_HEADERS | (u8::from(end) * END_STREAM);
    frame(HEADERS, flags, stream, block)
}
pub(crate) fn continuation(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(CONTINUATION, 0, stream, bytes)
}
pub(crate) fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}
pub(crate) fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes())
}
pub(crate) fn settings(values: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (name, value) in values {
        payload.extend(name.to_be_bytes());
        payload.extend(value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}
pub(crate) fn settings_ack() -> Vec<u8> {
    frame(SETTINGS, 1, 0, &[])
}
pub(crate) fn ping() -> Vec<u8> {
    frame(PING, 0, 0, &[1; 8])
}
pub(crate) fn goaway(last: u32, code: u32) -> Vec<u8> {
    let payload = [last.to_be_bytes(), code.to_be_bytes()].concat();
    frame(GOAWAY, 0, 0, &payload)
}
/// A field without Huffman coding and without the dynamic table (RFC 7541 section 6.2.2). Name and
/// value are shorter than 127 bytes.
pub(crate) fn field(name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut field = vec![0, name.len() as u8];
    field.extend(name);
    field.push(value.len() as u8);
    field.extend(value);
    field
}
/// One entry of almost the whole table of 4 KiB, and `count` references to it of a byte each.
pub(crate) fn bomb(count: usize) -> Vec<u8> {
    let mut block = vec![0x40, 1, b'a', 0x7f, 0x80 + 0x51, 0x1d];
    block.extend([b'x'; 3920]);
    block.resize(block.len() + count, 0xbe);
    block
}
