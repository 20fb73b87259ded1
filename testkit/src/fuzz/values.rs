//! Values of fields that peers choose: Alt-Svc (RFC 7838) and the dictionaries of structured fields
//! (RFC 9651) behind `priority` (RFC 9218).

use std::time::Duration;
use trunkline_core::http::Priority;
use trunkline_core::pool::AltSvc;

/// An `alt-svc` value: what is read of it is usable, and blanks around it change nothing.
pub fn alt_svc(data: &[u8]) {
    const HOST: &str = "a.test";
    const MAX_AGE_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
    /// Bytes of a value that are looked at; blanks in front would push others out.
    const LOOKED_AT: usize = 4096;
    let read = AltSvc::parse(data, HOST);
    if let Some(AltSvc::Http3 { port, max_age }) = read {
        assert_ne!(port, 0);
        assert!(max_age > Duration::ZERO && max_age <= MAX_AGE_MAX);
    }
    if data.len() + 2 <= LOOKED_AT {
        let padded = [b" ", data, b"\t"].concat();
        assert_eq!(AltSvc::parse(&padded, HOST), read, "blanks mean nothing");
    }
    // RFC 7838 section 3: a list of alternatives in order, of which the first that is usable counts.
    if matches!(read, Some(AltSvc::Http3 { .. })) && data.len() + 20 <= LOOKED_AT {
        let more = [data, b", h3=\":9\"; ma=60"].concat();
        assert_eq!(AltSvc::parse(&more, HOST), read);
    }
}

/// A `priority` value: it is in range, and said again in its own words it is the same.
pub fn priority(data: &[u8]) {
    let read = Priority::parse(data);
    assert!(read.urgency <= 7);
    let words = format!("u={}, i=?{}", read.urgency, u8::from(read.incremental));
    assert_eq!(Priority::parse(words.as_bytes()), read);
    // RFC 9651 section 4.2.2: of one key the last member counts.
    let again = [data, b", u=5, i"].concat();
    let over = Priority::parse(&again);
    let expected = Priority {
        urgency: 5,
        incremental: true,
    };
    // Behind what is no dictionary nothing counts.
    assert!(over == expected || over == Priority::default(), "{over:?}");
    // Parameters that a response leaves out stay (RFC 9218 section 8).
    let first = Priority {
        urgency: 1,
        incremental: true,
    };
    let mixed = first.overridden_by(data);
    assert!(mixed.urgency == 1 || mixed.urgency == read.urgency);
    assert!(mixed.incremental || !read.incremental);
}
