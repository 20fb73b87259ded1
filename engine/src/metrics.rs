//! Parts of metrics that clients and servers share: histograms and the text of OpenMetrics.

#[cfg(feature = "client")]
pub(crate) mod client;
pub(crate) mod exposition;
pub(crate) mod histogram;
#[cfg(feature = "opentelemetry")]
pub(crate) mod instruments;

use trunkline_core::http::Version;

/// The labels of versions: OpenTelemetry's values of `network.protocol.version`. HTTP/1.0 counts as 1.1.
pub(crate) const VERSIONS: [&str; 3] = ["1.1", "2", "3"];
/// The classes of statuses: the first digit of a final one, where 1xx is 101 alone.
pub(crate) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The place of a version in [`VERSIONS`].
pub(crate) fn place_of(version: Version) -> usize {
    match version {
        Version::Http10 | Version::Http11 => 0,
        Version::Http2 => 1,
        Version::Http3 => 2,
    }
}

/// The place of a status in [`CLASSES`].
pub(crate) fn class_of(status: u16) -> usize {
    usize::from((status / 100).clamp(1, 5)) - 1
}
