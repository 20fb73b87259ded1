//! The change from one server process to the next with `--upgrade PATH`: which sockets are passed, and what becomes of a
//! process that does not come up.

use super::listening::{Listeners, Listening};
use super::report;
use super::sockets::SocketsByUse;
use crate::failure::Failure;
use crate::system::{PreviousServer, Sockets, SuccessorListener};
use std::path::Path;

/// Receives the sockets of the process at `path`; `None`: none runs.
pub(super) fn previous_at(path: &Path) -> Result<Option<(PreviousServer, Vec<Sockets>)>, Failure> {
    PreviousServer::at(path).map_err(|error| {
        let path = path.display();
        Failure::usage(format_args!(
            "--upgrade {path}: the server there does not give its sockets: {error}"
        ))
    })
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
pub(super) async fn successor(
    listener: Option<&SuccessorListener>,
    listeners: &Listeners<'_>,
    admin: Option<&Listening>,
) -> SocketsByUse {
    let Some(listener) = listener else {
        return std::future::pending().await;
    };
    let sockets = async || {
        let mut sockets = SocketsByUse::default();
        let mut servers = listeners.servers().into_iter();
        if let Some(site) = servers.next() {
            sockets.site = Some(site.hand_over().await?);
        }
        if let Some(admin) = admin {
            sockets.admin = Some(admin.hand_over().await?);
        }
        for other in servers {
            sockets.others.push(other.hand_over().await?);
        }
        Ok(sockets.into_vec())
    };
    let failed = |why: &trunkline::Error| {
        report!("trunkline: the new process does not serve, this one goes on: {why:#}");
    };
    let mut all = listener.successor(sockets, failed).await.into_iter();
    SocketsByUse {
        site: all.next(),
        admin: admin.and_then(|_| all.next()),
        redirect: None,
        others: all.collect(),
    }
}
