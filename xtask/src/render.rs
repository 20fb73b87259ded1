//! Renders the committed files that come from a table.

mod channel;
pub(crate) mod coming_from;
mod differences;
mod entries;
pub(crate) mod generated;
pub(crate) mod options;
pub(crate) mod promises;

/// A file's path from the root, and its text.
pub(crate) type File = (String, String);
