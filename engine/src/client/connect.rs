//! The way to an origin: its addresses and their race, proxies, and the socket.

pub(super) mod addresses;
pub(super) mod connector;
pub(super) mod lookup;
pub(super) mod proxy;
pub(super) mod race;
pub(super) mod resolve;
pub(super) mod route;
pub(super) mod socket;
