//! Files with the token of an admin address.

use crate::failure::Failure;
use crate::system::mode_for_all;
use std::path::Path;
use trunkline::admin::TOKEN_CHARACTERS_MIN;

/// The token in a file, which `flag` names. A file that others may read holds no secret.
pub(crate) fn read(flag: &str, path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let cannot = |error| Failure::usage(format_args!("{flag} {shown} cannot be read: {error}"));
    let file = std::fs::metadata(path).map_err(cannot)?;
    if let Some(mode) = mode_for_all(&file) {
        return Err(Failure::usage(format_args!(
            "{flag} {shown} may be read by every user (mode {mode:o}): chmod 600 {shown}"
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
