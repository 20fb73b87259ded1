//! The time that each phase of a connection may take, and the least rate of a body.

use std::time::Duration;

crate::options! {
    /// How long each phase may take. `None` turns a timeout off.
    pub struct Timeouts {
        /// TLS handshake (the engine's to keep). Default 10 s.
        pub handshake: Option<Duration> = Some(Duration::from_secs(10)), with_handshake;
        /// HTTP/2 preface and first SETTINGS; also the answer to our SETTINGS. Default 10 s.
        pub settings: Option<Duration> = Some(Duration::from_secs(10)), with_settings;
        /// A request head, or a whole HTTP/2 header block, from its first byte. Default 15 s.
        pub head: Option<Duration> = Some(Duration::from_secs(15)), with_head;
        /// HTTP/1.1, server: how long a connection may take for the head of its first request, from its start. One that does
        /// not have it by then is answered with 408. Default `None`: [`head`](Self::head) limits a head that has begun, and
        /// [`idle`](Self::idle) ends, without an answer, a connection that says nothing.
        pub first_request: Option<Duration> = None, with_first_request;
        /// A server: between two pieces of a request's body, while its handler reads and has not
        /// answered. A request that breaks it is ended with [`BodyTimeout`], over HTTP/1.1 with 408.
        /// Default 300 s, as Envoy's `stream_idle_timeout` and Node.js's `requestTimeout`. `None`:
        /// a client may rest for as long as it likes, as with hyper and Go; for gRPC client streams
        /// that rest longer.
        ///
        /// [`BodyTimeout`]: crate::error::Violation::BodyTimeout
        pub body_idle: Option<Duration> = Some(Duration::from_secs(300)), with_body_idle;
        /// The peer takes nothing of what waits for it, or a server's client less than
        /// [`rate_min`](Self::rate_min) would give in [`scarce_stall`](Self::scarce_stall) (30 KiB by default).
        /// Default 300 s, as Envoy's `stream_idle_timeout`: a player that is paused, or a program at a
        /// breakpoint, reads nothing for minutes.
        pub write_stall: Option<Duration> = Some(Duration::from_secs(300)), with_write_stall;
        /// HTTP/2 and HTTP/3: a stream whose bytes wait for the peer, of which it takes less in this time
        /// than its share of what [`rate_min`](Self::rate_min) would give in [`scarce_stall`](Self::scarce_stall);
        /// tiny WINDOW_UPDATEs do not restart it (CVE-2026-49975). Default 300 s.
        pub stream_stall: Option<Duration> = Some(Duration::from_secs(300)), with_stream_stall;
        /// A server: the longest that [`write_stall`](Self::write_stall) and [`stream_stall`](Self::stream_stall) are
        /// while it holds three quarters of its `connections_max`, or half of its `send_budget` is lent.
        /// Default 30 s. `None`: they stay as they are.
        pub scarce_stall: Option<Duration> = Some(Duration::from_secs(30)), with_scarce_stall;
        /// A connection without an exchange. Default 75 s, as nginx's `keepalive_timeout`: longer than proxies and
        /// balancers keep their idle connections to a server (nginx, AWS: 60 s), which then close first and never send a
        /// request on a connection that is about to end.
        pub idle: Option<Duration> = Some(Duration::from_secs(75)), with_idle;
        /// HTTP/1.1, server: how long a response may take after the client has closed its side, while
        /// no byte of it waits to be written. The client may be gone, which only a write
        /// would reveal; a reset that comes is seen within a second.
        /// 0: a client that closes its side wants no response; `None`: no limit. Default 30 s.
        pub half_closed: Option<Duration> = Some(Duration::from_secs(30)), with_half_closed;
        /// A connection's age, then a graceful drain. Default `None`, as with hyper, Go and Envoy: gRPC
        /// clients fail what they are about to send when their connection drains. Set it where a load
        /// balancer is to spread clients again.
        pub age_max: Option<Duration> = None, with_age_max;
        /// Least bytes per second that a peer moves while an exchange waits for it, over
        /// [`rate_grace`](Self::rate_grace). Range: any; 0 turns it off. Default 1,024. What all exchanges of a
        /// connection move counts together. It holds
        /// - for the body of a request, while its handler reads and has not answered, if its
        ///   content-length says that bytes are missing; a body without a length (chunked, gRPC's client
        ///   streams) only while the server holds three quarters of its `connections_max`. A request
        ///   that breaks it is ended with [`BodyTooSlow`], over HTTP/1.1 with 408;
        /// - for answers over HTTP/1.1, while bytes of them wait for the peer and the server is as scarce
        ///   as [`scarce_stall`](Self::scarce_stall) says. On every version
        ///   [`write_stall`](Self::write_stall) and [`stream_stall`](Self::stream_stall) hold beside it.
        ///
        /// [`BodyTooSlow`]: crate::error::Violation::BodyTooSlow
        pub rate_min: u32 = 1024, with_rate_min;
        /// The time over which [`rate_min`](Self::rate_min) counts. Default 10 s.
        pub rate_grace: Duration = Duration::from_secs(10), with_rate_grace;
    }
}

impl Timeouts {
    /// No clock and no lowest rate, for a connection whose user has clocks of its own.
    pub fn none() -> Self {
        Self {
            handshake: None,
            settings: None,
            head: None,
            first_request: None,
            body_idle: None,
            write_stall: None,
            stream_stall: None,
            scarce_stall: None,
            idle: None,
            half_closed: None,
            age_max: None,
            rate_min: 0,
            ..Self::default()
        }
    }
    /// `stall` as it is where a server is scarce.
    pub fn shortest_stall(&self, stall: Duration) -> Duration {
        self.scarce_stall.map_or(stall, |scarce| scarce.min(stall))
    }
    /// The fewest bytes that a peer must move in `time` while an exchange waits for it.
    pub fn least_bytes(&self, time: Duration) -> u64 {
        let bytes = u128::from(self.rate_min) * time.as_millis() / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
    /// When a body that is due is looked at first.
    pub fn body_look(&self) -> Option<Duration> {
        let rate = (self.rate_min > 0).then_some(self.rate_grace);
        self.body_idle.into_iter().chain(rate).min()
    }
}
