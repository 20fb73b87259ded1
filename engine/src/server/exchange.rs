//! The interface between a connection and its source of responses, and what both know of an exchange:
//! the connection's context, the memory that is used again, and the peer's control messages.

pub(super) mod context;
pub(super) mod control;
pub(super) mod forwarding;
pub(super) mod info_policy;
pub(super) mod request;
pub(super) mod scratch;
pub(super) mod send;
pub(super) mod serve;
pub(super) mod targets;
pub(super) mod turn;
