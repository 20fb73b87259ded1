//! Checks beyond the ordinary tests, each a command of its own.

pub(crate) mod apps;
pub(crate) mod attacks;
pub(crate) mod conform;
pub(crate) mod features;
pub(crate) mod flake;
pub(crate) mod fuzz;
pub(crate) mod mutants;
pub(crate) mod public_api;
pub(crate) mod release;
pub(crate) mod sanitize;
