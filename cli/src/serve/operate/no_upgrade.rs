//! Systems whose processes pass no sockets to each other.

use super::listening::{Listeners, Listening};
use super::sockets::SocketsByUse;
use crate::failure::Failure;
use crate::system::{PreviousServer, Sockets, SuccessorListener};
use std::path::Path;

/// # Errors
/// Always.
pub(super) fn previous_at(path: &Path) -> Result<Option<(PreviousServer, Vec<Sockets>)>, Failure> {
    Err(refused(path))
}

/// # Errors
/// Always.
pub(super) fn listen(path: &Path) -> Result<SuccessorListener, Failure> {
    Err(refused(path))
}

/// Never ends.
pub(super) async fn successor(
    _: Option<&SuccessorListener>,
    _: &Listeners<'_>,
    _: Option<&Listening>,
) -> SocketsByUse {
    std::future::pending().await
}

fn refused(path: &Path) -> Failure {
    let path = path.display();
    Failure::usage(format_args!(
        "--upgrade {path}: processes pass sockets to each other on Unix alone; leave it out, and start the new server once the old one has ended"
    ))
}
