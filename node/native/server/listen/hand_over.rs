//! The change from one server process to the next: sockets of the one before, and those for the next.

use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure;
use serde_json::Value;
use std::future::pending;
use std::io;
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::Poll;
use tokio::task::JoinHandle;
use trunkline::Error;
use trunkline::server::{PreviousServer, ServerHandle, Sockets, SuccessorListener};

/// The socket of a server to which the next process connects.
pub(crate) type Successors = SuccessorListener;

/// A server's place in the line of processes, from before it listens until it serves.
#[derive(Default)]
pub(crate) struct Succession {
    previous: Option<PreviousServer>,
    /// The sockets of the process before.
    sockets: Option<Sockets>,
    /// The sockets for the next one.
    pub(crate) successors: Option<Successors>,
}

impl Succession {
    /// Connects to the process at `path`, if one waits there, and receives its sockets. Blocks.
    pub(crate) fn at(path: &str) -> Result<Self, Value> {
        let refused = |error: io::Error| {
            let text =
                format!("handOver is {path}; the server there does not give its sockets: {error}");
            failure::refusal("config", &text)
        };
        let Some((previous, all)) = PreviousServer::at(Path::new(path)).map_err(refused)? else {
            return Ok(Self::default());
        };
        // The command `serve` sends those of its admin address behind.
        let sockets = all.into_iter().next();
        Ok(Self {
            previous: Some(previous),
            sockets,
            successors: None,
        })
    }
    pub(crate) fn take_sockets(&mut self) -> Option<Sockets> {
        self.sockets.take()
    }
    /// Tells the process before why this one does not listen.
    pub(crate) fn report_refused(&self, refusal: &Value) {
        if let Some(previous) = &self.previous {
            previous.report_failed(refusal["message"].as_str().unwrap_or_default());
        }
    }
    /// Tells the process before whether this one serves, by the first poll of its server.
    pub(crate) fn report(self, begun: &Poll<Result<(), Error>>, http3: bool) {
        match (self.previous, begun) {
            (Some(previous), Poll::Ready(Err(error))) => previous.report_failed(&in_full(error)),
            (Some(previous), _) => previous.report_serving(http3),
            (None, _) => {}
        }
    }
}

/// Waits at `path` for the next process.
pub(crate) fn listen(path: &str) -> Result<Successors, Value> {
    SuccessorListener::bind(path).map_err(|error| {
        let text = format!("handOver is {path}, which cannot be listened on: {error}");
        failure::refusal("config", &text)
    })
}

/// A server's wait for the next process, on the engine's thread. Dropping it ends the wait.
pub(crate) struct HandOver {
    successors: Rc<SuccessorListener>,
    waiting: JoinHandle<()>,
}

impl HandOver {
    /// Within the engine's `LocalSet`. JavaScript learns of a process that serves, and of each that does not.
    pub(crate) fn new(
        number: u32,
        successors: Successors,
        server: Weak<ServerHandle>,
        shared: Arc<Shared>,
    ) -> Self {
        let successors = Rc::new(successors);
        let waits = wait(number, Rc::clone(&successors), server, shared);
        Self {
            successors,
            waiting: tokio::task::spawn_local(waits),
        }
    }
    /// The server ends without a successor. Sockets that were given stay what they are until this is dropped.
    pub(crate) fn end(&self) {
        self.waiting.abort();
        self.successors.withdraw();
    }
}

impl Drop for HandOver {
    fn drop(&mut self) {
        self.waiting.abort();
    }
}

async fn wait(
    number: u32,
    successors: Rc<SuccessorListener>,
    server: Weak<ServerHandle>,
    shared: Arc<Shared>,
) {
    let sockets = async || match server.upgrade() {
        Some(server) => Ok(vec![server.hand_over().await?]),
        // This task ends with the server.
        None => pending().await,
    };
    let failed = |why: &Error| {
        let failed = completion::successor_failed(number);
        shared.complete(failed, in_full(why).as_bytes(), &[]);
    };
    let given = successors.successor(sockets, failed).await;
    let left = server.upgrade().zip(given.into_iter().next());
    if let Some(left) = left.map(|(server, sockets)| server.leave_to_other(sockets)) {
        left.await;
    }
    shared.complete(completion::handed_over(number), &[], &[]);
}

/// An error and its causes in one line.
fn in_full(error: &Error) -> String {
    let causes = failure::causes(error);
    let mut text = vec![error.to_string()];
    text.extend(causes);
    text.join(": ")
}
