//! The ways from a client to a server.

use http::Version;

/// A version, and whether it is under TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    H1,
    H1Tls,
    H2c,
    H2Tls,
    H3,
    /// Over a path that loses and delays packets.
    H3Lossy,
}

impl Way {
    pub(crate) fn is_h1(self) -> bool {
        self.version() == Version::HTTP_11
    }
    pub(crate) fn is_tls(self) -> bool {
        !matches!(self, Self::H1 | Self::H2c)
    }
    pub(crate) fn version(self) -> Version {
        match self {
            Self::H1 | Self::H1Tls => Version::HTTP_11,
            Self::H2c | Self::H2Tls => Version::HTTP_2,
            Self::H3 | Self::H3Lossy => Version::HTTP_3,
        }
    }
    pub(crate) fn url(self, port: u16, id: u64) -> String {
        let scheme = if self.is_tls() { "https" } else { "http" };
        format!("{scheme}://localhost:{port}/{id}")
    }
}
