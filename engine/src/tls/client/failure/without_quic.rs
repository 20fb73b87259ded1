//! In place of the module `quic` where the feature `http3` is off.

use std::error::Error;

/// No failure is of QUIC.
pub(super) fn received_alert(_: &(dyn Error + 'static)) -> Option<u8> {
    None
}
