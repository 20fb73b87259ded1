//! Creates the machines of new connections, which share the client's memory budget and start with
//! the path measurements of earlier connections to the origin.

use super::Dispatch;
use crate::driver::machine::Machine;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::http::Side;
use trunkline_core::limits::Config;
use trunkline_core::pool::{Multiplexing, Origin};
use trunkline_core::{h1, h2, h3};

impl Dispatch {
    /// The machine of a new connection to an origin.
    pub(in super::super) fn machine(
        &self,
        origin: &Origin,
        multiplexing: Multiplexing,
        now: Instant,
    ) -> Machine {
        let (config, bdp_bytes) = self.known_of(origin, now);
        match multiplexing {
            Multiplexing::No => Machine::H1(Box::new(h1::Conn::new(Side::Client, config, now))),
            Multiplexing::Yes => {
                let conn = h2::Conn::new(Side::Client, config, now);
                let mut conn = conn.with_receive_budget(&self.budget_share);
                conn.remember_path(now, bdp_bytes);
                Machine::H2(Box::new(conn))
            }
        }
    }

    /// The machine of a new QUIC connection to an origin. `remembered`: what it said before, under
    /// which requests go out as early data. `stream_window`: what its transport announces for each
    /// stream.
    pub(in super::super) fn http3_machine(
        &self,
        origin: &Origin,
        now: Instant,
        remembered: Option<h3::settings::Settings>,
        stream_window: u32,
    ) -> Machine {
        let (config, bdp_bytes) = self.known_of(origin, now);
        let conn = h3::Conn::new(Side::Client, config, now).with_receive_budget(&self.budget_share);
        let mut conn = conn.with_stream_window(stream_window);
        conn.remember_path(now, bdp_bytes);
        if let Some(settings) = remembered {
            conn.remember_settings(settings);
        }
        Machine::http3(conn)
    }

    /// The receive window per stream of a new QUIC connection to an origin, in bytes, from the
    /// measured path.
    pub(in super::super) fn quic_stream_window(&self, origin: &Origin, now: Instant) -> u32 {
        let state = self.lock();
        let round_trip = state.pool.round_trip(now, origin);
        let need = state.pool.bdp_bytes(now, origin);
        drop(state);
        let windows = &self.settings.config.windows;
        windows.quic_stream_over(round_trip, need)
    }

    fn known_of(&self, origin: &Origin, now: Instant) -> (Arc<Config>, u32) {
        let state = self.lock();
        let config = Arc::clone(&state.machine_config);
        (config, state.pool.bdp_bytes(now, origin))
    }
}
