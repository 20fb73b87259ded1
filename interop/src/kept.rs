//! Files that are made once and kept under `target/tools` for later runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder `name` under `target/tools`, with `recipe` noted in it. `make` fills the folder when
/// it is not there or was made after another recipe; tests that come meanwhile wait for it.
///
/// # Errors
/// When the folder cannot be made, or as `make`.
pub(crate) fn kept(
    name: &str,
    recipe: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools");
    let folder = tools.join(name);
    let note = folder.join("recipe");
    let failed = |error| format!("{} cannot be made: {error}", folder.display());
    fs::create_dir_all(&tools).map_err(failed)?;
    // Released when it is dropped.
    let lock = File::create(tools.join(format!("{name}.lock"))).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if fs::read_to_string(&note).is_ok_and(|noted| noted == recipe) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    make(&folder)?;
    fs::write(&note, recipe).map_err(failed)?;
    Ok(folder)
}
