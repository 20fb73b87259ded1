//! The `date` field (RFC 9110 section 6.6.1), formatted once per second and thread.

use std::cell::RefCell;
use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

thread_local! {
    static DATE: RefCell<Date> = const { RefCell::new(Date { text: String::new(), good_until: None }) };
}

struct Date {
    /// IMF-fixdate: 29 bytes.
    text: String,
    good_until: Option<Instant>,
}

/// Gives `write` the date of `now`.
pub(crate) fn with_date(now: Instant, write: impl FnOnce(&[u8])) {
    DATE.with_borrow_mut(|date| {
        if date.good_until.is_none_or(|until| until <= now) {
            date.renew(now);
        }
        write(date.text.as_bytes());
    })
}

/// Appends the date of `now`.
pub(super) fn write_date(now: Instant, out: &mut Vec<u8>) {
    with_date(now, |date| out.extend_from_slice(date));
}

impl Date {
    fn renew(&mut self, now: Instant) {
        let wall = SystemTime::now();
        let into_second = wall
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.subsec_nanos());
        let left = Duration::from_secs(1).saturating_sub(Duration::from_nanos(into_second.into()));
        self.text.clear();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{}", httpdate::HttpDate::from(wall));
        self.good_until = Some(now + left);
    }
}
