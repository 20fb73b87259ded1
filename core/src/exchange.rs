//! HTTP exchanges on a connection, whatever frames carry them: the part of a machine that HTTP/2 and
//! HTTP/3 have in common. Framing, flow control and streams are in `h2` and `h3`.

mod deadlines;
mod framing;
mod session;

pub(crate) use deadlines::{Pressure, SendClock, Timed};
pub(crate) use framing::Framing;
pub(crate) use session::Session;
