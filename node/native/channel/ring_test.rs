use super::*;

/// JavaScript's end of the completions.
pub(crate) struct Reader {
    memory: Arc<Memory>,
    read: u32,
}

impl Reader {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, read: 0 }
    }
    /// Asks to be woken for what comes next.
    pub(crate) fn sleep(&self) {
        self.memory.control[SCRIPT_SLEEPS].store(1, Ordering::SeqCst);
    }
    pub(crate) fn next(&mut self) -> Option<(Entry, Vec<u8>)> {
        let control = &self.memory.control;
        if control[COMPLETED].load(Ordering::SeqCst) == self.read {
            return None;
        }
        let at = (self.read % ENTRIES) as usize * size_of::<Entry>();
        let mut entry = [0; ENTRY_WORDS];
        // SAFETY: written, as COMPLETED says.
        let bytes = unsafe { self.memory.completions.bytes(at, size_of::<Entry>()) };
        for (word, bytes) in entry.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        let at = (entry[3] % ARENA_BYTES) as usize;
        // SAFETY: as above.
        let text = unsafe { self.memory.completion_arena.bytes(at, entry[4] as usize) }.to_vec();
        if entry[4] > 0 {
            control[DRAINED_ARENA].store(entry[3].wrapping_add(entry[4]), Ordering::SeqCst);
        }
        self.read = self.read.wrapping_add(1);
        control[DRAINED].store(self.read, Ordering::SeqCst);
        Some((entry, text))
    }
}

/// JavaScript's end of both rings, step by step as `node/src/channel/ring.ts` has it.
pub(crate) struct ScriptEnd {
    memory: Arc<Memory>,
    drained: u32,
    drained_arena: u32,
    submitted: u32,
    published: u32,
    arena_written: u32,
}

impl ScriptEnd {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self {
            memory,
            drained: 0,
            drained_arena: 0,
            submitted: 0,
            published: 0,
            arena_written: 0,
        }
    }
    /// Hands out what is completed, until it may sleep. True: it kicks the engine, which holds
    /// completions back.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Entry, &[u8])) -> bool {
        let memory = Arc::clone(&self.memory);
        let control = &memory.control;
        loop {
            let completed = control[COMPLETED].load(Ordering::SeqCst);
            if completed == self.drained {
                control[SCRIPT_SLEEPS].store(1, Ordering::SeqCst);
                if control[COMPLETED].load(Ordering::SeqCst) == completed {
                    break;
                }
                control[SCRIPT_SLEEPS].store(0, Ordering::SeqCst);
                continue;
            }
            while self.drained != completed {
                self.complete(&mut take);
                self.drained = self.drained.wrapping_add(1);
            }
            control[DRAINED_ARENA].store(self.drained_arena, Ordering::SeqCst);
            control[DRAINED].store(self.drained, Ordering::SeqCst);
        }
        control[OVERFLOWS].load(Ordering::SeqCst) == 1
    }
    fn complete(&mut self, take: &mut impl FnMut(Entry, &[u8])) {
        let at = (self.drained % ENTRIES) as usize * size_of::<Entry>();
        let mut entry = [0; ENTRY_WORDS];
        // SAFETY: written, as COMPLETED says.
        let bytes = unsafe { self.memory.completions.bytes(at, size_of::<Entry>()) };
        for (word, bytes) in entry.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        let [_, _, _, position, length, ..] = entry;
        let at = (position % ARENA_BYTES) as usize;
        // SAFETY: as above.
        let text = unsafe { self.memory.completion_arena.bytes(at, length as usize) };
        if length > 0 {
            self.drained_arena = position.wrapping_add(length);
        }
        take(entry, text);
    }
    /// Writes a submission whose words 3 and 4 become where `text` lies. False: there is no room.
    pub(crate) fn submit(&mut self, mut entry: Entry, text: &[u8]) -> bool {
        let control = &self.memory.control;
        let intaken = control[READ].load(Ordering::SeqCst);
        if self.submitted.wrapping_sub(intaken) >= ENTRIES {
            return false;
        }
        let length = text.len() as u32;
        let left = ARENA_BYTES - self.arena_written % ARENA_BYTES;
        let skipped = if length > left { left } else { 0 };
        let read = control[READ_ARENA].load(Ordering::SeqCst);
        if self.arena_written.wrapping_sub(read) + skipped + length > ARENA_BYTES {
            return false;
        }
        let position = self.arena_written.wrapping_add(skipped);
        entry[3] = position;
        entry[4] = length;
        self.arena_written = position.wrapping_add(length);
        let at = (self.submitted % ENTRIES) as usize * size_of::<Entry>();
        // SAFETY: the engine has read both, as READ and READ_ARENA say.
        unsafe {
            let arena_at = (position % ARENA_BYTES) as usize;
            self.memory.submission_arena.write(arena_at, text);
            for (index, word) in entry.iter().enumerate() {
                let at = at + index * 4;
                self.memory.submissions.write(at, &word.to_ne_bytes());
            }
        }
        self.submitted = self.submitted.wrapping_add(1);
        true
    }
    /// Lets the engine see what was submitted. True: it sleeps and is to be kicked.
    pub(crate) fn flush(&mut self) -> bool {
        if self.published == self.submitted {
            return false;
        }
        self.published = self.submitted;
        let control = &self.memory.control;
        control[SUBMITTED].store(self.submitted, Ordering::SeqCst);
        control[ENGINE_SLEEPS].swap(0, Ordering::SeqCst) == 1
    }
}

fn pair() -> (Completions, Reader) {
    let memory = Memory::new();
    let reader = Reader::new(Arc::clone(&memory));
    (Completions::new(memory), reader)
}

/// JavaScript's end of the submissions: one entry with `text` at `position` of the arena.
fn submit(memory: &Memory, count: u32, entry: Entry, position: u32, text: &[u8]) {
    let at = (count % ENTRIES) as usize * size_of::<Entry>();
    for (index, word) in entry.iter().enumerate() {
        // SAFETY: the test is the only writer.
        unsafe {
            memory
                .submissions
                .write(at + index * 4, &word.to_ne_bytes())
        };
    }
    // SAFETY: as above.
    unsafe {
        memory
            .submission_arena
            .write((position % ARENA_BYTES) as usize, text);
    }
    memory.control[SUBMITTED].store(count.wrapping_add(1), Ordering::SeqCst);
}

#[test]
fn what_is_completed_comes_out_in_order_with_its_bytes() {
    let (mut completions, mut reader) = pair();
    assert!(completions.push([1, 7, 200, 0, 0, 4, 0, 0], b"head", b"body"));
    assert!(completions.push([4, 7, 0, 0, 0, 0, 0, 0], b"", b""));
    let (entry, text) = reader.next().unwrap();
    assert_eq!(
        (entry[1], entry[2], text.as_slice()),
        (7, 200, &b"head"[..])
    );
    assert_eq!(reader.next().unwrap().0[0], 4);
    assert!(reader.next().is_none());
}

#[test]
fn a_full_ring_refuses_and_takes_more_when_it_is_read() {
    let (mut completions, mut reader) = pair();
    for number in 0..ENTRIES {
        assert!(completions.push([3, number, 0, 0, 0, 0, 0, 0], b"", b""));
    }
    assert!(!completions.push([3, 9, 0, 0, 0, 0, 0, 0], b"", b""));
    assert_eq!(reader.next().unwrap().0[1], 0);
    assert!(completions.push([3, ENTRIES, 0, 0, 0, 0, 0, 0], b"", b""));
    let rest: Vec<u32> = std::iter::from_fn(|| reader.next())
        .map(|(entry, _)| entry[1])
        .collect();
    assert_eq!(rest, (1..=ENTRIES).collect::<Vec<u32>>());
}

#[test]
fn a_full_arena_refuses_and_bytes_lie_in_one_piece_past_its_end() {
    let (mut completions, mut reader) = pair();
    let piece = vec![b'x'; 300_000];
    let entry = [3, 1, 0, 0, 0, 0, 0, 0];
    for _ in 0..3 {
        assert!(completions.push(entry, &piece, b""));
    }
    assert!(!completions.push(entry, &piece, b""));
    for round in 0..100_u32 {
        let (_, text) = reader.next().unwrap();
        assert!(text.iter().all(|byte| *byte == text[0]) && text.len() == 300_000);
        // An entry that does not fit behind the others begins at the start: for that two must be read.
        if !completions.push(entry, &vec![round as u8; 300_000], b"") {
            reader.next().unwrap();
            assert!(completions.push(entry, &vec![round as u8; 300_000], b""));
        }
    }
}

#[test]
fn a_piece_as_long_as_the_arena_fits_when_nothing_is_unread() {
    let (mut completions, mut reader) = pair();
    assert!(completions.push([3, 1, 0, 0, 0, 0, 0, 0], b"one", b""));
    let whole = vec![b'y'; ARENA_BYTES as usize];
    assert!(!completions.push([3, 1, 0, 0, 0, 0, 0, 0], &whole, b""));
    reader.next().unwrap();
    assert!(completions.push([3, 1, 0, 0, 0, 0, 0, 0], &whole, b""));
    assert_eq!(reader.next().unwrap().1, whole);
}

#[test]
fn bytes_that_come_while_nothing_is_unread_begin_at_the_start_of_the_arena() {
    let (mut completions, mut reader) = pair();
    let entry = [3, 1, 0, 0, 0, 0, 0, 0];
    let place = |entry: Entry| entry[POSITION] % ARENA_BYTES;
    // More often than positions have beginnings before they wrap.
    for _ in 0..=u32::MAX / ARENA_BYTES + 1 {
        assert!(completions.push(entry, b"first", b""));
        assert!(completions.push(entry, b"second", b""));
        let first = reader.next().unwrap();
        assert_eq!((place(first.0), first.1.as_slice()), (0, &b"first"[..]));
        assert!(completions.push(entry, b"third", b""));
        let places = [reader.next(), reader.next()].map(|next| place(next.unwrap().0));
        assert_eq!(places, [5, 11], "the second was unread as the third came");
        assert!(reader.next().is_none());
    }
    // The reader has said nothing yet of what lies behind the last beginning.
    let large = vec![b'x'; ARENA_BYTES as usize * 3 / 5];
    assert!(completions.push(entry, &large, b""));
    assert!(!completions.push(entry, &large, b""));
    assert!(completions.push(entry, &large[..1000], b""));
    reader.next().unwrap();
    let larger = vec![b'y'; large.len() + 1];
    assert!(
        !completions.push(entry, &larger, b""),
        "the thousand behind it are unread"
    );
    reader.next().unwrap();
    assert!(completions.push(entry, &large, b""));
    assert_eq!(place(reader.next().unwrap().0), 0);
}

#[test]
fn javascript_is_woken_once_and_only_if_it_sleeps() {
    let (mut completions, reader) = pair();
    assert!(!completions.announce(), "there is nothing to tell");
    completions.push([4, 1, 0, 0, 0, 0, 0, 0], b"", b"");
    assert!(completions.announce());
    completions.push([4, 2, 0, 0, 0, 0, 0, 0], b"", b"");
    assert!(!completions.announce(), "it has not said that it sleeps");
    reader.memory.control[SCRIPT_SLEEPS].store(1, Ordering::SeqCst);
    completions.push([4, 3, 0, 0, 0, 0, 0, 0], b"", b"");
    assert!(completions.announce());
}

#[test]
fn submissions_come_out_with_their_bytes_and_positions_may_wrap() {
    let memory = Memory::new();
    let mut submissions = Submissions::new(Arc::clone(&memory));
    submissions.read = u32::MAX;
    for at in [SUBMITTED, READ] {
        memory.control[at].store(u32::MAX, Ordering::SeqCst);
    }
    let range = |entry: &Entry| (entry[4] > 0).then_some((entry[3], entry[4]));
    assert!(!submissions.next(range, |_, _| panic!("there is none")));
    let position = u32::MAX - 9;
    submit(
        &memory,
        u32::MAX,
        [1, 5, 0, position, 3, 0, 0, 0],
        position,
        b"GET",
    );
    assert!(memory.has_submissions());
    let mut seen = None;
    assert!(submissions.next(range, |entry, bytes| seen =
        Some((entry[1], bytes.to_vec()))));
    assert_eq!(seen, Some((5, b"GET".to_vec())));
    assert_eq!(memory.control[READ].load(Ordering::SeqCst), 0);
    assert_eq!(
        memory.control[READ_ARENA].load(Ordering::SeqCst),
        position.wrapping_add(3)
    );
    assert!(!memory.has_submissions());
}

#[test]
fn javascripts_end_reads_what_is_completed_and_writes_what_is_submitted() {
    let memory = Memory::new();
    let mut completions = Completions::new(Arc::clone(&memory));
    let mut submissions = Submissions::new(Arc::clone(&memory));
    let mut script = ScriptEnd::new(memory);
    assert!(completions.push([3, 7, 0, 0, 0, 0, 0, 0], b"text", b"more"));
    let mut seen = Vec::new();
    assert!(!script.drain(|entry, text| seen.push((entry[1], text.to_vec()))));
    assert_eq!(seen, [(7, b"text".to_vec())]);
    assert!(!script.flush(), "there is nothing to see");
    assert!(script.submit([1, 8, 0, 0, 0, 0, 0, 0], b"asked"));
    assert!(!script.flush(), "the engine has not said that it sleeps");
    let range = |entry: &Entry| Some((entry[3], entry[4]));
    let mut seen = None;
    assert!(submissions.next(range, |entry, text| seen = Some((entry[1], text.to_vec()))));
    assert_eq!(seen, Some((8, b"asked".to_vec())));
}
