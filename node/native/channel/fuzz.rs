//! The body of the fuzz target `channel`: submissions with arbitrary words and texts, as no JavaScript of
//! ours writes them. Whatever stands in the memory, each entry is read once, with bytes of the arena
//! alone, and its texts are decoded or refused.
//!
//! The input is `[count, count entries of 8 bytes, the arena's first bytes]`. An entry's bytes are its
//! code, body, number, four of position and length, and one for the words behind them.

use super::bodies::Bodies;
use super::codes::control::{READ, SUBMITTED};
use super::codes::{ENTRY_WORDS, Entry, LENGTH};
use super::heads::head::{Heads, absolute_head, leaving_head};
use super::records::{self, FileRequest};
use super::ring::{ARENA_BYTES, ENTRIES, Memory, Submissions, body_of, code_of};
use super::sync::Ordering;
use bytes::Bytes;
use trunkline::core::http::RequestHead;

/// Bytes of the input per entry.
const INPUT_BYTES: usize = 8;

/// Longer texts are not read as heads: most of a long one are the zeros of unused memory, which are a
/// hundred thousand empty fields.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Publishes the entries of `data` and reads them.
pub(crate) fn channel(data: &[u8]) {
    let (&count, rest) = data.split_first().unwrap_or((&0, &[]));
    let split = rest.len().min(usize::from(count) * INPUT_BYTES);
    let (entries, text) = rest.split_at(split);
    let entries: Vec<Entry> = entries
        .as_chunks::<INPUT_BYTES>()
        .0
        .iter()
        .map(words)
        .collect();
    let text = &text[..text.len().min(ARENA_BYTES as usize)];
    let memory = Memory::new();
    publish(&memory, &entries, text);
    let mut submissions = Submissions::new(memory.clone());
    let mut known = Heads::default();
    let mut read = 0;
    while submissions.next(records::range, |entry, bytes| {
        assert_eq!(entry, entries[read], "entry {read}");
        check(&memory, &entry, bytes, &mut known);
        read += 1;
    }) {}
    assert_eq!(read, entries.len(), "every entry is read once");
    assert_eq!(memory.control[READ].load(Ordering::SeqCst), read as u32);
    assert!(!submissions.next(|_| None, |_, _| panic!("an entry that nobody wrote")));
    bodies(text);
}

/// An entry of its bytes in the input. Positions and lengths are small, beyond all bytes, or huge.
fn words(input: &[u8; INPUT_BYTES]) -> Entry {
    let &[code, body, number, at, scale, length, other, more] = input;
    let scaled = |value: u8, scale: u8| match scale % 8 {
        0..=3 => u32::from(value),
        4 => u32::from(value) << 8,
        5 => ARENA_BYTES - u32::from(value),
        6 => u32::MAX - u32::from(value),
        _ => u32::from(value) << 24,
    };
    let word0 = u32::from(code) | u32::from(body) << 8 | u32::from(more) << 16;
    let position = scaled(at, scale & 7);
    let length = scaled(length, scale >> 3);
    let last = scaled(more, other & 7);
    let mut entry = [0; ENTRY_WORDS];
    let all = [
        word0,
        u32::from(number),
        u32::from(other),
        position,
        length,
        last,
        last,
        last,
    ];
    entry.copy_from_slice(&all);
    entry
}

/// Writes what JavaScript would write.
fn publish(memory: &Memory, entries: &[Entry], text: &[u8]) {
    assert!(entries.len() <= ENTRIES as usize);
    let bytes: Vec<u8> = entries
        .iter()
        .flatten()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    // SAFETY: both lie inside, and nothing is published yet.
    unsafe {
        memory.submissions.write(0, &bytes);
        memory.submission_arena.write(0, text);
    }
    memory.control[SUBMITTED].store(entries.len() as u32, Ordering::SeqCst);
}

/// One entry with its bytes.
fn check(memory: &Memory, entry: &Entry, bytes: &[u8], known: &mut Heads) {
    let arena = memory.submission_arena.start() as usize;
    let start = bytes.as_ptr() as usize;
    let end = arena + ARENA_BYTES as usize;
    assert!(bytes.is_empty() || (start >= arena && start + bytes.len() <= end));
    if records::range(entry).is_none() {
        assert!(bytes.is_empty());
    }
    let (text, body) = records::text_and_body(entry, bytes);
    assert_eq!(text.len() + body.len(), bytes.len(), "no byte is lost");
    assert!(text.len() <= entry[LENGTH] as usize);
    let (reason, fields, rest) = records::answer_parts(entry, bytes);
    assert_eq!([reason, fields].concat(), text);
    assert_eq!(rest, body);
    if text.len() <= HEAD_BYTES_MAX {
        heads(known, text);
    }
    // A file's text is UTF-8, or it is refused.
    if let Some(file) = FileRequest::read(body) {
        let written = format!(
            "{}\0{}\0{}",
            file.offset,
            file.length
                .map_or(String::new(), |length| length.to_string()),
            file.path.display()
        );
        assert_eq!(FileRequest::read(written.as_bytes()), Some(file));
    }
    let _ = (code_of(entry), body_of(entry));
}

/// A head is the same from the cache and without it, and no head of a text has what the text has not.
fn heads(known: &mut Heads, text: &[u8]) {
    let fresh = Heads::default().read("https", text);
    let expected = fresh.as_ref().map(printed);
    for _ in 0..2 {
        let again = known.read("https", text);
        assert_eq!(again.as_ref().map(printed), expected, "{text:?}");
    }
    for head in [fresh, absolute_head(text), leaving_head(text)] {
        let Ok(head) = head else {
            continue;
        };
        assert!(!head.method().is_empty());
        for field in head.fields() {
            assert!(!field.value.contains(&0) && !field.name.is_empty());
        }
    }
}

/// All that a head says.
fn printed(head: &RequestHead) -> String {
    let spellings: Vec<&[u8]> = head.section().spellings().collect();
    format!("{head:?} {spellings:?}")
}

/// Bodies by reference, against a list: `choices` below 128 put one, the others take a number.
fn bodies(choices: &[u8]) {
    let mut bodies = Bodies::default();
    let mut expected: Vec<Option<Vec<u8>>> = Vec::new();
    for (serial, &choice) in choices.iter().take(512).enumerate() {
        if choice < 128 {
            let body = serial.to_ne_bytes();
            let number = bodies.put(Bytes::copy_from_slice(&body)) as usize;
            if expected.len() <= number {
                expected.resize(number + 1, None);
            }
            let free = expected[number].replace(body.to_vec());
            assert_eq!(free, None, "{number} was given out twice");
        } else {
            let number = usize::from(choice - 128);
            let held = expected.get_mut(number).and_then(Option::take);
            assert_eq!(bodies.take(number as u32), held.unwrap_or_default());
        }
    }
}

#[cfg(test)]
#[path = "fuzz_test.rs"]
mod fuzz_test;
