//! Verbs of a machine that are the same for HTTP/2 and HTTP/3: those that its [`Session`](super::Session) carries
//! out alone, and the parts that every [`Framing`](super::Framing) has.

/// Implements the verbs that the `session` of a machine carries out alone.
macro_rules! session_verbs {
    ($conn:ty) => {
        impl $conn {
            /// Server: sets the flag by which the owner marks connections as scarce.
            #[must_use]
            pub fn with_scarcity(mut self, scarcity: &$crate::min_rate::Scarcity) -> Self {
                self.session.follow_scarcity(scarcity);
                self
            }
            /// Server: whether connections or the budget of the bytes that wait for clients are scarce.
            pub fn is_scarce_to_send(&self) -> bool {
                self.session.is_scarce_to_send()
            }
            /// Which end of the connection it is.
            pub fn side(&self) -> $crate::http::Side {
                self.session.side()
            }
            /// Handlers that run, those of reset streams included.
            pub fn running_handlers(&self) -> u32 {
                self.session.handlers()
            }
            /// Server: the rule broken by a request that became no exchange, for metrics. Keeps at most
            /// `REFUSED_NOTES_MAX`; later ones are dropped.
            pub fn poll_refused(&mut self) -> Option<$crate::error::Violation> {
                self.session.poll_refused()
            }
            /// The tolerated oddities of the peer, for metrics.
            pub fn abuse(&self) -> &$crate::abuse::Abuse {
                self.session.abuse()
            }
            /// The round trip: on HTTP/2 the lowest bound so far, on HTTP/3 the transport's last estimate.
            pub fn round_trip(&self) -> Option<std::time::Duration> {
                self.session.round_trip()
            }
            /// The window that this connection's path has shown to need in the last minute, in bytes (of a stream on
            /// HTTP/2, of the connection on HTTP/3): for the next connection to the same origin. 0: nothing was seen.
            pub fn bdp_bytes(&self, now: std::time::Instant) -> u32 {
                self.session.path().seen(now)
            }
            /// Takes over the [`bdp_bytes`](Self::bdp_bytes) of an earlier connection to the same origin:
            /// the first exchanges of the next minute begin with it.
            pub fn remember_path(&mut self, now: std::time::Instant, need: u32) {
                self.session.path_mut().remember(now, need);
            }
            /// Gives the memory of a head that the owner has read back for the next one.
            pub fn recycle(&mut self, fields: $crate::http::Fields) {
                self.session.recycle(fields);
            }
            /// Gives a request head of this connection back that the owner has read: costs less than its
            /// memory alone, where the same one comes again.
            pub fn recycle_head(&mut self, head: $crate::http::RequestHead) {
                self.session.recycle_head(head);
            }
            /// Moves every deadline later by the time in which the service's pause stopped reading.
            pub fn postpone(&mut self, by: std::time::Duration) {
                self.timers.postpone(by);
                $crate::exchange::Framing::postpone_streams(self, by);
            }
        }
    };
}

/// The parts of [`Framing`](super::Framing) that are the same for both machines.
macro_rules! framing_parts {
    ($id:ty, $stream:ty, $timers:ty) => {
        type Id = $id;
        type Stream = $stream;

        #[inline]
        fn session(&self) -> &$crate::exchange::Session {
            &self.session
        }
        #[inline]
        fn session_mut(&mut self) -> &mut $crate::exchange::Session {
            &mut self.session
        }
        #[inline]
        fn capacity_now(&self) -> u32 {
            self.capacity()
        }
        #[inline]
        fn is_over(&self) -> bool {
            self.is_closed()
        }
        #[inline]
        fn stream_at(&self, key: u32) -> Option<&$stream> {
            self.streams.by_key(key).map(|(_, stream)| stream)
        }
        fn drain(&mut self, now: std::time::Instant) {
            self.shut_down(now);
        }
        fn streams_mut(&mut self) -> impl Iterator<Item = ($id, &mut $stream)> {
            self.streams.iter_mut()
        }
        #[inline]
        fn streams_deadline(&self) -> Option<std::time::Instant> {
            self.timers.get(<$timers>::Streams)
        }
        #[inline]
        fn set_streams_deadline(&mut self, at: std::time::Instant) {
            self.timers.set(<$timers>::Streams, at);
        }
        fn end_connection(&mut self, now: std::time::Instant, violation: $crate::error::Violation) {
            self.fail(now, violation);
        }
    };
}

pub(crate) use {framing_parts, session_verbs};
