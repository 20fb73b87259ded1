//! HTTP exchanges on a connection, whatever frames carry them: the rules of RFC 9110 for one request
//! and its response, and the part of a machine that HTTP/2 and HTTP/3 have in common. Framing, flow
//! control and streams are in `h1`, `h2` and `h3`.

mod admission;
mod deadlines;
mod drain;
mod framing;
mod method;
mod receive;
mod send;
mod session;
mod stream_table;
mod verbs;

pub(crate) use admission::{
    begin_exchange, charge_reset, charge_violation, check_open, is_answered, too_large_answer,
};
pub(crate) use deadlines::{Pressure, SendClock, Timed, UNWANTED_WAIT, unwanted_deadline};
pub(crate) use drain::DrainStep;
pub(crate) use framing::Framing;
pub(crate) use method::MethodKind;
pub(crate) use receive::{MessageInput, OutOfOrder, Received, Takes, count_interim};
pub(crate) use send::{Sent, check_final, check_interim, check_trailers, count_content};
pub(crate) use session::Session;
pub(crate) use stream_table::{H2Ids, H3Ids, StreamTable};
pub(crate) use verbs::{framing_parts, session_verbs};
