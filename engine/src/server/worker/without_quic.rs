//! In place of the module `quic` where the feature `http3` is off: types without values.

#[cfg(unix)]
pub(super) use self::NoQuicHandOver as QuicHandOver;
pub(in crate::server) use self::{
    NoQuic as Quic, NoQuicListener as QuicListener, NoQuicSetup as QuicSetup,
};

use crate::driver::machine::qlog::Qlog;
use crate::driver::signals::Signals;
use crate::error::Error;
use crate::server::connection::accept::WorkerContext;
use crate::server::registry::OpenConnections;
#[cfg(unix)]
use crate::server::worker::generations::QuicWorkerSockets;
use crate::tls::Tls;
use std::convert::Infallible;
use std::future::Ready;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::sync::Arc;
use trunkline_core::limits::Config;

/// The endpoint of a worker.
pub(in crate::server) enum NoQuicSetup {}

/// HTTP/3 to be.
pub(in crate::server) struct NoQuic {
    pub(in crate::server) address: SocketAddr,
    never: Infallible,
}

impl NoQuic {
    pub(in crate::server) fn setups(
        self,
        _: &Tls,
        _: &Config,
        _: Option<&Qlog>,
    ) -> Result<Vec<NoQuicSetup>, Error> {
        match self.never {}
    }
}

/// The task of an endpoint.
pub(in crate::server) struct NoQuicListener<S> {
    never: Infallible,
    _service: PhantomData<S>,
}

impl<S> NoQuicListener<S> {
    pub(in crate::server) fn new(
        setup: NoQuicSetup,
        _: WorkerContext<S>,
        _: Arc<OpenConnections>,
        _: Arc<Signals>,
    ) -> io::Result<Self> {
        match setup {}
    }
    pub(super) fn serve(self) -> Ready<()> {
        match self.never {}
    }
    #[cfg(unix)]
    pub(super) fn hand_over(&self) -> NoQuicHandOver {
        match self.never {}
    }
}

/// The way to hand its socket over.
#[cfg(unix)]
pub(super) struct NoQuicHandOver {
    never: Infallible,
}

#[cfg(unix)]
impl NoQuicHandOver {
    pub(super) fn sockets(&self) -> io::Result<QuicWorkerSockets> {
        match self.never {}
    }
    pub(super) fn begin(&self) {
        match self.never {}
    }
}
