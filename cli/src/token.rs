//! Files with the token of an admin address.

use crate::failure::Failure;
use std::path::Path;
use trunkline::admin::TOKEN_CHARACTERS_MIN;

/// The token in a file, which `flag` names. A file that others may read holds no secret.
pub(crate) fn read(flag: &str, path: &Path) -> Result<String, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let shown = path.display();
    let cannot = |error| Failure::usage(format_args!("{flag} {shown} cannot be read: {error}"));
    let mode = std::fs::metadata(path)
        .map_err(cannot)?
        .permissions()
        .mode();
    if mode & 0o007 != 0 {
        return Err(Failure::usage(format_args!(
            "{flag} {shown} may be read by every user (mode {:o}): chmod 600 {shown}",
            mode & 0o777
        )));
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let token = text.trim();
    let is_visible = token.bytes().all(|byte| byte.is_ascii_graphic());
    if token.len() < TOKEN_CHARACTERS_MIN || !is_visible {
        let least = TOKEN_CHARACTERS_MIN;
        return Err(Failure::usage(format_args!(
            "{flag} {shown} must hold one token of {least} or more visible \
             ASCII characters"
        )));
    }
    Ok(token.to_owned())
}
