//! A directory to serve in tests.

use std::path::PathBuf;

/// `root` with a file and a folder, beside a secret: a directory of its own for each test, gone after it.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("root/sub")).expect("a temporary directory");
        std::fs::write(path.join("secret.txt"), "secret").expect("written");
        std::fs::write(path.join("root/a.txt"), "hello").expect("written");
        std::fs::write(path.join("root/sub/b <&>.txt"), "b").expect("written");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
