//! Rules about files, folders and imports of Rust.

pub(super) mod dead;
pub(super) mod folders;
pub(super) mod imports;
pub(super) mod language;
pub(super) mod layers;
pub(super) mod packages;
pub(super) mod sizes;
pub(super) mod timers;
