//! The stories of hpack-test-case: header sections as six encoders compressed them, and raw. Each
//! is decoded and compared, encoded by ours and decoded again, cut off at every byte, and damaged.

#![allow(
    clippy::unwrap_used,
    reason = "a corpus that cannot be read fails its test"
)]

use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use trunkline_core::error::Violation;
use trunkline_core::hpack::{DecodedBlock, Decoder, Encoder};
use trunkline_core::http::Fields;
use trunkline_core::limits::Limits;

/// One block of a story.
struct Case {
    table_bytes_max: Option<usize>,
    /// Empty in the raw data.
    wire: Vec<u8>,
    fields: Fields,
}

/// The blocks of one connection.
struct Story {
    file: PathBuf,
    cases: Vec<Case>,
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
        .join("hpack")
}

fn folder(path: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn stories() -> Vec<Story> {
    if !corpora().is_dir() {
        eprintln!("skipped, data missing: {}", corpora().display());
        return Vec::new();
    }
    let stories: Vec<Story> = folder(&corpora())
        .iter()
        .filter(|path| path.is_dir())
        .flat_map(|encoder| folder(encoder))
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "json")
        })
        .map(|file| story(&file))
        .collect();
    assert!(stories.len() > 200, "only {} stories", stories.len());
    stories
}

fn story(file: &Path) -> Story {
    let json: Json = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let cases = json["cases"].as_array().unwrap().iter().map(case).collect();
    Story {
        file: file.to_path_buf(),
        cases,
    }
}

fn case(json: &Json) -> Case {
    let mut fields = Fields::new();
    for field in json["headers"].as_array().unwrap() {
        for (name, value) in field.as_object().unwrap() {
            fields.push_named(name.as_bytes(), value.as_str().unwrap().as_bytes());
        }
    }
    Case {
        table_bytes_max: json["header_table_size"]
            .as_u64()
            .map(|bytes| bytes as usize),
        wire: hex(json["wire"].as_str().unwrap_or_default()),
        fields,
    }
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn pairs(fields: &Fields) -> Vec<(&[u8], &[u8])> {
    fields
        .iter()
        .map(|field| (field.name, field.value))
        .collect()
}

#[test]
fn every_block_of_every_encoder_decodes_to_its_fields() {
    let limits = Limits::default();
    let mut fields = Fields::new();
    for story in stories() {
        let mut decoder = Decoder::new(4096);
        for (number, case) in story.cases.iter().enumerate() {
            if case.wire.is_empty() {
                continue;
            }
            if let Some(bytes) = case.table_bytes_max {
                decoder.set_table_max(bytes);
            }
            let place = format!("{} block {number}", story.file.display());
            let decoded = decoder.decode(&case.wire, &limits, &mut fields);
            assert_eq!(decoded, Ok(DecodedBlock::Complete), "{place}");
            assert_eq!(pairs(&fields), pairs(&case.fields), "{place}");
        }
    }
}

#[test]
fn every_section_comes_back_from_our_own_encoder() {
    let limits = Limits::default();
    let mut fields = Fields::new();
    for story in stories() {
        let mut encoder = Encoder::new();
        let mut decoder = Decoder::new(4096);
        for (number, case) in story.cases.iter().enumerate() {
            if let Some(bytes) = case.table_bytes_max {
                encoder.set_peer_table_max(bytes as u32);
                decoder.set_table_max(bytes);
            }
            // Three times: what was noted is indexed, what was indexed is named, and then remembered.
            for _ in 0..3 {
                let mut block = Vec::new();
                encoder.encode_trailers(&case.fields, &mut block);
                let place = format!("{} block {number}", story.file.display());
                let decoded = decoder.decode(&block, &limits, &mut fields);
                assert_eq!(decoded, Ok(DecodedBlock::Complete), "{place}");
                assert_eq!(pairs(&fields), pairs(&case.fields), "{place}");
            }
        }
    }
}

#[test]
fn our_blocks_survive_a_table_that_changes_its_size_all_the_time() {
    let limits = Limits::default();
    let mut fields = Fields::new();
    let mut chance = Chance(1);
    for story in stories() {
        let mut encoder = Encoder::new();
        let mut decoder = Decoder::new(4096);
        for (number, case) in story.cases.iter().enumerate() {
            for _ in 0..chance.below(3) {
                let bytes = [0, 64, 100, 512, 2000, 4096, 65_536][chance.below(7)];
                encoder.set_peer_table_max(bytes as u32);
                decoder.set_table_max(bytes);
            }
            let mut block = Vec::new();
            encoder.encode_trailers(&case.fields, &mut block);
            let place = format!("{} block {number}", story.file.display());
            let decoded = decoder.decode(&block, &limits, &mut fields);
            assert_eq!(decoded, Ok(DecodedBlock::Complete), "{place}");
            assert_eq!(pairs(&fields), pairs(&case.fields), "{place}");
        }
    }
}

#[test]
fn our_encoder_compresses_the_corpus_about_as_well_as_the_others() {
    let mut plain = 0;
    let mut ours = 0;
    for story in stories() {
        if !story
            .file
            .parent()
            .is_some_and(|encoder| encoder.ends_with("raw-data"))
        {
            continue;
        }
        let mut encoder = Encoder::new();
        for case in &story.cases {
            let mut block = Vec::new();
            encoder.encode_trailers(&case.fields, &mut block);
            ours += block.len();
            plain += case.fields.size() - 32 * case.fields.len();
        }
    }
    // Encoders that index nearly everything at once come to 31 %.
    assert!(ours * 100 <= plain * 33, "{ours} of {plain} bytes");
}

#[test]
fn a_block_cut_off_at_any_byte_is_an_error_or_a_shorter_section() {
    let limits = Limits::default();
    let mut fields = Fields::new();
    for story in stories() {
        let mut decoder = Decoder::new(4096);
        for case in story.cases.iter().take(6) {
            if let Some(bytes) = case.table_bytes_max {
                decoder.set_table_max(bytes);
            }
            for len in 0..case.wire.len() {
                let decoded = decoder
                    .clone()
                    .decode(&case.wire[..len], &limits, &mut fields);
                match decoded {
                    Ok(DecodedBlock::Complete) => {
                        let whole = pairs(&case.fields);
                        assert!(fields.len() < whole.len(), "a byte too many in the block");
                        assert_eq!(pairs(&fields), whole[..fields.len()]);
                    }
                    Ok(DecodedBlock::Refused(violation)) => panic!("{violation:?}"),
                    Err(violation) => assert_eq!(violation, Violation::CompressionInvalid),
                }
            }
            decoder.decode(&case.wire, &limits, &mut fields).unwrap();
        }
    }
}

#[test]
fn damaged_blocks_never_panic_and_never_pass_a_limit() {
    let limits = Limits::default()
        .with_field_count_max(20)
        .with_field_section_bytes_max(1500);
    let mut fields = Fields::new();
    let mut chance = Chance(7);
    let mut outcomes = [0; 3];
    for story in stories() {
        let mut decoder = Decoder::new(4096);
        for case in &story.cases {
            let mut wire = case.wire.clone();
            if wire.is_empty() {
                continue;
            }
            for _ in 0..=chance.below(3) {
                let at = chance.below(wire.len());
                match chance.below(4) {
                    0 => wire[at] = chance.below(256) as u8,
                    1 => wire.insert(at, wire[at]),
                    _ => wire[at] ^= 1 << chance.below(8),
                }
            }
            // The decoder goes on after an error, which no connection does: states that no valid
            // peer reaches are tried too.
            match decoder.decode(&wire, &limits, &mut fields) {
                Ok(DecodedBlock::Complete) => {
                    outcomes[0] += 1;
                    assert!(fields.len() <= limits.field_count_max);
                    assert!(fields.size() <= limits.field_section_bytes_max);
                }
                Ok(DecodedBlock::Refused(_)) => {
                    outcomes[1] += 1;
                    assert!(fields.is_empty());
                }
                Err(violation) => {
                    outcomes[2] += 1;
                    assert_eq!(violation, Violation::CompressionInvalid);
                }
            }
        }
    }
    assert!(
        outcomes == [0; 3] || outcomes.iter().all(|&count| count > 0),
        "the damage must show every outcome: {outcomes:?}"
    );
}

#[test]
fn arbitrary_bytes_never_panic_and_never_pass_a_limit() {
    let limits = Limits::default()
        .with_field_count_max(20)
        .with_field_section_bytes_max(1500);
    let mut chance = Chance(11);
    let mut fields = Fields::new();
    let mut decoder = Decoder::new(4096);
    for _ in 0..50_000 {
        let block: Vec<u8> = (0..chance.below(60))
            .map(|_| chance.below(256) as u8)
            .collect();
        if decoder.decode(&block, &limits, &mut fields) == Ok(DecodedBlock::Complete) {
            assert!(fields.len() <= limits.field_count_max);
            assert!(fields.size() <= limits.field_section_bytes_max);
        }
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
