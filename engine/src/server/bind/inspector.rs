//! Asks the workers of a server for their connections, and those for snapshots.

use crate::driver::machine::inspection::{InspectLimits, Numbered, collect, inspection_end, until};
use crate::error::timelines::KeptTimeline;
use crate::server::observe::counters::MetricsReader;
use crate::server::observe::inspect::{ServerConnection, ServerSnapshot, WorkerList};
use crate::server::observe::metrics::Metrics;
use crate::server::worker::WorkerCommand;
use crate::server::worker::second::SecondLink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// Lists the connections of a server, from any thread and after its end too. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Inspector {
    /// The commands' channel of each worker, weak so that it does not keep a worker from its end; `None`: it has ended.
    workers: Vec<Option<mpsc::WeakUnboundedSender<WorkerCommand>>>,
    metrics: MetricsReader,
    /// One that may start later, and whether it has.
    second: Option<(mpsc::WeakUnboundedSender<WorkerCommand>, Arc<AtomicBool>)>,
    /// Servers that are shown with it.
    included: Arc<RwLock<Vec<Inspector>>>,
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
            included: Arc::default(),
        }
    }
    pub(super) fn with_second(mut self, second: Option<&SecondLink>) -> Self {
        self.second = second.map(|it| (it.commands.downgrade(), Arc::clone(&it.serves)));
        self
    }
    /// Shows another server with this one, from now on and in every clone: its connections, and its counts as a part of the sums. They are
    /// two listeners of one program, for example, which drains when both do. The counts of one that has ended stay. What it includes itself is
    /// left out.
    pub fn include(&self, other: &Self) {
        let mut included = self
            .included
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        included.push(other.clone());
    }
    fn others(&self) -> Vec<Self> {
        let included = self.included.read().unwrap_or_else(PoisonError::into_inner);
        included.clone()
    }
    /// The counts so far, as [`Running::metrics`](crate::Running::metrics).
    pub fn metrics(&self) -> Metrics {
        self.sources().read()
    }
    /// The timelines that are kept ([`Server::keep_timelines`](crate::Server::keep_timelines)), the latest last; `None`: none are.
    pub fn timelines(&self) -> Option<Vec<KeptTimeline>> {
        let sources = self.sources();
        let kept = sources
            .timelines
            .iter()
            .filter(|timelines| timelines.are_kept());
        let kept: Vec<_> = kept.collect();
        let timelines = kept.iter().flat_map(|timelines| timelines.list());
        let mut timelines: Vec<_> = timelines.collect();
        timelines.sort_unstable_by_key(|timeline| timeline.id);
        (!kept.is_empty()).then_some(timelines)
    }
    /// Keeps the timelines of requests that fail or are slow from now on, where the server offers them
    /// ([`Server::offer_timelines`](crate::Server::offer_timelines)).
    pub fn keep_timelines(&self) {
        for timelines in &self.sources().timelines {
            timelines.keep();
        }
    }
    fn sources(&self) -> MetricsReader {
        let mut all = self.metrics.clone();
        for other in self.others() {
            all.add(&other.metrics);
        }
        all
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
        let others = self.others();
        // Beside others a server may end: its workers are then not silent.
        let is_there = |worker: &Option<&mpsc::WeakUnboundedSender<WorkerCommand>>| {
            others.is_empty() || worker.is_some_and(|worker| worker.upgrade().is_some())
        };
        let workers: Vec<_> = workers.filter(is_there).collect();
        // Workers that have ended are not missed.
        let beside: Vec<_> = (others.iter())
            .flat_map(|other| &other.workers)
            .filter_map(|worker| worker.as_ref()?.upgrade())
            .collect();
        let all = workers.len() + beside.len();
        let share = limits.connections_max.div_ceil(all.max(1));
        let limits = limits.with_connections_max(share);
        let own = workers.into_iter();
        let own = own.map(|worker| ask(worker?.upgrade()?, limits));
        let mut asked: Vec<_> = own.collect();
        asked.extend(beside.into_iter().map(|worker| ask(worker, limits)));
        let mut server = ServerSnapshot {
            workers: asked.len(),
            ..ServerSnapshot::default()
        };
        // A listener of several may end alone.
        let mut goes_on = false;
        for answer in asked {
            let Some((listed, snapshots)) = answer else {
                server.silent_workers += 1;
                continue;
            };
            match until(end, listed).await {
                Some(Ok(list)) => {
                    goes_on |= !list.is_draining;
                    add(&mut server, list, collect(end, snapshots).await);
                }
                _ => server.silent_workers += 1,
            }
        }
        server.is_draining &= !goes_on;
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
