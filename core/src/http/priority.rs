//! Priorities (RFC 9218): parses the priority field and the PRIORITY_UPDATE frame, which share a
//! syntax. The priority tree of RFC 7540 is not implemented.

pub mod schedule;

use super::field::structured::{self, Value};

/// RFC 9218 section 4. The order of the type is the order of sending: lower urgency first, and
/// within an urgency those that need to be whole before those that are used as they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Priority {
    /// From 0 (first) to 7; default 3.
    pub urgency: u8,
    /// Useful piece by piece: shares the connection with its equals. Default false.
    pub incremental: bool,
}

/// RFC 9218 section 4.1.
pub const URGENCY_DEFAULT: u8 = 3;
/// RFC 9218 section 4.1: the last.
pub const URGENCY_MAX: u8 = 7;

impl Default for Priority {
    fn default() -> Self {
        Self {
            urgency: URGENCY_DEFAULT,
            incremental: false,
        }
    }
}

impl Priority {
    /// That of a stream whose client names none, where such streams share: by turns, with the default urgency.
    pub const SHARED: Self = Self {
        urgency: URGENCY_DEFAULT,
        incremental: true,
    };
    /// Reads the value of a priority field or a PRIORITY_UPDATE frame; never fails. RFC 9218
    /// section 4: unknown members, members of another type and urgencies out of range are
    /// ignored; a field that is no dictionary counts as absent.
    pub fn parse(value: &[u8]) -> Self {
        Self::default().overridden_by(value)
    }
    /// Merges a response's priority into the request's (RFC 9218 section 8): a member that the
    /// response leaves out stays.
    #[must_use]
    pub fn overridden_by(self, value: &[u8]) -> Self {
        let (mut urgency, mut incremental) = (None, None);
        // The last member of a key counts, even if it is then ignored for its type.
        let parsed = structured::dictionary(value, |key, value| match key {
            b"u" => urgency = Some(value),
            b"i" => incremental = Some(value),
            _ => {}
        });
        let mut priority = self;
        if parsed.is_err() {
            return priority;
        }
        if let Some(Value::Integer(number)) = urgency
            && (0..=i64::from(URGENCY_MAX)).contains(&number)
        {
            priority.urgency = number as u8;
        }
        if let Some(Value::Boolean(truth)) = incremental {
            priority.incremental = truth;
        }
        priority
    }
}

#[cfg(test)]
#[path = "priority_test.rs"]
mod priority_test;
