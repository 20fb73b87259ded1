use super::*;

/// A path for a socket, removed with the value.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("trunkline-upgrade-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_socket_for_the_next_process_is_its_owners_alone_before_it_listens() {
    let place = Place::new("private");
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
