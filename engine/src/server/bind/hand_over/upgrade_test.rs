use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A path for a socket, removed with the value.
struct SocketPath(PathBuf);

impl SocketPath {
    fn new(name: &str) -> Self {
        let name = format!("trunkline-upgrade-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs `work`; one that has no end fails.
fn run<R>(work: impl Future<Output = R>) -> R {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let patient = async { tokio::time::timeout(Duration::from_secs(60), work).await };
    runtime.block_on(patient).expect("it ends")
}

fn none() -> Sockets {
    Sockets::new(Vec::new(), Vec::new(), None)
}

#[test]
fn a_process_that_serves_after_its_time_takes_the_place_all_the_same() {
    let place = SocketPath::new("late");
    let mut listener = SuccessorListener::bind(&place.0).expect("it listens");
    listener.start = Duration::ZERO;
    let path = place.0.clone();
    let (late, was_late) = std::sync::mpsc::channel();
    let next = thread::spawn(move || {
        let (previous, all) = PreviousServer::at(&path)
            .expect("it connects")
            .expect("one is there");
        assert_eq!(all.len(), 1);
        was_late.recv().expect("the time is over");
        previous.report_serving(true);
    });
    let warnings = AtomicUsize::new(0);
    let failed = |why: &Error| {
        assert!(why.to_string().contains("has not served"), "{why}");
        warnings.fetch_add(1, Ordering::Relaxed);
        late.send(()).expect("it waits");
    };
    let sockets = async || Ok(vec![none()]);
    let given = run(listener.successor(sockets, failed));
    assert_eq!((given.len(), warnings.into_inner()), (1, 1));
    next.join().expect("no panic");
}

#[test]
fn a_process_that_ends_after_its_time_leaves_the_place_to_the_next() {
    let place = SocketPath::new("ended");
    let mut listener = SuccessorListener::bind(&place.0).expect("it listens");
    listener.start = Duration::ZERO;
    let connect = |path: &Path| PreviousServer::at(path).expect("it connects");
    let path = place.0.clone();
    let (late, was_late) = std::sync::mpsc::channel();
    let others = thread::spawn(move || {
        let ends = connect(&path).expect("one is there");
        was_late.recv().expect("the time is over");
        let refused = PreviousServer::at(&path).expect_err("another one has the sockets");
        assert_eq!(refused.kind(), io::ErrorKind::UnexpectedEof);
        drop(ends);
        let (serves, _) = connect(&path).expect("one is there");
        serves.report_serving(false);
        // Until its line is read.
        was_late.iter().for_each(drop);
    });
    let reasons = Mutex::new(Vec::new());
    let failed = |why: &Error| {
        reasons.lock().expect("no panic").push(why.to_string());
        let _ = late.send(());
    };
    let sockets = async || Ok(vec![none()]);
    let given = run(listener.successor(sockets, failed));
    drop(late);
    others.join().expect("no panic");
    assert_eq!(given.len(), 1);
    let reasons = reasons.into_inner().expect("no panic");
    assert!(reasons[0].contains("has not served"), "{reasons:?}");
    assert!(reasons[1].contains("ended before it served"), "{reasons:?}");
}

#[test]
fn a_socket_for_the_next_process_is_its_owners_alone_before_it_listens() {
    let place = SocketPath::new("private");
    let socket = private_socket(&place.0).expect("it is bound");
    let mode = fs::metadata(&place.0).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let refused = UnixStream::connect(&place.0).expect_err("it does not listen");
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    drop(socket);
    let listener = SuccessorListener::bind(&place.0).expect("it takes the place");
    UnixStream::connect(&place.0).expect("it listens");
    drop(listener);
    assert!(!place.0.exists());
}
