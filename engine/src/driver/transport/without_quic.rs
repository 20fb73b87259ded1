//! In place of the module `quic` where the feature `http3` is off: types without values, so that the code
//! around them is the same and the compiler removes what it does with them.

use crate::connection_info::ConnectionInfo;
use crate::driver::machine::Machine;
use std::error::Error;
use std::fmt;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use trunkline_core::h3::settings::Settings;
use trunkline_core::pool::Unanswered;

pub(crate) mod config {
    pub(crate) use super::NoQuicSettings as QuicSettings;
}

pub(crate) mod rules {
    /// No QUIC, no errors of it.
    pub(crate) const NAMES: [&str; 0] = [];
}

pub(crate) mod transport {
    pub(crate) use super::NoQuicTransport as QuicTransport;
}

/// Defaults that no setter changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoQuicSettings {
    pub(crate) early_data: bool,
}

/// An end that cannot be.
#[derive(Clone, Debug)]
pub(crate) enum NoQuicLoss {}

impl fmt::Display for NoQuicLoss {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl Error for NoQuicLoss {}

/// A connection that cannot be.
#[derive(Debug)]
pub(crate) enum NoQuicTransport {}

impl NoQuicTransport {
    pub(crate) fn info(&self, _: Option<&str>) -> Option<ConnectionInfo> {
        match *self {}
    }
    pub(crate) fn remembered(&self) -> Option<Settings> {
        match *self {}
    }
    pub(crate) fn stream_window(&self) -> u32 {
        match *self {}
    }
    pub(crate) fn lost(&self) -> Option<&NoQuicLoss> {
        match *self {}
    }
    pub(crate) fn is_early(&self) -> bool {
        match *self {}
    }
    pub(crate) fn poll_read(
        &mut self,
        _: &mut Context<'_>,
        _: Instant,
        _: &mut Machine,
    ) -> Poll<bool> {
        match *self {}
    }
    pub(crate) fn read_unnotified(&mut self, _: Instant, _: &mut Machine) {
        match *self {}
    }
    pub(crate) fn poll_write(
        &mut self,
        _: &mut Context<'_>,
        _: Instant,
        _: &mut Machine,
    ) -> Poll<()> {
        match *self {}
    }
    pub(crate) fn next_deadline(&mut self) -> Option<Instant> {
        match *self {}
    }
    pub(crate) fn expire(&mut self, _: Instant, _: &mut Machine) {
        match *self {}
    }
    pub(crate) fn take_received(&mut self) -> bool {
        match *self {}
    }
    pub(crate) fn unanswered(&self) -> Option<Unanswered> {
        match *self {}
    }
    pub(crate) fn datagram_size(&mut self, _: &mut Machine) -> Option<usize> {
        match *self {}
    }
    pub(crate) fn ask(&mut self, _: &mut Machine) {
        match *self {}
    }
    pub(crate) fn round_trip(&self) -> Duration {
        match *self {}
    }
    pub(crate) fn slow_round_trip(&self) -> Duration {
        match *self {}
    }
    pub(crate) fn change_path(&mut self, _: &mut Machine) {
        match *self {}
    }
    pub(crate) fn is_done(&self, _: Instant) -> bool {
        match *self {}
    }
}
