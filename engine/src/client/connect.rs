//! Opens connections: the route to an origin, the race of its addresses, the handshake.

pub(super) mod attempt;
pub(super) mod connector;
pub(super) mod proxy;
mod quic;
mod quic_race;
mod race;
pub(super) mod resolve;
pub(super) mod route;
pub(super) mod socket;
