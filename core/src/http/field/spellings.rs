//! The original spelling of an HTTP/1.1 section's field names.

/// Names as they were spelled.
#[derive(Clone, Copy, Debug)]
pub struct Spellings<'a>(&'a [u8]);

impl<'a> Spellings<'a> {
    /// `bytes`: a zero behind each.
    pub(in crate::http) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Spellings<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let name = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(name)
    }
}
