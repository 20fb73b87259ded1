//! The server (next).
use crate::error::Error;
/// To come.
pub struct Server;
/// To come.
pub struct Running;
/// To come.
pub struct Drained;
