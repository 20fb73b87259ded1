//! The path below the directory that a request's path means, and those that are not shown.

use percent_encoding::percent_decode_str;
use std::path::{Component, Path, PathBuf};

/// The path below the directory that a request's path means; none where it would leave it.
pub(super) fn relative(path: &str) -> Option<PathBuf> {
    let decoded: Vec<u8> = percent_decode_str(path).collect();
    // A file has nothing in it, also not itself.
    if decoded.iter().any(|byte| matches!(byte, b'\0' | b'\\')) || decoded.ends_with(b"/.") {
        return None;
    }
    let slashes = decoded.iter().take_while(|byte| **byte == b'/').count();
    let relative = path_of(decoded[slashes..].to_vec())?;
    let ordinary = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    (relative.components().all(ordinary)).then_some(relative)
}

/// A name is of any bytes.
#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    Some(std::ffi::OsString::from_vec(bytes).into())
}

/// A name is text.
#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Whether a component of the path begins with a dot. `.well-known` is public
/// (RFC 8615 section 3).
pub(super) fn is_hidden(path: &Path) -> bool {
    let mut components = path.components().enumerate();
    components.any(|(at, component)| match component {
        Component::Normal(name) => {
            name.as_encoded_bytes().starts_with(b".") && !(at == 0 && name == ".well-known")
        }
        _ => false,
    })
}
