//! The timer table: all deadlines of a connection, at most one per kind.

use std::time::{Duration, Instant};

/// The kinds of deadlines that one table holds: an enum without data, declared with
/// `timer_kinds!`.
pub trait TimerKind: Copy + 'static {
    /// All kinds, in the order of their declaration.
    const ALL: &'static [Self];
    /// One number per kind.
    type Deadlines: Copy + std::fmt::Debug + AsRef<[u64]> + AsMut<[u64]>;
    /// No deadline of any kind.
    const UNSET: Self::Deadlines;
    /// The place of this kind in [`ALL`](Self::ALL).
    fn index(self) -> usize;
}

/// Declares an enum whose variants are the kinds of one [`TimerTable`].
macro_rules! timer_kinds {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident {
        $($(#[$about:meta])* $kind:ident,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$about])* $kind,)+
        }
        impl $crate::time::TimerKind for $name {
            const ALL: &'static [Self] = &[$(Self::$kind),+];
            type Deadlines = [u64; [$($name::$kind),+].len()];
            const UNSET: Self::Deadlines = [$crate::time::UNSET; [$($name::$kind),+].len()];
            #[inline]
            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

pub(crate) use timer_kinds;

/// A set of deadlines indexed by a small enum `T`; at most one per kind.
///
/// Half the size of a table of instants, and numbers compare faster: each deadline is the
/// nanoseconds since the table was created, which suffice for five hundred years.
#[derive(Clone, Copy, Debug)]
pub struct TimerTable<T: TimerKind> {
    made_at: Instant,
    deadlines: T::Deadlines,
}

/// An instant in the table's own units, to set several deadlines without converting each.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

/// The number of a kind without a deadline.
pub(crate) const UNSET: u64 = u64::MAX;

impl<T: TimerKind> TimerTable<T> {
    /// No deadlines; none to come is before `now`.
    pub fn new(now: Instant) -> Self {
        Self {
            made_at: now,
            deadlines: T::UNSET,
        }
    }
    /// Forgets all deadlines.
    pub fn clear(&mut self) {
        self.deadlines = T::UNSET;
    }
    /// Sets or moves the deadline of `kind`.
    pub fn set(&mut self, kind: T, at: Instant) {
        let number = self.number(at);
        *self.entry(kind) = number;
    }
    /// `at` by the count of this table.
    pub fn moment(&self, at: Instant) -> Moment {
        Moment(self.number(at))
    }
    /// Sets or moves the deadline of `kind` to `after` behind `from`, which is of this table: most
    /// of the cost of [`set`](Self::set) is to find out what moment it is.
    pub fn set_after(&mut self, kind: T, from: Moment, after: Duration) {
        *self.entry(kind) = from.0.saturating_add(nanos(after)).min(UNSET - 1);
    }
    /// Sets the deadline of `kind`, unless there is an earlier one.
    pub fn set_earlier(&mut self, kind: T, at: Instant) {
        let number = self.number(at);
        let entry = self.entry(kind);
        *entry = number.min(*entry);
    }
    /// Forgets the deadline of `kind`.
    pub fn stop(&mut self, kind: T) {
        *self.entry(kind) = UNSET;
    }
    /// The deadline of `kind`.
    pub fn get(&self, kind: T) -> Option<Instant> {
        self.instant(self.deadline(kind))
    }
    /// Whether `kind` has a deadline.
    pub fn is_set(&self, kind: T) -> bool {
        self.deadline(kind) != UNSET
    }
    /// The earliest deadline.
    pub fn next(&self) -> Option<Instant> {
        let deadlines = self.deadlines.as_ref().iter();
        self.instant(deadlines.copied().min().unwrap_or(UNSET))
    }
    /// Takes one kind whose deadline is at or before `now`.
    pub fn expire(&mut self, now: Instant) -> Option<T> {
        let now = self.number(now);
        let mut entries = self.deadlines.as_mut().iter_mut().zip(T::ALL);
        let (entry, &kind) = entries.find(|(at, _)| **at <= now)?;
        *entry = UNSET;
        Some(kind)
    }

    /// Moves every deadline away by `by`.
    pub fn postpone(&mut self, by: Duration) {
        let by = nanos(by);
        let deadlines = self.deadlines.as_mut().iter_mut();
        for deadline in deadlines.filter(|at| **at != UNSET) {
            *deadline = deadline.saturating_add(by).min(UNSET - 1);
        }
    }

    #[inline]
    fn entry(&mut self, kind: T) -> &mut u64 {
        &mut self.deadlines.as_mut()[kind.index()]
    }
    #[inline]
    fn deadline(&self, kind: T) -> u64 {
        self.deadlines.as_ref()[kind.index()]
    }
    fn number(&self, at: Instant) -> u64 {
        nanos(at.saturating_duration_since(self.made_at))
    }
    fn instant(&self, number: u64) -> Option<Instant> {
        (number != UNSET).then(|| self.made_at + Duration::from_nanos(number))
    }
}

/// As [`Duration::as_nanos`], in half as many bits. Never [`UNSET`]: a deadline that far away is due a
/// moment earlier.
#[inline]
fn nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    let nanos = seconds.saturating_add(duration.subsec_nanos().into());
    nanos.min(UNSET - 1)
}

#[cfg(test)]
#[path = "time_test.rs"]
mod time_test;
