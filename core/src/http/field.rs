//! A header block as an arena: one byte buffer, and per field a token or a range for the name
//! and a range for the value. Decoding a block allocates nothing once the arena has grown.

pub(super) mod spellings;
pub(super) mod structured;
pub(crate) mod syntax;
mod token;

pub use token::Token;

use spellings::Spellings;
use std::fmt;

/// RFC 9113 section 10.5.1: each field counts 32 bytes beside its name and value.
pub const FIELD_OVERHEAD_BYTES: usize = 32;

/// The value stands at `value_at`; a name without a token right in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    value_at: u32,
    value_len: u32,
    /// 0 where there is a token.
    name_len: u32,
    token: Option<Token>,
    sensitive: bool,
    /// A compressor's table vouches for it.
    sound: bool,
}

/// One field of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The token of the name, if it has one.
    pub token: Option<Token>,
    /// The name, lower-case.
    pub name: &'a [u8],
    /// The value as it came: bytes, not necessarily UTF-8.
    pub value: &'a [u8],
    /// Never to be indexed by a compressor (RFC 7541 section 7.1.3).
    pub sensitive: bool,
}

impl Field<'_> {
    /// By RFC 9113 section 10.5.1.
    fn size(&self) -> usize {
        self.name.len() + self.value.len() + FIELD_OVERHEAD_BYTES
    }
}

/// A field section in the order it came. Names are lower-case.
///
/// Worst-case memory: `field_section_bytes_max` for the bytes and 16 bytes per field.
#[derive(Clone, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    size: usize,
    /// See [`spell`](Self::spell); a zero behind each.
    spellings: Vec<u8>,
}

impl Fields {
    /// An empty block; allocates with its first field.
    pub fn new() -> Self {
        Self::default()
    }
    /// An empty block with room for `fields` fields and `bytes` bytes of names and values.
    pub fn with_capacity(fields: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            entries: Vec::with_capacity(fields),
            ..Self::default()
        }
    }
    /// Forgets the fields, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.spellings.clear();
        self.size = 0;
    }
    /// How many fields.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The size by RFC 9113 section 10.5.1: names, values and 32 bytes each.
    pub fn size(&self) -> usize {
        self.size
    }
    /// Appends a field whose name has a token.
    pub fn push(&mut self, token: Token, value: &[u8]) {
        self.push_with(FieldName::Token(token), false, |bytes| {
            bytes.extend_from_slice(value)
        });
    }
    /// Appends a field by name (lower-case); finds its token.
    pub fn push_named(&mut self, name: &[u8], value: &[u8]) {
        self.push_with(FieldName::of(name), false, |bytes| {
            bytes.extend_from_slice(value)
        });
    }
    /// How the name of the next regular field without a spelling is written, case and all: HTTP/1.1
    /// alone carries it, and names are compared without case (RFC 9110 section 5.1). The first
    /// fields of a section have spellings, or none has.
    pub fn spell(&mut self, name: &[u8]) {
        self.spellings.extend_from_slice(name);
        self.spellings.push(0);
    }
    /// The spellings of regular fields, in their order.
    pub fn spellings(&self) -> Spellings<'_> {
        Spellings::of(&self.spellings)
    }
    /// Appends a field whose value `write` puts straight into the arena: no copy for a decoder.
    /// `write` must only append.
    #[inline]
    pub fn push_with<R>(
        &mut self,
        name: FieldName<'_>,
        sensitive: bool,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        self.put(name, sensitive, false, write)
    }
    #[inline]
    fn put<R>(
        &mut self,
        name: FieldName<'_>,
        sensitive: bool,
        sound: bool,
        write: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        let token = match name {
            FieldName::Token(token) => Some(token),
            FieldName::Bytes(bytes) => {
                // Rules look at tokens: a known name without its token would slip past them.
                debug_assert!(Token::from_name(bytes).is_none());
                self.bytes.extend_from_slice(bytes);
                None
            }
        };
        let value_at = self.bytes.len();
        let result = write(&mut self.bytes);
        let value_len = self.bytes.len() - value_at;
        let name_len = name.as_bytes().len();
        self.size += name_len + value_len + FIELD_OVERHEAD_BYTES;
        self.entries.push(Entry {
            value_at: value_at as u32,
            value_len: value_len as u32,
            name_len: if token.is_some() { 0 } else { name_len as u32 },
            token,
            sensitive,
            sound,
        });
        result
    }
    /// Appends a field of a compressor's table; `sound`: the table vouches for it.
    #[inline]
    pub(crate) fn push_known(&mut self, name: FieldName<'_>, value: &[u8], sound: bool) {
        self.put(name, false, sound, |bytes| bytes.extend_from_slice(value));
    }
    /// The last field passed [`is_sound`](super::head::is_sound), now or when a compressor's
    /// table took it: the validator need not look at it again.
    #[inline]
    pub(crate) fn mark_last_sound(&mut self) {
        if let Some(entry) = self.entries.last_mut() {
            entry.sound = true;
        }
    }
    /// The token of each field, and whether the field was vouched for.
    #[inline]
    pub(crate) fn outlines(&self) -> impl Iterator<Item = (Option<Token>, bool)> + '_ {
        self.entries.iter().map(|entry| (entry.token, entry.sound))
    }
    /// The field at `index`.
    #[inline]
    pub fn at(&self, index: usize) -> Option<Field<'_>> {
        self.entries.get(index).map(|entry| self.field(entry))
    }
    /// The value of the field at `index`, without a look at its name.
    #[inline]
    pub fn value_at(&self, index: usize) -> Option<&[u8]> {
        self.entries.get(index).map(|entry| self.value(entry))
    }
    /// All fields in order.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Field<'_>> + ExactSizeIterator + Clone {
        self.iter_from(0)
    }
    /// The fields from `index` on; those before it cost nothing.
    #[inline]
    pub fn iter_from(
        &self,
        index: usize,
    ) -> impl DoubleEndedIterator<Item = Field<'_>> + ExactSizeIterator + Clone {
        let entries = self.entries.get(index..).unwrap_or_default();
        entries.iter().map(|entry| self.field(entry))
    }
    /// The value of the first field with this token.
    pub fn get(&self, token: Token) -> Option<&[u8]> {
        self.entries
            .iter()
            .find(|entry| entry.token == Some(token))
            .map(|entry| self.value(entry))
    }
    /// The value of the first field with this lower-case name.
    pub fn get_named(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter()
            .find(|field| field.name == name)
            .map(|field| field.value)
    }
    /// Marks every field with this token as never to be indexed.
    pub fn mark_sensitive(&mut self, token: Token) {
        for entry in self
            .entries
            .iter_mut()
            .filter(|entry| entry.token == Some(token))
        {
            entry.sensitive = true;
        }
    }
    /// The capacity of the arena of names and values, bytes.
    #[cfg(test)]
    pub(crate) fn arena_capacity(&self) -> usize {
        self.bytes.capacity()
    }
    /// Becomes a copy of `other` in the memory it has.
    pub(crate) fn copy_from(&mut self, other: &Fields) {
        self.clear();
        self.bytes.extend_from_slice(&other.bytes);
        self.entries.extend_from_slice(&other.entries);
        self.spellings.extend_from_slice(&other.spellings);
        self.size = other.size;
    }
    /// Appends the fields of `other` from `index` on, with one copy of their bytes.
    pub(crate) fn append_from(&mut self, other: &Fields, index: usize) {
        let Some((first, entries)) = other.tail(index) else {
            return;
        };
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&other.bytes[first as usize..]);
        self.entries.extend(entries.iter().map(|entry| Entry {
            value_at: entry.value_at - first + at,
            ..*entry
        }));
        self.spellings.extend_from_slice(&other.spellings);
        let before = other.entries[..index].iter();
        let before: usize = before.map(|entry| other.field(entry).size()).sum();
        self.size += other.size - before;
    }
    /// Whether the fields from `index` on are those of `other` from `other_index` on.
    pub(crate) fn ends_like(&self, index: usize, other: &Fields, other_index: usize) -> bool {
        let (Some((first, entries)), Some((other_first, other_entries))) =
            (self.tail(index), other.tail(other_index))
        else {
            return self.len() == index && other.len() == other_index;
        };
        let is_like = |(one, two): (&Entry, &Entry)| {
            (one.token, one.name_len, one.value_len, one.sensitive)
                == (two.token, two.name_len, two.value_len, two.sensitive)
        };
        entries.len() == other_entries.len()
            && self.bytes[first as usize..] == other.bytes[other_first as usize..]
            && entries.iter().zip(other_entries).all(is_like)
    }
    /// The entries from `index` on, and where their bytes begin; nothing if there are none.
    fn tail(&self, index: usize) -> Option<(u32, &[Entry])> {
        let entries = self.entries.get(index..)?;
        let first = entries.first()?;
        Some((first.value_at - first.name_len, entries))
    }
    /// Whether `other` has the same fields laid out in the same way: cheaper than `==`, and
    /// true of two sections that were made alike.
    pub fn is_twin_of(&self, other: &Fields) -> bool {
        self.bytes == other.bytes && self.entries == other.entries
    }
    #[inline]
    fn field(&self, entry: &Entry) -> Field<'_> {
        let name = match entry.token {
            Some(token) => token.as_str().as_bytes(),
            None => {
                &self.bytes[(entry.value_at - entry.name_len) as usize..entry.value_at as usize]
            }
        };
        Field {
            token: entry.token,
            name,
            value: self.value(entry),
            sensitive: entry.sensitive,
        }
    }
    #[inline]
    fn value(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.value_at as usize..(entry.value_at + entry.value_len) as usize]
    }
}

/// A name on its way into [`Fields`].
#[derive(Clone, Copy, Debug)]
pub enum FieldName<'a> {
    /// Known at compile time.
    Token(Token),
    /// Any other, lower-case.
    Bytes(&'a [u8]),
}

impl<'a> FieldName<'a> {
    /// The token if the name has one, else the bytes.
    pub fn of(name: &'a [u8]) -> Self {
        Token::from_name(name).map_or(Self::Bytes(name), Self::Token)
    }
    /// The token, if the name has one.
    pub fn token(self) -> Option<Token> {
        match self {
            Self::Token(token) => Some(token),
            Self::Bytes(_) => None,
        }
    }
    /// The name itself.
    pub fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::Token(token) => token.as_str().as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|field| {
                let value = if field.sensitive {
                    "(sensitive)".into()
                } else {
                    String::from_utf8_lossy(field.value)
                };
                (String::from_utf8_lossy(field.name), value)
            }))
            .finish()
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
impl Eq for Fields {}

/// Names (lower-case) and values, in order.
impl<N: AsRef<[u8]>, V: AsRef<[u8]>> FromIterator<(N, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut fields = Self::new();
        for (name, value) in pairs {
            fields.push_named(name.as_ref(), value.as_ref());
        }
        fields
    }
}

#[cfg(test)]
#[path = "field_test.rs"]
mod field_test;
