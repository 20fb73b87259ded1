//! Decoding of header blocks.

use crate::error::Violation;
use crate::http::Fields;
use crate::limits::Limits;

/// The decoder of one connection.
#[derive(Debug)]
pub struct Decoder {}

/// What a decoded block is good for: the table is in step in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// The fields are complete.
    Complete,
    /// The block broke a limit (a stream error): the table was kept in step, the fields are not
    /// to be used.
    Refused(Violation),
}

impl Decoder {
    /// A decoder whose table holds at most `table_bytes_max` (what we advertise).
    pub fn new(table_bytes_max: usize) -> Self {
        let _ = table_bytes_max;
        Self {}
    }
    /// Decodes one whole block into `fields` (cleared first). `Err` is
    /// [`Violation::CompressionInvalid`]: a connection error.
    pub fn decode(
        &mut self,
        block: &[u8],
        limits: &Limits,
        fields: &mut Fields,
    ) -> Result<Decoded, Violation> {
        let _ = (block, limits, fields);
        todo!()
    }
}
