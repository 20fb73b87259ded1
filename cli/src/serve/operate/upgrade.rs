//! The change from one server process to the next with `--upgrade PATH`: what becomes of the admin address, and of one
//! that does not come up.

use super::admin::Admin;
use super::report;
use crate::failure::{Failure, in_full};
use std::io;
use std::path::Path;
use trunkline::Running;
use trunkline::server::{PreviousServer, Sockets, SuccessorListener};

/// The sockets of the site, and those of the admin address.
pub(super) type SocketsOfBoth = (Sockets, Option<Sockets>);

/// Receives the sockets of the process at `path`; `None`: none runs.
pub(super) fn previous_at(path: &Path) -> Result<Option<(PreviousServer, SocketsOfBoth)>, Failure> {
    let none = |error: io::Error| {
        let path = path.display();
        Failure::usage(format_args!(
            "--upgrade {path}: the server there does not give its sockets: {error}"
        ))
    };
    let Some((previous, all)) = PreviousServer::at(path).map_err(none)? else {
        return Ok(None);
    };
    let both = both(all).ok_or_else(|| none(io::ErrorKind::InvalidData.into()))?;
    Ok(Some((previous, both)))
}

/// Waits for the next process at `path`, once it is asked to.
pub(super) fn listen(path: &Path) -> Result<SuccessorListener, Failure> {
    SuccessorListener::bind(path).map_err(|error| {
        let path = path.display();
        Failure::usage(format_args!(
            "--upgrade {path} cannot be listened on: {error}"
        ))
    })
}

/// Waits for a process that takes the place of this one, and gives it the sockets; those on which it serves are
/// returned. Never ends without such a process.
pub(super) async fn successor<A>(
    listener: Option<&SuccessorListener>,
    running: &Running<A>,
    admin: Option<&Admin>,
) -> SocketsOfBoth {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    let sockets = async || {
        let mut all = vec![running.hand_over().await?];
        if let Some(admin) = admin {
            all.push(admin.hand_over().await?);
        }
        Ok(all)
    };
    let failed = |why: &trunkline::Error| {
        let why = in_full(why);
        report!("trunkline: the new process does not serve, this one goes on: {why}");
    };
    match both(listener.successor(sockets, failed).await) {
        Some(both) => both,
        // Those of the site are among them.
        None => std::future::pending().await,
    }
}

fn both(all: Vec<Sockets>) -> Option<SocketsOfBoth> {
    let mut all = all.into_iter();
    Some((all.next()?, all.next()))
}
