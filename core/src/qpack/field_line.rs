//! The first bits of a section's field lines (RFC 9204 section 4.5).

/// The Base is behind the Required Insert Count (section 4.5.1.2).
pub(super) const BASE_BEHIND: u8 = 0x80;
/// Indexed Field Line (section 4.5.2).
pub(super) const INDEXED: u8 = 0x80;
pub(super) const INDEXED_STATIC: u8 = 0x40;
/// Indexed Field Line with Post-Base Index (section 4.5.3).
pub(super) const INDEXED_POST: u8 = 0x10;
pub(super) const INDEXED_POST_MASK: u8 = 0xf0;
/// Literal Field Line with Name Reference (section 4.5.4).
pub(super) const NAMED: u8 = 0x40;
pub(super) const NAMED_NEVER: u8 = 0x20;
pub(super) const NAMED_STATIC: u8 = 0x10;
/// Literal Field Line with Post-Base Name Reference (section 4.5.5): no bit but this one.
pub(super) const NAMED_POST_NEVER: u8 = 0x08;
/// Literal Field Line with Literal Name (section 4.5.6).
pub(super) const LITERAL: u8 = 0x20;
pub(super) const LITERAL_NEVER: u8 = 0x10;
