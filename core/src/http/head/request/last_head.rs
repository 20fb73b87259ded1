//! Caches a connection's last request head beside its bytes. Clients usually repeat a request, or
//! all of it but the target, so an equal section is neither decoded nor validated again.
//!
//! The cache saves time and holds no protocol state: dropping it changes no result. A peer whose
//! heads never repeat pays a comparison of lengths and a count per head.

mod admission;

use super::{RequestHead, Whole};
use crate::http::field::syntax;
use crate::http::{Token, Version};
use admission::Admission;
use std::num::NonZeroU32;

/// Longer heads mostly carry something that changes; and a few bytes may name much of a table.
const BYTES_MAX: usize = 2048;
/// Bound of a cached head's decoded size, by the count of RFC 9113 section 10.5.1.
const SECTION_BYTES_MAX: usize = 4096;

/// Nothing, or the head that may come again.
///
/// Worst-case memory: twice [`BYTES_MAX`] and [`SECTION_BYTES_MAX`], as a vector grows by doubling.
#[derive(Debug, Default)]
pub(crate) struct LastHead {
    /// Made once, and its memory used again.
    known: Option<Box<KnownHead>>,
    /// How many were kept so far: no two have one number.
    kept: u32,
}

/// A head, and what it was read from.
#[derive(Debug)]
pub(crate) struct KnownHead {
    bytes: Vec<u8>,
    /// HTTP/1.1: bytes of the first line.
    line_len: usize,
    /// The state, beside the bytes, under which the head was read.
    stamp: u64,
    version: Version,
    head: Whole,
    number: NonZeroU32,
    /// The number of its regular fields.
    fields_number: NonZeroU32,
    admission: Admission,
}

impl LastHead {
    /// The length of the bytes that [`find`](Self::find) knows.
    pub(crate) fn len(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.bytes.len())
    }
    /// The head that these bytes were under the same `stamp`.
    #[inline]
    pub(crate) fn find(&mut self, bytes: &[u8], stamp: u64) -> Option<&mut KnownHead> {
        let known = self.known.as_deref_mut();
        known.filter(|known| known.stamp == stamp && known.bytes == bytes)
    }
    /// Another head came than the known one: whether to [`keep`](Self::keep) it. To be asked once
    /// for each.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        let known = self.known.as_deref_mut();
        known.is_none_or(|known| known.admission.is_due())
    }
    /// Keeps `head` as what `bytes` decode to.
    #[cold]
    pub(crate) fn keep(&mut self, bytes: &[u8], stamp: u64, head: &RequestHead, version: Version) {
        if bytes.len() > BYTES_MAX || head.section().size() > SECTION_BYTES_MAX {
            return;
        }
        let Some(number) = self.kept.checked_add(1).and_then(NonZeroU32::new) else {
            return;
        };
        self.kept = number.get();
        let fields_number = head.0.fields_number.unwrap_or(number);
        let line_len = memchr::memchr(b'\n', bytes).map_or(0, |at| at + 1);
        let Some(known) = &mut self.known else {
            self.known = Some(Box::new(KnownHead {
                bytes: bytes.to_vec(),
                line_len,
                stamp,
                version,
                head: Whole::clone(&head.0),
                number,
                fields_number,
                admission: Admission::new(),
            }));
            return;
        };
        known.bytes.clear();
        known.bytes.extend_from_slice(bytes);
        known.line_len = line_len;
        known.stamp = stamp;
        known.version = version;
        known.head.fields.copy_from(&head.0.fields);
        known.head.marks = head.0.marks;
        known.number = number;
        known.fields_number = fields_number;
        known.admission.note_kept();
    }
    /// HTTP/1.1: the head at the front of `bytes`, if it is the known one except for the path that it
    /// asks for; and its length.
    pub(crate) fn find_but_path<'a>(&mut self, bytes: &'a [u8]) -> Option<OtherPath<'_, 'a>> {
        let known = self.known.as_deref_mut()?;
        let (line, section) = known.bytes.split_at(known.line_len);
        let line_len = memchr::memchr(b'\n', bytes)? + 1;
        if !bytes[line_len..].starts_with(section) || !known.head.asks_for_path() {
            return None;
        }
        let (before, behind) = (known.head.method().len() + 1, VERSION_BYTES);
        let path = bytes[..line_len]
            .strip_prefix(&line[..before])?
            .strip_suffix(&line[line.len() - behind..])?;
        // The parser wants UTF-8 too.
        (path.is_ascii() && syntax::is_path(path)).then_some(OtherPath {
            len: line_len + section.len(),
            path,
            known,
        })
    }
    /// Gives `head` the number of its regular fields, if they are those of the known one.
    #[inline]
    pub(crate) fn number_fields(&self, head: &mut RequestHead) {
        if let Some(known) = &self.known {
            let (at, known_at) = (head.0.marks.pseudo, known.head.marks.pseudo);
            let fields = &head.0.fields;
            if fields.ends_like(at.into(), &known.head.fields, known_at.into()) {
                head.0.fields_number = Some(known.fields_number);
            }
        }
    }
    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        self.known = None;
    }
}

impl KnownHead {
    /// The head once more, in the memory of `spare`, which is of the same connection: it need not be
    /// written where that is it already.
    #[inline]
    pub(crate) fn again(&mut self, spare: Option<RequestHead>) -> RequestHead {
        self.admission.note_again();
        match spare {
            Some(head) if head.0.number == Some(self.number) => {
                debug_assert!(
                    head.0.fields.is_twin_of(&self.head.fields),
                    "a head of another connection was given back to this one"
                );
                head
            }
            spare => self.copy(spare),
        }
    }
    fn copy(&self, spare: Option<RequestHead>) -> RequestHead {
        let mut spare = spare;
        let mut fields = spare
            .as_mut()
            .map(RequestHead::take_fields)
            .unwrap_or_default();
        fields.copy_from(&self.head.fields);
        RequestHead::of(
            spare,
            Whole {
                fields,
                marks: self.head.marks,
                number: Some(self.number),
                fields_number: Some(self.fields_number),
            },
        )
    }
    /// The version its bytes said.
    pub(crate) fn version(&self) -> Version {
        self.version
    }
}

/// The end of a request line, behind the target: a space, the version, CR and LF.
const VERSION_BYTES: usize = b" HTTP/1.1\r\n".len();

/// A head that is the known one except for its path.
pub(crate) struct OtherPath<'k, 'a> {
    known: &'k mut KnownHead,
    /// Bytes of the whole head.
    pub(crate) len: usize,
    pub(crate) path: &'a [u8],
}

impl OtherPath<'_, '_> {
    /// The head, in the memory of `spare`.
    pub(crate) fn head(&self, spare: Option<RequestHead>) -> RequestHead {
        let known = &self.known.head;
        let mut spare = spare;
        let mut fields = spare
            .as_mut()
            .map(RequestHead::take_fields)
            .unwrap_or_default();
        fields.push(Token::METHOD, known.method());
        fields.push(Token::PATH, self.path);
        fields.append_from(&known.fields, usize::from(known.marks.pseudo));
        RequestHead::of(
            spare,
            Whole {
                fields,
                // Fields keep their positions, and their marks.
                marks: known.marks,
                number: None,
                fields_number: Some(self.known.fields_number),
            },
        )
    }
    /// The version that its bytes say.
    pub(crate) fn version(&self) -> Version {
        self.known.version
    }
}

impl Whole {
    fn method(&self) -> &[u8] {
        self.fields.get(Token::METHOD).unwrap_or_default()
    }
    /// HTTP/1.1: whether it is of a method and a path, in this order, and nothing else stands in
    /// front of its fields.
    fn asks_for_path(&self) -> bool {
        let path = self.fields.get(Token::PATH);
        self.marks.pseudo == 2
            && self.marks.at[Token::METHOD.index()] == 0
            && path.is_some_and(|path| path.starts_with(b"/"))
    }
}

#[cfg(test)]
#[path = "last_head_test.rs"]
mod last_head_test;
