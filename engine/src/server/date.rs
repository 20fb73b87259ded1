//! The `date` field, made once per second and thread (RFC 9110 section 6.6.1).

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

impl Date {
    /// The date of `now`.
    fn at(&mut self, now: Instant) -> &mut Self {
        if self.good_until.is_none_or(|until| now >= until) {
            let wall = SystemTime::now();
            let into_second = wall
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.subsec_nanos());
            self.good_until = Some(
                now + Duration::from_secs(1)
                    .saturating_sub(Duration::from_nanos(into_second.into())),
            );
            self.text.clear();
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{}", httpdate::HttpDate::from(wall));
        }
        self
    }
}

/// Gives `write` the date of `now`.
pub(super) fn with_date<R>(now: Instant, write: impl FnOnce(&[u8]) -> R) -> R {
    DATE.with_borrow_mut(|date| write(date.at(now).text.as_bytes()))
}

/// Until when the date of `now` is said.
pub(super) fn date_until(now: Instant) -> Instant {
    DATE.with_borrow_mut(|date| date.at(now).good_until.unwrap_or(now))
}
