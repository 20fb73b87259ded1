//! Encoding of header blocks.

use crate::http::{Fields, RequestHead, ResponseHead};

/// The encoder of one connection.
#[derive(Debug)]
pub struct Encoder {}

impl Encoder {
    /// An encoder with the default table of RFC 7541 section 4.2 (4,096 bytes), the cap whatever
    /// the peer offers.
    #[allow(
        clippy::new_without_default,
        reason = "a connection's state is made on purpose"
    )]
    pub fn new() -> Self {
        Self {}
    }
    /// The peer's SETTINGS_HEADER_TABLE_SIZE: takes effect with the next block, announced there.
    pub fn set_peer_table_max(&mut self, bytes: u32) {
        let _ = bytes;
        todo!()
    }
    /// Appends the block of a request.
    pub fn encode_request(&mut self, head: &RequestHead, out: &mut Vec<u8>) {
        let _ = (head, out);
        todo!()
    }
    /// Appends the block of a response: `:status`, then the regular fields. A head equal to the
    /// one before costs a comparison and a copy.
    pub fn encode_response(&mut self, head: &ResponseHead, out: &mut Vec<u8>) {
        let _ = (head, out);
        todo!()
    }
    /// Appends the block of a trailer section.
    pub fn encode_trailers(&mut self, fields: &Fields, out: &mut Vec<u8>) {
        let _ = (fields, out);
        todo!()
    }
}
