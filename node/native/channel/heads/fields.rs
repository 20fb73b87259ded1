//! Encodes field sections for JavaScript.

use trunkline::core::http::{Field, Fields};

/// Fields as JavaScript splits them: names and values by turns, a zero between two. No valid field
/// holds a zero.
pub(crate) fn with_text<'a, R>(
    fields: impl Iterator<Item = Field<'a>>,
    give: impl FnOnce(&[u8]) -> R,
) -> R {
    with_text_behind(&[], fields, give)
}

/// As `with_text`, behind other words.
pub(crate) fn with_text_behind<'a, R>(
    words: &[u8],
    fields: impl Iterator<Item = Field<'a>>,
    give: impl FnOnce(&[u8]) -> R,
) -> R {
    let mut text = Vec::with_capacity(512);
    text.extend_from_slice(words);
    for field in fields {
        if text.len() > words.len() {
            text.push(0);
        }
        text.extend_from_slice(field.name);
        text.push(0);
        text.extend_from_slice(field.value);
    }
    give(&text)
}

/// Fields with their names as HTTP/1.1 carried them.
pub(crate) fn spelled<'a>(
    section: &'a Fields,
    fields: impl Iterator<Item = Field<'a>>,
) -> impl Iterator<Item = Field<'a>> {
    let mut spellings = section.spellings();
    fields.map(move |field| Field {
        name: spellings.next().unwrap_or(field.name),
        ..field
    })
}
