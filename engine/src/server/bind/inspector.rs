//! Asks the workers of a server for their connections, and those for snapshots.

use crate::driver::machine::inspection::{InspectLimits, Numbered, collect, inspection_end, until};
use crate::server::observe::counters::MetricsReader;
use crate::server::observe::inspect::{ServerConnection, ServerSnapshot, WorkerList};
use crate::server::observe::metrics::Metrics;
use crate::server::worker::WorkerCommand;
use crate::server::worker::second::SecondLink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// Lists the connections of a server, from any thread and after its end too. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Inspector {
    /// They must not keep a worker from its end; `None`: it has ended.
    workers: Vec<Option<mpsc::WeakUnboundedSender<WorkerCommand>>>,
    metrics: MetricsReader,
    /// One that may start later, and whether it has.
    second: Option<(mpsc::WeakUnboundedSender<WorkerCommand>, Arc<AtomicBool>)>,
}

impl Inspector {
    pub(super) fn new<'a>(
        workers: impl Iterator<Item = Option<&'a mpsc::UnboundedSender<WorkerCommand>>>,
        metrics: MetricsReader,
    ) -> Self {
        let workers = workers.map(|worker| worker.map(mpsc::UnboundedSender::downgrade));
        Self {
            workers: workers.collect(),
            metrics,
            second: None,
        }
    }
    pub(super) fn with_second(mut self, second: Option<&SecondLink>) -> Self {
        self.second = second.map(|it| (it.commands.downgrade(), Arc::clone(&it.serves)));
        self
    }
    /// The counts so far, as [`Running::metrics`](crate::Running::metrics).
    pub fn metrics(&self) -> Metrics {
        self.metrics.read()
    }
    /// The server's connections now, and their exchanges. Each connection that is listed answers in a turn of its own, and
    /// what has not answered within 250 ms is left out; nothing is kept for that between two calls. Needs a tokio runtime
    /// with timers.
    pub async fn inspect(&self, limits: InspectLimits) -> ServerSnapshot {
        let end = inspection_end();
        let second = self.second.as_ref();
        let second = second.filter(|(_, serves)| serves.load(Ordering::Acquire));
        let workers = self.workers.iter().map(Option::as_ref);
        let workers = workers.chain(second.map(|(commands, _)| Some(commands)));
        let workers: Vec<_> = workers.collect();
        let share = limits.connections_max.div_ceil(workers.len().max(1));
        let limits = limits.with_connections_max(share);
        let asked: Vec<_> = (workers.into_iter())
            .map(|worker| ask(worker?.upgrade()?, limits))
            .collect();
        let mut server = ServerSnapshot {
            workers: asked.len(),
            ..ServerSnapshot::default()
        };
        for answer in asked {
            let Some((listed, snapshots)) = answer else {
                server.silent_workers += 1;
                continue;
            };
            match until(end, listed).await {
                Some(Ok(list)) => add(&mut server, list, collect(end, snapshots).await),
                _ => server.silent_workers += 1,
            }
        }
        server
    }
}

type WorkerAnswers = (
    oneshot::Receiver<WorkerList>,
    mpsc::UnboundedReceiver<Numbered>,
);

/// `None`: the worker has ended.
fn ask(
    worker: mpsc::UnboundedSender<WorkerCommand>,
    limits: InspectLimits,
) -> Option<WorkerAnswers> {
    let (reply, snapshots) = mpsc::unbounded_channel();
    let (list, listed) = oneshot::channel();
    let command = WorkerCommand::Inspect {
        limits,
        reply,
        list,
    };
    worker.send(command).ok()?;
    Some((listed, snapshots))
}

fn add(server: &mut ServerSnapshot, list: WorkerList, mut snapshots: Vec<Numbered>) {
    let now = Instant::now();
    snapshots.sort_unstable_by_key(|(number, _)| *number);
    server.unlisted += list.unlisted;
    server.is_draining |= list.is_draining;
    for listed in list.connections {
        let found = snapshots.binary_search_by_key(&listed.number, |(number, _)| *number);
        server.connections.push(ServerConnection {
            peer: listed.peer,
            age: now.saturating_duration_since(listed.accepted_at),
            stage: listed.stage,
            snapshot: found.ok().map(|at| snapshots[at].1.clone()),
        });
    }
}
