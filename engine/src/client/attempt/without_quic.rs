//! In place of the module `quic` where the feature `http3` is off: no origin is known to serve HTTP/3, and
//! a request that allows nothing else fails.

use super::Start;
use crate::client::connect::lookup::OriginAddresses;
use crate::client::settings::Settings;
use crate::driver::quic::transport::QuicTransport;
use crate::error::Error;
use std::future::{Future, ready};
use trunkline_core::pool::Origin;

/// Always fails.
pub(super) fn establish(
    _: &Settings,
    _: &Origin,
    _: u16,
    _: Option<&OriginAddresses>,
    _: Start,
    _: bool,
) -> impl Future<Output = Result<Box<QuicTransport>, Error>> + Send + use<> {
    ready(Err(Error::config(
        "only HTTP/3 is allowed, and the crate trunkline was built without its feature http3",
    )))
}

/// Always `None`.
pub(super) fn known_port(_: &Settings, _: &Origin, _: Option<&OriginAddresses>) -> Option<u16> {
    None
}
