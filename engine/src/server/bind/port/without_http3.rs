//! In place of the module `http3` where that feature is off.

pub(super) use self::NoHttp3 as Http3Settings;

use crate::error::Error;
use crate::net::listen::PortOptions;
use crate::server::worker::generations::QuicInheritance;
use crate::server::worker::quic::Quic;
use std::net::{SocketAddr, UdpSocket};

/// No settings.
#[derive(Debug, Default)]
pub(super) struct NoHttp3 {}

impl NoHttp3 {
    #[cfg(unix)]
    pub(super) fn is_on(&self) -> bool {
        false
    }
    /// None.
    pub(super) fn sockets(
        &self,
        _: SocketAddr,
        _: usize,
        _: PortOptions,
    ) -> Result<Vec<UdpSocket>, Error> {
        Ok(Vec::new())
    }
    /// Nowhere.
    pub(super) fn served_at(
        self,
        _: SocketAddr,
        _: Vec<UdpSocket>,
        _: Option<QuicInheritance>,
    ) -> Result<Option<Quic>, Error> {
        Ok(None)
    }
}
