//! The header in front of the descriptors that one process sends to another: their kind and their counts, on one line of text.

use crate::server::worker::generations::KEY_BYTES;

/// Protocol and version, with which the header begins.
pub(super) const PROTOCOL: &str = "trunkline sockets 1";
/// More workers than any server has.
const SOCKETS_MAX: usize = 4096;

/// The kind of the listening sockets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SocketKind {
    Tcp,
    /// The file goes with the server.
    Unix,
    /// The file stays, or there is none.
    UnixWithoutFile,
}

impl SocketKind {
    const ALL: [Self; 3] = [Self::Tcp, Self::Unix, Self::UnixWithoutFile];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::UnixWithoutFile => "unix-without-file",
        }
    }
}

/// The content of the header.
#[derive(Debug, PartialEq)]
pub(super) struct SentCounts {
    pub(super) kind: SocketKind,
    pub(super) listening: usize,
    pub(super) udp: usize,
    /// Key and length of the connection ids of HTTP/3.
    pub(super) ids: Option<([u8; KEY_BYTES], usize)>,
    /// Generations and numbers of workers.
    pub(super) predecessors: Vec<(u8, usize)>,
}

impl SentCounts {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(PROTOCOL)?.split_whitespace();
        let count = |word: &str| word.parse::<usize>().ok().filter(|it| *it <= SOCKETS_MAX);
        let kind = words.next()?;
        let kind = SocketKind::ALL.into_iter().find(|it| it.name() == kind)?;
        let listening = count(words.next()?)?;
        let udp = count(words.next()?)?;
        let ids = match words.next() {
            Some(word) => Some((key(word)?, count(words.next()?)?)),
            None => None,
        };
        let predecessor = |word: &str| {
            let (generation, workers) = word.split_once(':')?;
            Some((generation.parse().ok()?, count(workers)?))
        };
        Some(Self {
            kind,
            listening,
            udp,
            ids,
            predecessors: words.map(predecessor).collect::<Option<_>>()?,
        })
    }
    pub(super) fn total(&self) -> usize {
        let workers = self.predecessors.iter().map(|(_, workers)| workers);
        self.listening + self.udp + workers.sum::<usize>()
    }
}

/// A key in hexadecimal digits.
fn key(word: &str) -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    if word.len() != 2 * KEY_BYTES {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(word.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(key)
}
