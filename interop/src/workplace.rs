//! A folder for one run: configurations, logs, the site that file servers serve.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when this is dropped.
#[derive(Debug)]
pub struct Workplace {
    root: PathBuf,
}

/// Tests of one process run side by side; each gets a folder of its own.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl Workplace {
    /// Makes the folder and in it `site/`, with a file of 1,024 bytes at `bytes/1024`.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new() -> Result<Self, String> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("trunkline-{}-{number}", std::process::id()));
        let made = Self { root };
        let make = || -> std::io::Result<()> {
            fs::create_dir_all(made.site().join("bytes"))?;
            fs::write(made.site().join("bytes/1024"), [b'x'; 1024])
        };
        make().map_err(|error| format!("{} cannot be made: {error}", made.root.display()))?;
        Ok(made)
    }
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }
    /// The site of file servers.
    pub fn site(&self) -> PathBuf {
        self.root.join("site")
    }
    /// Writes a file into the folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, String> {
        let path = self.root.join(name);
        fs::write(&path, content)
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Files that cannot be removed lie in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.root);
    }
}
