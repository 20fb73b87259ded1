//! One exchange before it is made: what its client sends and reads, and what its handler does.

use crate::dice::Dice;
use http::Method;

/// The lengths that something in an engine, a window or a buffer is bounded by.
const BOUNDS: [usize; 6] = [0, 1, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const LENGTH_MAX: usize = 2 << 20;
/// Bodies in pieces of one byte are this short.
const SMALL_BYTES: usize = 600;

/// HTTP/1.1: the bytes of a request that a server throws away to keep its connection.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// An exchange.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) id: u64,
    pub(crate) method: Method,
    /// The request's body, of the methods that have one.
    pub(crate) upload: Option<BodyPlan>,
    pub(crate) feeds: Feeds,
    /// The client waits for a 100 (Continue).
    pub(crate) expects: bool,
    pub(crate) reads: Reads,
    /// The handler reads and sends with pauses.
    pub(crate) reads_slowly: bool,
    /// Interim responses ahead of the answer.
    pub(crate) interims: usize,
    /// Tries that are answered with 503 before.
    pub(crate) refusals: u32,
    pub(crate) answer: BodyPlan,
    pub(crate) leaves: Leaves,
    pub(crate) client_is_slow: bool,
}

/// A body.
#[derive(Clone, Debug)]
pub(crate) struct BodyPlan {
    pub(crate) length: usize,
    /// Its length is in its head.
    pub(crate) is_declared: bool,
    pub(crate) piece: usize,
    pub(crate) pace: Pace,
    pub(crate) end: End,
    /// It says with its last piece that it has ended.
    pub(crate) knows_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    AtOnce,
    /// Another task runs before each piece.
    Yields,
    /// Pauses ahead of the first pieces.
    Slow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Whole,
    Trailers,
    /// Behind this number of bytes, fewer than its length.
    Fails(usize),
}

/// The way of a request's body into the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feeds {
    Whole,
    Body,
    Channel,
}

/// How much of a request's body its handler reads, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    All,
    /// At least this number of bytes; the rest is dropped ahead of the answer.
    Part(usize),
    /// It is dropped ahead of the answer.
    Nothing,
    /// Nothing, and it is dropped with the answer's body.
    Kept,
    /// All, beside the answer.
    Beside,
    /// All, and the end of the answer waits for it.
    AheadOfEnd,
    /// It is the answer's body.
    Echo,
}

/// When a client gives an exchange up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    Never,
    /// Before the answer, after this number of turns of the runtime.
    AfterTurns(usize),
    /// Before the answer, after this number of milliseconds.
    AfterMillis(usize),
    /// Within the answer's body, with at least this number of bytes of it.
    AfterBytes(usize),
}

impl Plan {
    pub(crate) fn new(id: u64, is_h1: bool, dice: &mut Dice) -> Self {
        let methods = [
            Method::GET,
            Method::POST,
            Method::POST,
            Method::PUT,
            Method::HEAD,
        ];
        let method = dice.of(&methods);
        let has_upload = method == Method::POST || method == Method::PUT;
        let upload = has_upload.then(|| BodyPlan::new(dice));
        let length = upload.as_ref().map_or(0, |upload| upload.length);
        let mut plan = Self {
            id,
            method,
            feeds: dice.of(&[Feeds::Whole, Feeds::Body, Feeds::Channel]),
            expects: has_upload && dice.once_in(12),
            reads: reads(length, dice),
            reads_slowly: dice.once_in(4),
            interims: if dice.once_in(5) {
                1 + dice.below(3)
            } else {
                0
            },
            refusals: 0,
            answer: BodyPlan::new(dice),
            leaves: leaves(dice),
            client_is_slow: dice.once_in(4),
            upload,
        };
        plan.settle(dice);
        // The head of an answer cannot say that the connection ends behind it, because the handler may still read: a request that was
        // sent meanwhile has no answer.
        if is_h1 && length > KEPT_BYTES_MAX && plan.reads == Reads::Kept {
            plan.reads = Reads::Nothing;
        }
        plan
    }
    /// Brings in line what excludes each other.
    fn settle(&mut self, dice: &mut Dice) {
        if self.upload.is_none() && self.reads == Reads::Echo {
            self.reads = Reads::All;
        }
        if self.method == Method::HEAD {
            self.answer.end = End::Whole;
        }
        if self.reads == Reads::AheadOfEnd {
            // A body of a known length has no end behind its last byte.
            self.answer.is_declared = false;
        }
        match &mut self.upload {
            Some(upload) if self.feeds == Feeds::Whole => {
                (upload.is_declared, upload.end, upload.pace) = (true, End::Whole, Pace::AtOnce);
            }
            Some(upload) if self.feeds == Feeds::Channel => upload.is_declared = false,
            _ => {}
        }
        // An answer of 503 repeats what can be sent again.
        let is_repeatable = self.upload.is_none() || self.feeds == Feeds::Whole;
        if self.method != Method::POST && is_repeatable && dice.once_in(6) {
            self.refusals = 1;
        }
    }
    /// The body of the answer: what is echoed, or its own.
    pub(crate) fn answered(&self) -> (u64, &BodyPlan) {
        match (&self.upload, self.reads) {
            (Some(upload), Reads::Echo) => (self.upload_content(), upload),
            _ => (self.id * 2 + 1, &self.answer),
        }
    }
    pub(crate) fn upload_content(&self) -> u64 {
        self.id * 2
    }
    pub(crate) fn fails_upload(&self) -> bool {
        self.upload.as_ref().is_some_and(BodyPlan::fails)
    }
    /// The handler answers only behind the whole request.
    pub(crate) fn answer_needs_upload(&self) -> bool {
        matches!(self.reads, Reads::All | Reads::AheadOfEnd | Reads::Echo)
    }
}

fn reads(length: usize, dice: &mut Dice) -> Reads {
    let part = Reads::Part(1 + dice.below(length.max(1)));
    let all = [
        Reads::All,
        Reads::All,
        part,
        Reads::Nothing,
        Reads::Kept,
        Reads::Beside,
        Reads::AheadOfEnd,
        Reads::Echo,
    ];
    dice.of(&all)
}

fn leaves(dice: &mut Dice) -> Leaves {
    match dice.below(12) {
        0 => Leaves::AfterTurns(dice.below(40)),
        1 => Leaves::AfterMillis(dice.below(20)),
        2 => Leaves::AfterBytes(dice.below(300_000)),
        _ => Leaves::Never,
    }
}

impl BodyPlan {
    fn new(dice: &mut Dice) -> Self {
        let length = length(dice);
        let pieces = [1_000, 16 << 10, 30_000, 64 << 10, LENGTH_MAX];
        let piece = match length < SMALL_BYTES && dice.once_in(2) {
            true => 1,
            false => dice.of(&pieces),
        };
        let end = match dice.below(10) {
            0 if length > 0 => End::Fails(dice.below(length)),
            1 | 2 => End::Trailers,
            _ => End::Whole,
        };
        Self {
            length,
            is_declared: dice.once_in(2),
            piece,
            pace: dice.of(&[Pace::AtOnce, Pace::AtOnce, Pace::Yields, Pace::Slow]),
            end,
            knows_end: dice.once_in(2),
        }
    }
    pub(crate) fn fails(&self) -> bool {
        matches!(self.end, End::Fails(_))
    }
}

fn length(dice: &mut Dice) -> usize {
    if dice.once_in(5) {
        return dice.below(LENGTH_MAX);
    }
    let bound = match dice.once_in(3) {
        true => dice.of(&BOUNDS),
        false => dice.of(&BOUNDS[..5]),
    };
    (bound + dice.below(3)).saturating_sub(1)
}
