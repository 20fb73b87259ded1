//! The plan of a world, generated from a seed: the paths, the servers and their faults, the
//! requests.

use crate::sim::dice::Dice;
use crate::sim::path::PathPlan;
use std::time::Duration;
use trunkline_core::error::TransportEnd;
use trunkline_core::limits::Config;
use trunkline_core::pool::{HealthTimes, PoolConfig, PriorityClass, Protocols, Rank};

/// A whole world.
#[derive(Debug)]
pub struct Plan {
    /// One or more servers.
    pub origins: Vec<OriginPlan>,
    /// In the order of their numbers.
    pub requests: Vec<RequestPlan>,
    /// The client's pool.
    pub pool: PoolConfig,
    /// The client's machines.
    pub config: Config,
    /// How long a peer may be silent.
    pub health: HealthTimes,
    /// When the client warms up this many connections to a server, from the start.
    pub warm_ups: Vec<(Duration, usize, u32)>,
    /// When the client's network changes, from the start.
    pub network_changes: Vec<Duration>,
}

/// One server and the way to it.
#[derive(Debug)]
pub struct OriginPlan {
    /// The way.
    pub path: PathPlan,
    /// The client's offered versions.
    pub protocols: Protocols,
    /// The server's choice among them.
    pub answers_h2: bool,
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    pub streams_max: u32,
    /// SETTINGS_INITIAL_WINDOW_SIZE.
    pub window: u32,
    /// The handshake's time beside its round trips.
    pub handshake_delay: Duration,
    /// Attempts that end in a TLS error.
    pub handshake_failures_per_mille: u32,
    /// Connections that have a fault, in per mille.
    pub faulty_per_mille: u32,
    /// Connections, from the first on, that may have one.
    pub faulty_connections_max: u32,
    /// Possible faults of a connection; one of them at a time.
    pub faults: Vec<Fault>,
}

/// A fault of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// GOAWAY in two steps when the stream of this number comes.
    Drain(u64),
    /// GOAWAY with the id before the stream of this number, which is never looked at.
    Goaway(u64),
    /// GOAWAY when the stream of this number comes, which is the last one looked at: a server that
    /// counts.
    Count(u64),
    /// REFUSED_STREAM for this many streams at first.
    Refuse(u64),
    /// SETTINGS that change the streams allowed, this long after the start.
    Streams(Duration, u32),
    /// Fewer streams are allowed from the start until this long after it.
    FewAtFirst(Duration, u32),
    /// SETTINGS that lower the initial window, this long after the start.
    Window(Duration, u32),
    /// Nothing is written at first for this long.
    Late(Duration),
    /// No byte arrives any more, without an error.
    Silence(Duration),
    /// Nothing arrives for the second time, this long after the start, and then everything.
    Stall(Duration, Duration),
    /// The socket is closed, with what was not sent. The client sees this end.
    Close(Duration, TransportEnd),
    /// The server ends its side behind what it has sent, and reads on.
    HalfClose(Duration),
    /// On HTTP/1.1 bodies have neither a length nor chunks: this end of the connection delimits
    /// them. One that is not in order comes in the middle of every second body.
    EndDelimited(TransportEnd),
    /// Bodies in DATA frames of one byte, up to a kilobyte of each.
    OneByte,
    /// WINDOW_UPDATE and RST_STREAM behind the end of every stream.
    LateFrames,
}

/// One request.
#[derive(Clone, Debug)]
pub struct RequestPlan {
    /// To which server.
    pub origin: usize,
    /// When it is handed in, from the start.
    pub at: Duration,
    /// Bytes of its body.
    pub upload: u64,
    /// Whether its body can be sent twice.
    pub replayable: bool,
    /// The server's time before it answers.
    pub thought: Duration,
    /// Bytes of the response.
    pub download: u64,
    /// Whether the response says how long it is.
    pub has_length: bool,
    /// Bytes that its reader takes per second; `None`: everything at once.
    pub reads: Option<u64>,
    /// How long it may stand in line.
    pub patience: Option<Duration>,
    /// How long all of it may take.
    pub total: Option<Duration>,
    /// When its user gives it up, from the start.
    pub abort_at: Option<Duration>,
    /// Its place in line.
    pub rank: Rank,
}

impl OriginPlan {
    /// An HTTP/2 server with 100 streams and no faults, 20 ms away.
    pub fn plain() -> Self {
        Self {
            path: PathPlan::clean(Duration::from_millis(20), 25_000_000),
            protocols: Protocols::H2AndH1,
            answers_h2: true,
            streams_max: 100,
            window: 65_535,
            handshake_delay: Duration::ZERO,
            handshake_failures_per_mille: 0,
            faulty_per_mille: 0,
            faulty_connections_max: u32::MAX,
            faults: Vec::new(),
        }
    }

    /// One whose connections all have this fault.
    pub fn faulty(fault: Fault) -> Self {
        Self {
            faulty_per_mille: 1000,
            faults: vec![fault],
            ..Self::plain()
        }
    }
}

impl RequestPlan {
    /// A GET of 100 bytes from the first server, answered at once.
    pub fn get(at: Duration) -> Self {
        Self {
            origin: 0,
            at,
            upload: 0,
            replayable: true,
            thought: Duration::ZERO,
            download: 100,
            has_length: true,
            reads: None,
            patience: None,
            total: None,
            abort_at: None,
            rank: Rank::default(),
        }
    }
}

impl Plan {
    /// One server, a client with its defaults.
    pub fn plain(origin: OriginPlan, requests: Vec<RequestPlan>) -> Self {
        Self {
            origins: vec![origin],
            requests,
            pool: PoolConfig::default(),
            config: Config::default(),
            health: HealthTimes::default(),
            warm_ups: Vec::new(),
            network_changes: Vec::new(),
        }
    }

    /// Servers without faults behind clean paths.
    pub fn calm(dice: &mut Dice) -> Self {
        let mut plan = Self::stormy(dice);
        for origin in &mut plan.origins {
            origin.path.loss_per_mille = 0;
            origin.path.reorder_per_mille = 0;
            origin.handshake_failures_per_mille = 0;
            origin.faulty_per_mille = 0;
        }
        for request in &mut plan.requests {
            request.patience = None;
            request.total = None;
            request.abort_at = None;
        }
        plan.pool.waiting_max = 100_000;
        // Uploads in a row on a slow line: the last may not move for minutes.
        plan.config.timeouts.stream_stall = None;
        plan
    }

    /// Everything that may go wrong.
    pub fn stormy(dice: &mut Dice) -> Self {
        let origins: Vec<OriginPlan> = (0..dice.between(1, 3)).map(|_| origin(dice)).collect();
        let count = dice.pick(&[1, 10, 60, 200]);
        // All at once, within a few seconds, or so rarely that connections rest in between.
        let spread = Duration::from_secs(dice.pick(&[0, 0, 5, 5, 120]));
        let requests = (0..count)
            .map(|_| request(dice, origins.len() as u64, spread))
            .collect();
        let pool = PoolConfig::default()
            .with_connections_max(dice.pick(&[None, None, Some(1), Some(3)]))
            .with_pipelining(dice.pick(&[1, 1, 3]))
            .with_sockets_max(dice.pick(&[900, 900, 2, 5]))
            .with_waiting_max(dice.pick(&[100_000, 100_000, 20]))
            .with_idle_timeout(Some(Duration::from_secs(dice.between(1, 60))))
            .with_requests_max(dice.pick(&[None, None, Some(7)]))
            .with_age_max(
                dice.once_in(4)
                    .then(|| Duration::from_millis(dice.between(500, 20_000))),
            )
            .with_reserve(dice.pick(&[[0, 0, 0], [0, 0, 0], [1, 0, 0], [2, 3, 0], [200, 0, 0]]))
            .with_retry_lost(dice.once_in(2))
            .with_warm_min(dice.pick(&[0, 0, 0, 2]))
            .with_warm_time(Duration::from_secs(dice.between(1, 200)))
            .with_seed(dice.roll(u64::MAX));
        let mut config = Config::default();
        config.limits.pipelining = pool.pipelining;
        config.limits.concurrent_streams_max = dice.pick(&[100, 100, 7]);
        config.windows.memory_budget = dice.pick(&[64 << 20, 1 << 20, 128 << 10]);
        config.windows.stream_initial = dice.pick(&[64 << 10, 64 << 10, 4 << 10, 1 << 20]);
        config.windows.connection = dice.pick(&[16 << 20, 16 << 20, 1 << 20]);
        let warm_ups = (0..dice.pick(&[0, 0, 0, 1, 3])).map(|_| {
            let at = Duration::from_millis(dice.between(0, 60_000));
            (
                at,
                dice.roll(origins.len() as u64) as usize,
                dice.between(0, 5) as u32,
            )
        });
        Self {
            warm_ups: warm_ups.collect(),
            network_changes: (0..dice.pick(&[0, 0, 0, 1]))
                .map(|_| Duration::from_millis(dice.between(0, 10_000)))
                .collect(),
            origins,
            requests,
            pool,
            config,
            health: HealthTimes::default(),
        }
    }
}

fn origin(dice: &mut Dice) -> OriginPlan {
    let round_trip = Duration::from_micros(dice.between(200, 250_000));
    let bytes_per_second = dice.pick(&[200_000, 2_000_000, 25_000_000, 125_000_000]);
    let mut path = PathPlan::clean(round_trip, bytes_per_second);
    path.loss_per_mille = dice.pick(&[0, 0, 10, 50]);
    path.reorder_per_mille = dice.pick(&[0, 0, 50]);
    let versions = [Protocols::H2AndH1, Protocols::H2AndH1];
    OriginPlan {
        path,
        protocols: match dice.roll(6) {
            0 => Protocols::H1Only,
            1 => Protocols::H2Only,
            _ => dice.pick(&versions),
        },
        answers_h2: !dice.once_in(4),
        streams_max: dice.pick(&[100, 100, 10, 1, 3]),
        window: dice.pick(&[65_535, 65_535, 1 << 20, 2_000]),
        handshake_delay: Duration::from_millis(dice.pick(&[0, 0, 0, 2_000])),
        handshake_failures_per_mille: dice.pick(&[0, 0, 0, 300, 1000]),
        faulty_per_mille: dice.pick(&[0, 300, 700, 1000]),
        faulty_connections_max: u32::MAX,
        faults: (0..dice.between(1, 2)).map(|_| fault(dice)).collect(),
    }
}

fn fault(dice: &mut Dice) -> Fault {
    let soon = Duration::from_millis(dice.between(0, 3_000));
    match dice.roll(15) {
        0 => Fault::Drain(dice.between(1, 40)),
        1 => Fault::Goaway(dice.between(1, 40)),
        2 => Fault::Refuse(dice.between(1, 20)),
        3 => Fault::Streams(soon, dice.pick(&[0, 1, 5, 100])),
        4 => Fault::FewAtFirst(soon, dice.pick(&[0, 1])),
        5 => Fault::Window(soon, dice.pick(&[0, 1, 20_000])),
        6 => Fault::Late(soon),
        7 => Fault::Silence(soon),
        8 => Fault::Close(soon, dice.pick(&ENDS)),
        9 => Fault::HalfClose(soon),
        10 => Fault::OneByte,
        12 => Fault::Count(dice.pick(&[1, 3, 10, 40])),
        11 => Fault::Stall(soon, Duration::from_millis(dice.between(0, 30_000))),
        13 => Fault::EndDelimited(dice.pick(&ENDS)),
        _ => Fault::LateFrames,
    }
}

fn request(dice: &mut Dice, origins: u64, spread: Duration) -> RequestPlan {
    let at = Duration::from_millis(dice.between(0, spread.as_millis() as u64));
    RequestPlan {
        origin: dice.roll(origins) as usize,
        at,
        upload: dice.pick(&[0, 0, 0, 100, 30_000, 300_000]),
        replayable: dice.once_in(2),
        thought: Duration::from_millis(dice.pick(&[0, 0, 1, 50, 1_000])),
        download: dice.pick(&[0, 1, 5_000, 5_000, 20_000, 100_000, 700_000]),
        has_length: dice.once_in(2),
        reads: dice.pick(&[None, None, None, Some(20_000), Some(500_000)]),
        patience: dice
            .once_in(5)
            .then(|| Duration::from_millis(dice.between(0, 5_000))),
        total: dice
            .once_in(12)
            .then(|| Duration::from_millis(dice.between(0, 8_000))),
        abort_at: dice
            .once_in(12)
            .then(|| at + Duration::from_millis(dice.between(0, 3_000))),
        rank: Rank {
            class: dice.pick(&PriorityClass::ALL),
            group: dice.roll(4),
        },
    }
}

/// Every way in which the bytes of a peer end.
const ENDS: [TransportEnd; 3] = [
    TransportEnd::InOrder,
    TransportEnd::Ragged,
    TransportEnd::Failed,
];
