//! qlog: a file of what becomes of QUIC's packets and of the frames of HTTP/2 and HTTP/3, which qvis opens. Without the
//! feature `qlog` the types have no values, and the compiler removes what is done with them.

#[cfg(feature = "qlog")]
mod event;
#[cfg(feature = "qlog")]
mod file;
#[cfg(feature = "qlog")]
mod frames;
#[cfg(not(feature = "qlog"))]
mod without;

#[cfg(feature = "qlog")]
pub(crate) use file::Qlog;
#[cfg(feature = "qlog")]
pub(crate) use frames::FrameLog;
#[cfg(not(feature = "qlog"))]
pub(crate) use without::{NoFrameLog as FrameLog, NoQlog as Qlog};
