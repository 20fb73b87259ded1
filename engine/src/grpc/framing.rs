//! The boundaries of messages in a body: a flag, four bytes of length, the message (the specification of gRPC
//! over HTTP/2, "Length-Prefixed-Message").

/// Bytes before a message.
const PREFIX_BYTES: u8 = 5;

/// How far a body is within its messages.
#[derive(Debug, Default)]
pub(super) struct Framing {
    /// Bytes of the prefix that have come, of the message under way.
    prefix: u8,
    /// Its length as far as the prefix says it, and then the bytes that are missing.
    left: u32,
}

impl Framing {
    /// The next bytes of the body.
    pub(super) fn advance(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.prefix == 0
                && let Some((&[_, a, b, c, d], rest)) = bytes.split_first_chunk()
            {
                // Small messages come many in one piece, and each begins with its whole prefix.
                let length = u32::from_be_bytes([a, b, c, d]);
                let taken = rest.len().min(length as usize);
                self.left = length - taken as u32;
                bytes = &rest[taken..];
                self.prefix = if self.left == 0 { 0 } else { PREFIX_BYTES };
                continue;
            }
            if self.prefix < PREFIX_BYTES {
                // The first byte is the flag.
                if self.prefix > 0 {
                    self.left = self.left << 8 | u32::from(first);
                }
                self.prefix += 1;
                bytes = rest;
            } else {
                let taken = bytes.len().min(self.left as usize);
                self.left -= taken as u32;
                bytes = &bytes[taken..];
            }
            if self.prefix == PREFIX_BYTES && self.left == 0 {
                self.prefix = 0;
            }
        }
    }
    /// Whether a message has begun and is not whole.
    pub(super) fn is_within_message(&self) -> bool {
        self.prefix > 0
    }
}

#[cfg(test)]
#[path = "framing_test.rs"]
mod framing_test;
