//! Writes a qlog file of QUIC packets sent, received and lost, and of the congestion window. Events
//! of one connection carry its first peer connection id as their group.

use crate::error::Error;
use quinn_proto::{QlogConfig, QlogStream};
use std::fmt;
use std::fs::File;
use std::io::LineWriter;
use std::path::Path;

/// An open log. Clones write to the same file.
#[derive(Clone)]
pub(crate) struct Qlog(pub(in crate::driver::quic) QlogStream);

impl Qlog {
    /// Makes the file, or empties it.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let unusable = || Error::config(format!("the qlog {} cannot be written", path.display()));
        let file = File::create(path).map_err(|error| unusable().with_source(error))?;
        // A line at a time: who debugs may kill the process.
        let mut config = QlogConfig::default();
        config
            .writer(Box::new(LineWriter::new(file)))
            .title(Some("trunkline".to_owned()));
        config.into_stream().map(Self).ok_or_else(unusable)
    }
}

impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Qlog")
    }
}
