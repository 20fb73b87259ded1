//! Rules about names and the English of comments.

pub(super) mod comments;
pub(super) mod names;
pub(super) mod options;
