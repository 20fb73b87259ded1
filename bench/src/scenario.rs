//! What is measured: a protocol and the shape of the load, and where load and server run.

use trunkline_interop::{Cores, Endpoints};

/// A protocol with its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// HTTP/2 over TLS, 4 connections, 100 streams each.
    H2Tls,
    /// HTTP/2 with prior knowledge, the same.
    H2c,
    /// HTTP/1.1, 50 connections, one request each.
    H1,
    /// HTTP/1.1 over TLS, the same.
    H1Tls,
}

impl Scenario {
    pub(crate) const ALL: [Self; 4] = [Self::H2Tls, Self::H2c, Self::H1, Self::H1Tls];

    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::H2Tls => "h2 TLS",
            Self::H2c => "h2c",
            Self::H1 => "h1",
            Self::H1Tls => "h1 TLS",
        }
    }
    pub(crate) fn is_tls(self) -> bool {
        matches!(self, Self::H2Tls | Self::H1Tls)
    }
    pub(crate) fn is_h1(self) -> bool {
        matches!(self, Self::H1 | Self::H1Tls)
    }
    /// Connections and streams on each.
    pub(crate) fn shape(self) -> (u64, u64) {
        if self.is_h1() { (50, 1) } else { (4, 100) }
    }
    /// The port of a peer that serves it.
    pub(crate) fn port(self, endpoints: Endpoints, speaks_h1: bool) -> Option<u16> {
        match self {
            Self::H2Tls => Some(endpoints.tls),
            Self::H2c => Some(endpoints.h2c),
            Self::H1 => endpoints.h1,
            Self::H1Tls => speaks_h1.then_some(endpoints.tls),
        }
    }
}

/// Where the load runs; the server is always on the first processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Server and load on one processor: no wakes across processors, the steadier figure.
    SameCore,
    /// Server and load on two processors.
    TwoCores,
}

impl Placement {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SameCore => "same core",
            Self::TwoCores => "two cores",
        }
    }
    /// Where the load runs, of the processors this run may use.
    pub(crate) fn load_cores(self, cores: &[usize]) -> Cores {
        let core = match self {
            Self::SameCore => cores.first(),
            Self::TwoCores => cores.get(1),
        };
        core.map_or(Cores::Any, |&core| Cores::One(core))
    }
}
