//! Capsules: a tunnel of them reads equally at every split, no unrequested or oversized capsule is
//! delivered, and a decoded capsule encodes to one that decodes equally.

use super::Input;
use bytes::Bytes;
use trunkline_core::error::Violation;
use trunkline_core::http::capsule::{Capsule, CapsuleReader, DATAGRAM};

/// A type that is asked for, and the most bytes of a capsule.
const WANTED: u64 = 1;
const BYTES_MAX: usize = 40;

/// Reads the wire whole and in pieces.
pub fn capsules(data: &[u8]) {
    let mut input = Input::new(data);
    let whole = Read::of([Bytes::copy_from_slice(input.wire)]);
    let pieces = std::iter::from_fn(|| input.piece());
    let cut = Read::of(pieces.map(|(piece, _)| Bytes::copy_from_slice(piece)));
    assert_eq!(whole, cut);
    let mut wire = Vec::new();
    for capsule in &whole.capsules {
        assert!([DATAGRAM, WANTED].contains(&capsule.kind()));
        assert!(capsule.value().len() <= BYTES_MAX);
        wire.extend_from_slice(&Bytes::from(capsule.clone()));
    }
    let again = Read::of([wire.into()]);
    assert_eq!(again.capsules, whole.capsules);
    assert_eq!((again.end, again.dropped), (Ok(()), 0));
}

/// A tunnel as it was read.
#[derive(Debug, PartialEq, Eq)]
struct Read {
    capsules: Vec<Capsule>,
    end: Result<(), Violation>,
    dropped: u64,
}

impl Read {
    fn of(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        let mut reader = CapsuleReader::default().taking(WANTED).bytes_max(BYTES_MAX);
        let mut capsules = Vec::new();
        let read_all = || -> Result<(), Violation> {
            for mut piece in pieces {
                while let Some(capsule) = reader.next(&mut piece)? {
                    capsules.push(capsule);
                }
                assert!(piece.is_empty(), "all that came was read");
            }
            reader.end()
        };
        let end = read_all();
        Self {
            capsules,
            end,
            dropped: reader.dropped(),
        }
    }
}
