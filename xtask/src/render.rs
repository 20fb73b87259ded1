//! Renders the committed files that come from a table.

mod channel;
pub(crate) mod generated;
pub(crate) mod promises;
