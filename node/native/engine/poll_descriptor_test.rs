use super::of_current_runtime;
use std::io::Write;
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn the_descriptor_is_that_of_the_current_runtime_and_is_readable_when_a_socket_of_it_is() {
    let (watched, other, watching) = (runtime(), runtime(), runtime());
    let find = |of: &Runtime| {
        let _within = of.enter();
        of_current_runtime().unwrap()
    };
    let (descriptor, silent) = (find(&watched), find(&other));
    let (mut here, there) = std::os::unix::net::UnixStream::pair().unwrap();
    there.set_nonblocking(true).unwrap();
    let _registered = {
        let _within = watched.enter();
        UnixStream::from_std(there).unwrap()
    };
    // Takes the readiness that the registration itself made.
    watched.block_on(tokio::task::yield_now());
    here.write_all(b"x").unwrap();
    watching.block_on(async {
        // SAFETY: the descriptors are owned, and each is open as long as its watch.
        let (descriptor, silent) = unsafe {
            (
                AsyncFd::register(descriptor).unwrap(),
                AsyncFd::register(silent).unwrap(),
            )
        };
        let first = tokio::select! {
            biased;
            _ = silent.readable() => "the other runtime's",
            _ = descriptor.readable() => "the watched runtime's",
        };
        assert_eq!(first, "the watched runtime's");
    });
}
