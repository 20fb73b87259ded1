//! The header sets of qpackers/qifs: as two encoders compressed them, and raw. Each is decoded and
//! compared, encoded by ours and decoded again by ours and by a foreign decoder, cut at every
//! byte, and damaged.

#![allow(
    clippy::unwrap_used,
    reason = "a corpus that cannot be read fails its test"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trunkline_core::error::Violation;
use trunkline_core::http::{Fields, StreamId};
use trunkline_core::limits::Limits;
use trunkline_core::qpack::{DecodedSection, Decoder, Encoder};

/// Encoder stream bytes, or a section of another stream.
struct Block {
    stream: u64,
    bytes: Vec<u8>,
}

/// An encoder's output for a header set.
struct Encoded {
    file: PathBuf,
    /// The header set's name.
    set: String,
    table: usize,
    blocked: usize,
    blocks: Vec<Block>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test finds its data where the environment says"
)]
fn corpora() -> PathBuf {
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let configured = std::env::var("TRUNKLINE_CORPORA").map(PathBuf::from);
    configured
        .unwrap_or_else(|_| project.join("../shared/corpora"))
        .join("qpack")
}

fn is_missing() -> bool {
    let missing = !corpora().is_dir();
    if missing {
        eprintln!("skipped, data missing: {}", corpora().display());
    }
    missing
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

/// The sections of every header set, by its name.
fn sets() -> BTreeMap<String, Vec<Fields>> {
    let mut sets = BTreeMap::new();
    for file in folder(&corpora().join("qifs")) {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut sections = vec![Fields::new()];
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            if line.starts_with('#') {
                continue;
            }
            match line.split_once('\t') {
                Some((name, value)) => {
                    let section = sections.last_mut().unwrap();
                    section.push_named(name.as_bytes(), value.as_bytes());
                }
                None => sections.push(Fields::new()),
            }
        }
        sections.retain(|section| !section.is_empty());
        sets.insert(name, sections);
    }
    assert_eq!(sets.len(), 7);
    sets
}

fn blocks(mut bytes: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(12) {
        let stream = u64::from_be_bytes(head[..8].try_into().unwrap());
        let len = u32::from_be_bytes(head[8..].try_into().unwrap()) as usize;
        let (block, rest) = rest.split_at(len);
        blocks.push(Block {
            stream,
            bytes: block.to_vec(),
        });
        bytes = rest;
    }
    assert!(bytes.is_empty());
    blocks
}

fn encoded() -> Vec<Encoded> {
    let encoders = folder(&corpora().join("encoded/qpack-05"));
    let files = encoders.iter().flat_map(|encoder| folder(encoder));
    let encoded: Vec<Encoded> = files
        .map(|file| {
            let name = file.file_name().unwrap().to_str().unwrap();
            let (set, settings) = name.split_once(".out.").unwrap();
            let settings: Vec<usize> = settings.split('.').map(|n| n.parse().unwrap()).collect();
            Encoded {
                set: set.to_owned(),
                table: settings[0],
                blocked: settings[1],
                blocks: blocks(&std::fs::read(&file).unwrap()),
                file,
            }
        })
        .collect();
    assert!(encoded.len() >= 190, "only {} files", encoded.len());
    encoded
}

fn pairs(fields: &Fields) -> Vec<(&[u8], &[u8])> {
    fields
        .iter()
        .map(|field| (field.name, field.value))
        .collect()
}

/// Set Dynamic Table Capacity.
fn capacity(bytes: usize) -> Vec<u8> {
    if bytes < 31 {
        return vec![0x20 | bytes as u8];
    }
    let mut instruction = vec![0x3f];
    let mut rest = bytes - 31;
    while rest >= 128 {
        instruction.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    instruction.push(rest as u8);
    instruction
}

/// A decoder, and the sections that came out of it.
struct Receiver {
    decoder: Decoder,
    limits: Limits,
    fields: Fields,
    sections: BTreeMap<u64, Fields>,
    /// How many were blocked for a while.
    blocked: usize,
}

impl Receiver {
    fn new(table: usize, blocked: usize) -> Self {
        Self {
            decoder: Decoder::new(table, blocked),
            limits: Limits::default(),
            fields: Fields::new(),
            sections: BTreeMap::new(),
            blocked: 0,
        }
    }
    /// As [`new`](Self::new), for the files: their encoders start with the whole table, as the
    /// drafts of their time let them.
    fn of_draft(encoded: &Encoded) -> Self {
        let mut receiver = Self::new(encoded.table, encoded.blocked);
        receiver.takes(0, &capacity(encoded.table)).unwrap();
        receiver
    }
    fn takes(&mut self, stream: u64, bytes: &[u8]) -> Result<(), Violation> {
        if stream == 0 {
            self.decoder.handle_encoder_bytes(bytes)?;
            while let Some((stream, decoded)) = self
                .decoder
                .poll_unblocked(&self.limits, &mut self.fields)?
            {
                assert_eq!(decoded, DecodedSection::Complete);
                self.keep(stream.0);
            }
            return Ok(());
        }
        let id = StreamId(stream);
        let decoded = self
            .decoder
            .decode(id, bytes, &self.limits, &mut self.fields)?;
        match decoded {
            DecodedSection::Complete => self.keep(stream),
            DecodedSection::Blocked => self.blocked += 1,
            DecodedSection::Refused(violation) => panic!("{violation:?}"),
        }
        Ok(())
    }
    fn keep(&mut self, stream: u64) {
        let before = self.sections.insert(stream, self.fields.clone());
        assert!(before.is_none(), "stream {stream} came twice");
    }
    fn expects(&self, sections: &[Fields], place: &str) {
        assert_eq!(self.sections.len(), sections.len(), "{place}");
        for ((stream, got), expected) in self.sections.iter().zip(sections) {
            assert_eq!(pairs(got), pairs(expected), "{place} stream {stream}");
        }
    }
}

#[test]
fn every_file_of_every_encoder_decodes_to_its_header_set() {
    if is_missing() {
        return;
    }
    let sets = sets();
    for encoded in encoded() {
        let place = encoded.file.display().to_string();
        let mut receiver = Receiver::of_draft(&encoded);
        for block in &encoded.blocks {
            let taken = receiver.takes(block.stream, &block.bytes);
            assert_eq!(taken, Ok(()), "{place} stream {}", block.stream);
        }
        receiver.expects(&sets[&encoded.set], &place);
        assert_eq!(receiver.blocked, 0, "in the order of the files none waits");
    }
}

#[test]
fn sections_that_overtake_their_insertions_wait_for_them() {
    if is_missing() {
        return;
    }
    let sets = sets();
    let mut blocked = 0;
    for encoded in encoded() {
        // An encoder that heard of acknowledgements may have evicted what comes late here.
        let had_acks = encoded.file.extension().is_some_and(|acks| acks == "1");
        if encoded.blocked == 0 || had_acks {
            continue;
        }
        let place = encoded.file.display().to_string();
        let mut receiver = Receiver::of_draft(&encoded);
        // Every piece of the encoder stream comes nine sections late.
        let mut late: Vec<(usize, Vec<u8>)> = Vec::new();
        for (number, block) in encoded.blocks.iter().enumerate() {
            if block.stream == 0 {
                late.push((number + 9, block.bytes.clone()));
            } else {
                let taken = receiver.takes(block.stream, &block.bytes);
                assert_eq!(taken, Ok(()), "{place} stream {}", block.stream);
            }
            deliver(&mut late, number, &mut receiver, &mut Vec::new());
        }
        deliver(&mut late, usize::MAX, &mut receiver, &mut Vec::new());
        receiver.expects(&sets[&encoded.set], &place);
        blocked += receiver.blocked;
    }
    assert!(blocked > 100, "only {blocked} sections waited");
}

#[test]
fn an_encoder_stream_in_single_bytes_comes_to_the_same() {
    if is_missing() {
        return;
    }
    let sets = sets();
    for encoded in encoded() {
        let place = encoded.file.display().to_string();
        let mut receiver = Receiver::of_draft(&encoded);
        for block in &encoded.blocks {
            if block.stream == 0 {
                for byte in &block.bytes {
                    receiver.takes(0, &[*byte]).unwrap();
                }
            } else {
                receiver.takes(block.stream, &block.bytes).unwrap();
            }
        }
        receiver.expects(&sets[&encoded.set], &place);
    }
}

/// Two of the twelve are errors no more: they name rows 0 and 62 of a static table that had 61
/// rows and counted from 1, as the first drafts had it. In RFC 9204 Appendix A both are there.
#[test]
fn the_error_cases_fail_each_with_its_code() {
    if is_missing() {
        return;
    }
    for number in 1..=12 {
        let file = corpora().join(format!("encoded/errors/err{number}"));
        let mut receiver = Receiver::new(4096, 100);
        receiver.takes(0, &capacity(4096)).unwrap();
        let mut taken = Ok(());
        for block in blocks(&std::fs::read(file).unwrap()) {
            taken = taken.and(receiver.takes(block.stream, &block.bytes));
        }
        let expected = match number {
            9 | 10 => Ok(()),
            11 | 12 => Err(Violation::QpackEncoderStreamInvalid),
            _ => Err(Violation::QpackDecompressionFailed),
        };
        assert_eq!(taken, expected, "err{number}");
    }
}

/// How the network between an encoder and a decoder treats their streams.
#[derive(Clone, Copy, Debug)]
struct Network {
    table: usize,
    blocked: usize,
    /// Encoder stream bytes arrive this many sections late.
    lag: usize,
    /// One decoder stream piece among this many arrives with each section; 0: none ever.
    acks: usize,
}

impl Network {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for table in [0, 64, 256, 512, 4096, 65_536] {
            for blocked in [0, 1, 100] {
                for acks in [0, 1, 7] {
                    // Without streams that may wait, lag must not matter either.
                    for lag in [0, 1, 5] {
                        all.push(Self {
                            table,
                            blocked,
                            lag,
                            acks,
                        });
                    }
                }
            }
        }
        all
    }
    /// Sends `sections` one after another and gives what the wire saw.
    fn carry(self, sections: &[Fields], receiver: &mut Receiver) -> Vec<Block> {
        let mut encoder = Encoder::new();
        encoder.set_peer(self.table as u64, self.blocked as u64);
        let mut wire = Vec::new();
        // Pieces of the encoder stream that are late, each with the section it arrives after.
        let mut late: Vec<(usize, Vec<u8>)> = Vec::new();
        let mut feedback = Vec::new();
        for (number, section) in sections.iter().enumerate() {
            let stream = number as u64 + 1;
            let mut bytes = Vec::new();
            encoder.encode_trailers(StreamId(stream), section, &mut bytes);
            let mut instructions = Vec::new();
            encoder.encoder_stream_bytes(&mut instructions);
            if !instructions.is_empty() {
                late.push((number + self.lag, instructions));
            }
            if self.lag == 0 {
                deliver(&mut late, number, receiver, &mut wire);
            }
            receiver.takes(stream, &bytes).unwrap();
            wire.push(Block { stream, bytes });
            let due = if number + 1 == sections.len() {
                usize::MAX
            } else {
                number
            };
            deliver(&mut late, due, receiver, &mut wire);
            if self.acks > 0 && number % self.acks == 0 {
                receiver.decoder.decoder_stream_bytes(&mut feedback);
                // In two pieces, wherever the cut falls.
                let (first, second) = feedback.split_at(feedback.len() / 2);
                encoder.handle_decoder_bytes(first).unwrap();
                encoder.handle_decoder_bytes(second).unwrap();
                feedback.clear();
            }
        }
        wire
    }
}

/// Delivers the pieces of the encoder stream that are due.
fn deliver(
    late: &mut Vec<(usize, Vec<u8>)>,
    due: usize,
    receiver: &mut Receiver,
    wire: &mut Vec<Block>,
) {
    while late.first().is_some_and(|(at, _)| *at <= due) {
        let (_, bytes) = late.remove(0);
        receiver.takes(0, &bytes).unwrap();
        wire.push(Block { stream: 0, bytes });
    }
}

#[test]
fn every_header_set_comes_back_from_our_own_encoder_over_any_network() {
    if is_missing() {
        return;
    }
    let sets = sets();
    let mut blocked = 0;
    for (name, sections) in &sets {
        for network in Network::all() {
            let mut receiver = Receiver::new(network.table, network.blocked);
            network.carry(sections, &mut receiver);
            receiver.expects(sections, &format!("{name} {network:?}"));
            blocked += receiver.blocked;
        }
    }
    assert!(blocked > 0, "late instructions make streams wait");
}

/// Decodes what comes in as the files of the corpus are written, with a foreign decoder, and
/// gives each section as a line of hexadecimal names and values, in the order of the streams.
const FOREIGN_DECODER: &str = r#"
import pylsqpack, struct, sys
decoder = pylsqpack.Decoder(int(sys.argv[1]), int(sys.argv[2]))
wire, sections = sys.stdin.buffer.read(), {}
while wire:
    stream, length = struct.unpack(">QI", wire[:12])
    block, wire = wire[12:12 + length], wire[12 + length:]
    if stream == 0:
        for ready in decoder.feed_encoder(block):
            sections[ready] = decoder.resume_header(ready)[1]
    else:
        try:
            sections[stream] = decoder.feed_header(stream, block)[1]
        except pylsqpack.StreamBlocked:
            pass
for stream in sorted(sections):
    print(" ".join(name.hex() + ":" + value.hex() for name, value in sections[stream]))
"#;

/// `cargo run -p trunkline-interop` makes the decoder's environment; `make test` does it first.
#[test]
fn a_foreign_decoder_reads_what_our_encoder_writes() {
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = project.join("target/tools/python/bin/python");
    if !python.exists() {
        eprintln!("skipped, no pylsqpack: {}", python.display());
        return;
    }
    if is_missing() {
        return;
    }
    for (name, sections) in &sets() {
        for (table, blocked, lag, acks) in [
            (0, 0, 0, 1),
            (256, 0, 0, 1),
            (256, 16, 0, 7),
            (512, 1, 1, 1),
            (4096, 0, 5, 7),
            (4096, 16, 5, 1),
            (4096, 100, 0, 0),
            (65_536, 16, 1, 1),
        ] {
            let network = Network {
                table,
                blocked,
                lag,
                acks,
            };
            let mut receiver = Receiver::new(table, blocked);
            let wire = network.carry(sections, &mut receiver);
            let got = foreign_sections(&python, network, &wire);
            let expected: Vec<String> = sections.iter().map(in_hexadecimal).collect();
            assert_eq!(got.len(), expected.len(), "{name} {network:?}");
            assert!(got == expected, "{name} {network:?}");
        }
    }
}

fn foreign_sections(python: &Path, network: Network, wire: &[Block]) -> Vec<String> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut child = Command::new(python)
        .args(["-c", FOREIGN_DECODER])
        .args([network.table.to_string(), network.blocked.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut bytes = Vec::new();
    for block in wire {
        bytes.extend_from_slice(&block.stream.to_be_bytes());
        bytes.extend_from_slice(&(block.bytes.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&block.bytes);
    }
    // All of it is read before anything is written.
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{network:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn in_hexadecimal(section: &Fields) -> String {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let fields = section
        .iter()
        .map(|field| format!("{}:{}", hex(field.name), hex(field.value)));
    fields.collect::<Vec<_>>().join(" ")
}

#[test]
fn our_encoder_compresses_the_corpus_about_as_well_as_the_others() {
    if is_missing() {
        return;
    }
    let sets = sets();
    for (table, blocked) in [(0, 0), (4096, 0), (4096, 100)] {
        let mut theirs = BTreeMap::new();
        for encoded in encoded() {
            // With acknowledgements.
            let with_acks = encoded.file.extension().is_some_and(|acks| acks == "1");
            if with_acks && (encoded.table, encoded.blocked) == (table, blocked) {
                let len: usize = encoded.blocks.iter().map(|block| block.bytes.len()).sum();
                *theirs.entry(encoded.set).or_insert(0) += len;
            }
        }
        // Two encoders each.
        let theirs: usize = theirs.values().sum::<usize>() / 2;
        let network = Network {
            table,
            blocked,
            lag: 0,
            acks: 1,
        };
        let mut ours = 0;
        for (name, sections) in &sets {
            if name != "draft-examples" {
                let mut receiver = Receiver::new(table, blocked);
                let wire = network.carry(sections, &mut receiver);
                ours += wire.iter().map(|block| block.bytes.len()).sum::<usize>();
            }
        }
        eprintln!("table {table}, blocked {blocked}: ours {ours}, theirs {theirs} bytes");
        assert!(ours * 100 <= theirs * 110, "{ours} against {theirs} bytes");
    }
}

/// The table's gain where each instruction arrives five sections late and acknowledgements arrive
/// with every seventh: less than on a path without loss, and never zero.
#[test]
fn our_encoder_gains_from_its_table_where_instructions_and_acknowledgements_are_late() {
    if is_missing() {
        return;
    }
    let sets = sets();
    let bytes_of = |table, blocked, lag, acks| {
        let network = Network {
            table,
            blocked,
            lag,
            acks,
        };
        let mut bytes = 0;
        for sections in sets.values() {
            let mut receiver = Receiver::new(table, blocked);
            let wire = network.carry(sections, &mut receiver);
            bytes += wire.iter().map(|block| block.bytes.len()).sum::<usize>();
        }
        bytes
    };
    let without = bytes_of(0, 0, 0, 1);
    for blocked in [0, 16] {
        let (prompt, late) = (bytes_of(4096, blocked, 0, 1), bytes_of(4096, blocked, 5, 7));
        eprintln!("blocked {blocked}: {without} without, {prompt} prompt, {late} late");
        assert!(late * 2 <= without, "{late} of {without} bytes");
        assert!(late * 100 <= prompt * 115, "{late} against {prompt} bytes");
    }
}

#[test]
fn a_section_cut_off_at_any_byte_is_an_error_or_shorter() {
    if is_missing() {
        return;
    }
    for encoded in encoded() {
        let mut receiver = Receiver::of_draft(&encoded);
        for block in encoded.blocks.iter().take(24) {
            let whole = &block.bytes;
            for len in 0..whole.len() {
                let mut decoder = receiver.decoder.clone();
                if block.stream == 0 {
                    // Never an error: the rest may come.
                    assert_eq!(decoder.handle_encoder_bytes(&whole[..len]), Ok(()));
                    continue;
                }
                let mut fields = Fields::new();
                let id = StreamId(block.stream);
                match decoder.decode(id, &whole[..len], &Limits::default(), &mut fields) {
                    Ok(DecodedSection::Refused(violation)) => panic!("{violation:?}"),
                    Ok(_) => {}
                    Err(violation) => {
                        assert_eq!(violation, Violation::QpackDecompressionFailed);
                    }
                }
            }
            receiver.takes(block.stream, whole).unwrap();
        }
    }
}

#[test]
fn damaged_streams_never_panic_and_never_pass_a_limit() {
    if is_missing() {
        return;
    }
    let limits = Limits::default()
        .with_field_count_max(20)
        .with_field_section_bytes_max(1500);
    let mut fields = Fields::new();
    let mut chance = Chance(7);
    let mut outcomes = [0; 5];
    for encoded in encoded() {
        let mut decoder = Decoder::new(encoded.table, 16);
        decoder
            .handle_encoder_bytes(&capacity(encoded.table))
            .unwrap();
        for block in &encoded.blocks {
            let mut bytes = block.bytes.clone();
            if chance.below(2) == 0 && !bytes.is_empty() {
                let at = chance.below(bytes.len());
                match chance.below(4) {
                    0 => bytes[at] = chance.below(256) as u8,
                    1 => bytes.insert(at, bytes[at]),
                    _ => bytes[at] ^= 1 << chance.below(8),
                }
            }
            // The decoder goes on after an error, which no connection does: states that no valid
            // peer reaches are tried too.
            if block.stream == 0 {
                if decoder.handle_encoder_bytes(&bytes).is_err() {
                    outcomes[0] += 1;
                }
                while let Ok(Some(_)) = decoder.poll_unblocked(&limits, &mut fields) {}
                continue;
            }
            let id = StreamId(block.stream);
            match decoder.decode(id, &bytes, &limits, &mut fields) {
                Ok(DecodedSection::Complete) => {
                    outcomes[1] += 1;
                    assert!(fields.len() <= limits.field_count_max);
                    assert!(fields.size() <= limits.field_section_bytes_max);
                }
                Ok(DecodedSection::Refused(_)) => {
                    outcomes[2] += 1;
                    assert!(fields.is_empty());
                }
                Ok(DecodedSection::Blocked) => outcomes[3] += 1,
                Err(violation) => {
                    outcomes[4] += 1;
                    assert_eq!(violation, Violation::QpackDecompressionFailed);
                    decoder.cancel(id);
                }
            }
            assert!(decoder.blocked_streams() <= 16);
        }
    }
    assert!(
        outcomes.iter().all(|&count| count > 0),
        "the damage must show every outcome: {outcomes:?}"
    );
}

#[test]
fn arbitrary_bytes_never_panic_in_any_machine() {
    let limits = Limits::default();
    let mut fields = Fields::new();
    let mut chance = Chance(11);
    let mut decoder = Decoder::new(4096, 4);
    let mut encoder = Encoder::new();
    encoder.set_peer(4096, 4);
    let mut section = Fields::new();
    section.push_named(b"x-a", b"1");
    let mut out = Vec::new();
    for round in 0..50_000 {
        let bytes: Vec<u8> = (0..chance.below(40))
            .map(|_| chance.below(256) as u8)
            .collect();
        match chance.below(3) {
            0 => {
                let _ = decoder.handle_encoder_bytes(&bytes);
                while let Ok(Some(_)) = decoder.poll_unblocked(&limits, &mut fields) {}
            }
            1 => {
                let _ = decoder.decode(StreamId(round), &bytes, &limits, &mut fields);
            }
            _ => {
                out.clear();
                encoder.encode_trailers(StreamId(round % 50), &section, &mut out);
                encoder.encoder_stream_bytes(&mut out);
                let _ = encoder.handle_decoder_bytes(&bytes);
            }
        }
        out.clear();
        decoder.decoder_stream_bytes(&mut out);
    }
}

/// A linear congruential generator: the same numbers on every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}
