//! In place of the logs where the feature `qlog` is off.

use std::time::Instant;
use trunkline_core::http::{Side, StreamId};
use trunkline_core::wire::Outbox;

/// A file that cannot be.
#[derive(Clone, Debug)]
pub(crate) enum NoQlog {}

/// A log that cannot be.
#[derive(Debug)]
pub(crate) enum NoFrameLog {}

#[allow(dead_code, reason = "some are of HTTP/3 only")]
impl NoFrameLog {
    pub(crate) fn http2(qlog: &NoQlog, _: Side) -> Box<Self> {
        match *qlog {}
    }
    pub(crate) fn http3(qlog: &NoQlog) -> Box<Self> {
        match *qlog {}
    }
    pub(crate) fn received(&mut self, _: Instant, _: &[u8]) {
        match *self {}
    }
    pub(crate) fn waiting(&mut self, _: Instant, _: &Outbox) {
        match *self {}
    }
    pub(crate) fn note_drained(&mut self, _: u64) {
        match *self {}
    }
    pub(crate) fn received_on(&mut self, _: Instant, _: StreamId, _: &[u8], _: bool) {
        match *self {}
    }
    pub(crate) fn sent_on(&mut self, _: Instant, _: StreamId, _: &[u8], _: bool) {
        match *self {}
    }
    pub(crate) fn note_packets(&self) {
        match *self {}
    }
}
