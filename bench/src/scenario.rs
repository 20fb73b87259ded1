//! The scenarios: a protocol, the shape of the load, and where load and server run.

use trunkline_interop::{Cores, Endpoints};

/// A protocol with its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// HTTP/2 over TLS, 4 connections, 100 streams each, [`VARIED_TARGETS`] targets in turn.
    VariedH2Tls,
    /// As `VariedH2Tls` with prior knowledge.
    VariedH2c,
    /// As `VariedH2Tls` over HTTP/1.1, 50 connections, one request each.
    VariedH1,
    /// As `VariedH1` over TLS.
    VariedH1Tls,
    /// HTTP/2 over TLS, 4 connections, 100 streams each, one request again and again.
    H2Tls,
    /// HTTP/2 with prior knowledge, the same.
    H2c,
    /// HTTP/1.1, 50 connections, one request each.
    H1,
    /// HTTP/1.1 over TLS, the same.
    H1Tls,
    /// HTTP/3, 4 connections, 32 streams each.
    H3,
    /// HTTP/3, 32 connections, one request each: a packet per request.
    H3Alone,
    /// 256 KiB in pieces that are there one after the other, over HTTP/2 and TLS.
    StreamedH2Tls,
    /// As `StreamedH2Tls` over HTTP/1.1, where each piece is a chunk.
    StreamedH1,
    /// As `StreamedH2Tls` over HTTP/3.
    StreamedH3,
    /// A file of 64 KiB over HTTP/2 and TLS.
    FileH2Tls,
    /// As `FileH2Tls` over HTTP/1.1, where the kernel can send files by itself.
    FileH1,
    /// As `FileH2Tls` over HTTP/3.
    FileH3,
    /// 1 GiB in one answer, over HTTP/1.1 and TLS.
    BulkH1Tls,
    /// 1 GiB in 64 answers at once, over as many connections.
    BulkH1TlsMany,
    /// 1 GiB in one answer, over HTTP/2 and TLS.
    BulkH2Tls,
    /// 1 GiB in 64 answers at once, over one connection.
    BulkH2TlsMany,
    /// 1 GiB in one answer, over HTTP/3.
    BulkH3,
    /// 1 GiB in 64 answers at once, over one connection of HTTP/3.
    BulkH3Many,
}

/// Targets of the varied load, `/varied/0` and so on.
pub(crate) const VARIED_TARGETS: u64 = 2_000;

/// The length of the answer to `/varied/{target}`: 512 to 1,535 bytes. The peers have the same rule.
pub(crate) fn varied_bytes(target: u64) -> u64 {
    512 + target * 397 % 1024
}

/// The file that file servers serve.
pub(crate) const FILE_BYTES: usize = 64 * 1024;
/// Bytes of a round of bulk: the files `bulk/N` have that many, or one of [`BULK_ANSWERS`] parts of it.
pub(crate) const BULK_BYTES: u64 = 1 << 30;
/// Answers at once where bulk comes in many.
pub(crate) const BULK_ANSWERS: u64 = 64;
/// The total size of a streamed response, bytes.
const STREAMED_BYTES: usize = 256 * 1024;

impl Scenario {
    pub(crate) const ALL: [Self; 22] = [
        Self::VariedH2Tls,
        Self::VariedH2c,
        Self::VariedH1,
        Self::VariedH1Tls,
        Self::H2Tls,
        Self::H2c,
        Self::H1,
        Self::H1Tls,
        Self::H3,
        Self::H3Alone,
        Self::StreamedH2Tls,
        Self::StreamedH1,
        Self::StreamedH3,
        Self::FileH2Tls,
        Self::FileH1,
        Self::FileH3,
        Self::BulkH1Tls,
        Self::BulkH1TlsMany,
        Self::BulkH2Tls,
        Self::BulkH2TlsMany,
        Self::BulkH3,
        Self::BulkH3Many,
    ];

    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::VariedH2Tls => "varied h2 TLS",
            Self::VariedH2c => "varied h2c",
            Self::VariedH1 => "varied h1",
            Self::VariedH1Tls => "varied h1 TLS",
            Self::H2Tls => "h2 TLS",
            Self::H2c => "h2c",
            Self::H1 => "h1",
            Self::H1Tls => "h1 TLS",
            Self::H3 => "h3",
            Self::H3Alone => "h3 one by one",
            Self::StreamedH2Tls => "streamed h2 TLS",
            Self::StreamedH1 => "streamed h1",
            Self::StreamedH3 => "streamed h3",
            Self::FileH2Tls => "file h2 TLS",
            Self::FileH1 => "file h1",
            Self::FileH3 => "file h3",
            Self::BulkH1Tls => "bulk h1 TLS",
            Self::BulkH1TlsMany => "bulk h1 TLS 64",
            Self::BulkH2Tls => "bulk h2 TLS",
            Self::BulkH2TlsMany => "bulk h2 TLS 64",
            Self::BulkH3 => "bulk h3",
            Self::BulkH3Many => "bulk h3 64",
        }
    }
    pub(crate) fn is_tls(self) -> bool {
        !matches!(
            self,
            Self::VariedH2c
                | Self::VariedH1
                | Self::H2c
                | Self::H1
                | Self::StreamedH1
                | Self::FileH1
        )
    }
    pub(crate) fn is_h1(self) -> bool {
        matches!(
            self,
            Self::VariedH1
                | Self::VariedH1Tls
                | Self::H1
                | Self::H1Tls
                | Self::StreamedH1
                | Self::FileH1
                | Self::BulkH1Tls
                | Self::BulkH1TlsMany
        )
    }
    pub(crate) fn is_h3(self) -> bool {
        matches!(
            self,
            Self::H3
                | Self::H3Alone
                | Self::StreamedH3
                | Self::FileH3
                | Self::BulkH3
                | Self::BulkH3Many
        )
    }
    /// Whether targets, lengths and etags differ from request to request.
    pub(crate) fn is_varied(self) -> bool {
        matches!(
            self,
            Self::VariedH2Tls | Self::VariedH2c | Self::VariedH1 | Self::VariedH1Tls
        )
    }
    /// Whether the answer comes in pieces.
    pub(crate) fn is_streamed(self) -> bool {
        matches!(
            self,
            Self::StreamedH2Tls | Self::StreamedH1 | Self::StreamedH3
        )
    }
    /// Whether the answer is a file.
    pub(crate) fn is_file(self) -> bool {
        matches!(self, Self::FileH2Tls | Self::FileH1 | Self::FileH3)
    }
    /// Whether a round is [`BULK_BYTES`], in however many answers: its figures are per MiB.
    pub(crate) fn is_bulk(self) -> bool {
        self.bulk_answers().is_some()
    }
    /// Answers of a round of bulk.
    fn bulk_answers(self) -> Option<u64> {
        match self {
            Self::BulkH1Tls | Self::BulkH2Tls | Self::BulkH3 => Some(1),
            Self::BulkH1TlsMany | Self::BulkH2TlsMany | Self::BulkH3Many => Some(BULK_ANSWERS),
            _ => None,
        }
    }
    /// The units that figures count in `requests`: requests, or MiB of bulk.
    pub(crate) fn units(self, requests: u64) -> u64 {
        match self.is_bulk() {
            true => (requests * self.answer_bytes()) >> 20,
            false => requests,
        }
    }
    /// Connections and streams on each.
    pub(crate) fn shape(self) -> (u64, u64) {
        match self {
            Self::VariedH2Tls | Self::VariedH2c | Self::H2Tls | Self::H2c => (4, 100),
            Self::VariedH1 | Self::VariedH1Tls | Self::H1 | Self::H1Tls => (50, 1),
            Self::H3 => (4, 32),
            Self::H3Alone => (32, 1),
            Self::StreamedH1 | Self::FileH1 => (8, 1),
            Self::StreamedH2Tls | Self::StreamedH3 | Self::FileH2Tls | Self::FileH3 => (4, 8),
            Self::BulkH1Tls | Self::BulkH2Tls | Self::BulkH3 => (1, 1),
            Self::BulkH1TlsMany => (BULK_ANSWERS, 1),
            Self::BulkH2TlsMany | Self::BulkH3Many => (1, BULK_ANSWERS),
        }
    }
    /// Requests to warm up, and of a round. Those that cost more are fewer.
    pub(crate) fn counts(self, quick: bool) -> (u64, u64) {
        if let Some(answers) = self.bulk_answers() {
            return (answers, answers);
        }
        let dear = self.is_h1() || self == Self::H3Alone;
        let long = self.is_streamed() || self.is_file();
        if long {
            return if quick { (200, 1_000) } else { (1_000, 4_000) };
        }
        match (quick, dear) {
            // Four handshakes are a tenth of a microsecond on 10,000 requests.
            (true, false) => (4_000, 40_000),
            (true, true) => (2_000, 10_000),
            (false, true) => (10_000, 50_000),
            (false, false) => (20_000, 100_000),
        }
    }
    /// The requested path. Over HTTP/3 the bookkeeping of streams and packets is the cost, not the
    /// bytes: 2 of them; else 1 KiB.
    pub(crate) fn path(self) -> &'static str {
        match self {
            _ if self.is_streamed() => "/streamed",
            _ if self.is_file() => "/file.txt",
            Self::BulkH1Tls | Self::BulkH2Tls | Self::BulkH3 => "/bulk/1073741824",
            _ if self.is_bulk() => "/bulk/16777216",
            _ if self.is_varied() => "/varied/",
            Self::H3 | Self::H3Alone => "/bytes/2",
            _ => "/bytes/1024",
        }
    }
    /// Bytes in the bodies of the answers to this many requests of the varied load.
    pub(crate) fn varied_body_bytes(self, requests: u64) -> u64 {
        // Each connection goes through the targets from the first on.
        let (connections, _) = self.shape();
        let of_connection = |index: u64| {
            let requests = requests / connections + u64::from(index < requests % connections);
            let lengths = (0..VARIED_TARGETS).map(varied_bytes);
            lengths.cycle().take(requests as usize).sum::<u64>()
        };
        (0..connections).map(of_connection).sum()
    }
    /// Bytes in the body of each answer, where these are equal.
    pub(crate) fn answer_bytes(self) -> u64 {
        if let Some(answers) = self.bulk_answers() {
            return BULK_BYTES / answers;
        }
        let bytes = match self {
            _ if self.is_streamed() => STREAMED_BYTES,
            _ if self.is_file() => FILE_BYTES,
            Self::H3 | Self::H3Alone => 2,
            _ => 1024,
        };
        bytes as u64
    }
    /// The port of a peer that serves it.
    pub(crate) fn port(self, endpoints: Endpoints, speaks_h1: bool) -> Option<u16> {
        match self {
            Self::VariedH2c | Self::H2c => Some(endpoints.h2c),
            Self::VariedH1 | Self::H1 | Self::StreamedH1 | Self::FileH1 => endpoints.h1,
            Self::VariedH1Tls | Self::H1Tls | Self::BulkH1Tls | Self::BulkH1TlsMany => {
                speaks_h1.then_some(endpoints.tls)
            }
            _ => Some(endpoints.tls),
        }
    }
}

/// Where the load runs; the server is always on the first processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Server and load on one processor: no wakes across processors, the steadier figure.
    SameCore,
    /// Server and load on two processors.
    TwoCores,
}

impl Placement {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SameCore => "same core",
            Self::TwoCores => "two cores",
        }
    }
    /// Where the load runs, of the processors this run may use.
    pub(crate) fn load_cores(self, cores: &[usize]) -> Cores {
        let core = match self {
            Self::SameCore => cores.first(),
            Self::TwoCores => cores.get(1),
        };
        core.map_or(Cores::Any, |&core| Cores::One(core))
    }
}
