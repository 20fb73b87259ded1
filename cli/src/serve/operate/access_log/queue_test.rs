use super::*;
use std::sync::mpsc;

/// An output that takes a line when it is allowed to, and gives it to the test.
struct HeldOutput {
    allowed: mpsc::Receiver<()>,
    taken: mpsc::Sender<Vec<u8>>,
}

impl Write for HeldOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.allowed.recv() {
            Ok(()) => {
                let _ = self.taken.send(bytes.to_vec());
                Ok(bytes.len())
            }
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Ends {
    queue: LineQueue,
    allow: mpsc::Sender<()>,
    taken: mpsc::Receiver<Vec<u8>>,
    reported: mpsc::Receiver<String>,
}

fn held() -> Ends {
    let (allow, allowed) = mpsc::channel();
    let (taken, takes) = mpsc::channel();
    let (reports, reported) = mpsc::channel();
    let report = move |text: &str| {
        let _ = reports.send(text.to_owned());
    };
    Ends {
        queue: LineQueue::new(HeldOutput { allowed, taken }, report).expect("a thread"),
        allow,
        taken: takes,
        reported,
    }
}

#[test]
fn lines_beyond_the_bound_are_left_out_said_once_and_counted_when_the_reader_goes_on() {
    let Ends {
        queue,
        allow,
        taken,
        reported,
    } = held();
    let line = [b'x'; 1024];
    let fit = QUEUE_BYTES_MAX / line.len();
    for _ in 0..fit + 7 {
        queue.push(&line);
    }
    let first = reported.recv().expect("a standstill");
    assert!(first.contains("takes no more lines"), "{first}");
    for _ in 0..fit {
        allow.send(()).expect("it waits");
        assert_eq!(taken.recv().expect("a line"), line);
    }
    let second = reported.recv().expect("its end");
    assert!(second.contains("7 lines were left out"), "{second}");
    queue.push(b"again\n");
    allow.send(()).expect("it waits");
    assert_eq!(taken.recv().expect("a line"), b"again\n");
    queue.finish();
    drop((queue, allow));
    // The thread has ended, and reported no more.
    assert_eq!(reported.iter().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn the_end_waits_for_lines_that_are_taken_and_counts_those_that_are_not() {
    let ends = held();
    ends.queue.push(b"1\n");
    ends.queue.push(b"2\n");
    ends.allow.send(()).expect("it waits");
    ends.allow.send(()).expect("it waits");
    ends.queue.finish();
    assert_eq!(ends.taken.try_iter().count(), 2);
    ends.queue.push(b"3\n");
    ends.queue.push(b"4\n");
    ends.queue.finish();
    let reported = ends.reported.recv().expect("it is reported");
    assert!(reported.contains("its last 2 lines"), "{reported}");
}

#[test]
fn an_output_that_fails_ends_the_log_and_says_so_once() {
    let Ends {
        queue,
        allow,
        reported,
        ..
    } = held();
    drop(allow);
    queue.push(b"1\n");
    let why = reported.recv().expect("it is reported");
    assert!(why.starts_with("the access log ends here: "), "{why}");
    queue.push(b"2\n");
    queue.finish();
    drop(queue);
    assert_eq!(reported.iter().collect::<Vec<_>>(), [""; 0]);
}
