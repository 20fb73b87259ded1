//! The peer's SETTINGS, and those that it announced on an earlier connection (RFC 9114 section
//! 7.2.4.2).

use super::Settings;
use crate::error::Violation;

/// The settings that a connection follows.
///
/// Invariant: remembered ones count only until the peer's own have come.
#[derive(Debug, Default)]
pub(in crate::h3) struct PeerSettings {
    known: Option<Settings>,
    /// Client: those of the connection that the session ticket came from.
    remembered: Option<Settings>,
}

impl PeerSettings {
    /// The settings to follow: the peer's, the remembered ones, or the defaults.
    #[inline]
    pub(in crate::h3) fn get(&self) -> Settings {
        self.known.or(self.remembered).unwrap_or_default()
    }
    /// The settings that came on this connection.
    #[inline]
    pub(in crate::h3) fn known(&self) -> Option<Settings> {
        self.known
    }
    pub(in crate::h3) fn remember(&mut self, settings: Settings) {
        self.remembered = Some(settings);
    }
    /// The peer's SETTINGS came.
    ///
    /// # Errors
    /// The settings allow less than the remembered ones, under which early data was sent.
    pub(in crate::h3) fn take(&mut self, settings: Settings) -> Result<(), Violation> {
        if let Some(before) = self.remembered.take() {
            settings.check_against(&before)?;
        }
        self.known = Some(settings);
        Ok(())
    }
}
