//! One worker: a thread with its own runtime, its own listener and its own connections. Workers
//! share no state on the path of a request.

mod admission;
pub(super) mod generations;
#[cfg(feature = "http3")]
pub(super) mod quic;
pub(super) mod second;
pub(super) mod spawn;
#[cfg(not(feature = "http3"))]
pub(super) mod without_quic;

#[cfg(not(feature = "http3"))]
pub(super) use without_quic as quic;

use super::connection::accept::WorkerContext;
use super::exchange::serve::Pause;
use super::observe::inspect::WorkerList;
use super::registry::OpenConnections;
use super::registry::places::ConnectionPlaces;
use super::registry::shedding::{AddressRates, Shedder};
use crate::config::Shedding;
use crate::driver::machine::inspection::{InspectLimits, Numbered};
use crate::driver::signals::Stop;
use crate::driver::timer;
use crate::net::byte_stream::ByteStream;
use crate::net::listener::{AcceptQueue, Accepted, AcceptedSocket, Acceptor, Listener};
#[cfg(unix)]
use generations::WorkerSockets;
use quic::QuicSetup;
use second::{LeftConnection, SecondLink};
use spawn::{Measuring, QuicTask, SpawnConnections};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::{Handle, LocalOptions};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use trunkline_core::limits::Config;

/// A command to a worker.
pub(super) enum WorkerCommand {
    /// A connection over a stream of the embedder's.
    Serve(Box<ByteStream>),
    /// A connection that was accepted elsewhere.
    Take(AcceptedSocket),
    /// A connection of the server's other worker.
    Leave(LeftConnection),
    /// HTTP/3, of which another worker was to take care.
    ServeQuic(Box<QuicSetup>),
    /// The other worker waits for a place.
    MakeRoom,
    /// Connections that are accepted from now on have this.
    Configure {
        http1: Arc<Config>,
        others: Arc<Config>,
    },
    /// List the connections, and ask each of them for a snapshot.
    Inspect {
        limits: InspectLimits,
        reply: mpsc::UnboundedSender<Numbered>,
        list: oneshot::Sender<WorkerList>,
    },
    /// Give duplicates of the sockets.
    #[cfg(unix)]
    Duplicate(oneshot::Sender<io::Result<WorkerSockets>>),
    /// Read the sockets no more: another process does. Without `quic` it has none for HTTP/3, whose socket
    /// is read on.
    #[cfg(unix)]
    HandOver {
        quic: bool,
        done: oneshot::Sender<()>,
    },
    /// Stop accepting, finish what is open until the deadline; answer how many were cut.
    Drain {
        deadline: Duration,
        cut: oneshot::Sender<u64>,
    },
}

/// A worker's listener and settings.
pub(super) struct WorkerConfig<S> {
    pub(super) listener: Listener,
    /// HTTP/3's.
    pub(super) setup: Option<QuicSetup>,
    pub(super) shared: WorkerContext<S>,
    pub(super) places: Arc<ConnectionPlaces>,
    pub(super) shedding: Shedding,
    pub(super) address_rates: Arc<AddressRates>,
    pub(super) second: Option<SecondLink>,
}

/// Runs a worker until it is drained or `commands` is closed. `begun` gets the result of the start.
pub(super) fn run<S: SpawnConnections>(
    worker_config: WorkerConfig<S>,
    commands: mpsc::UnboundedReceiver<WorkerCommand>,
    begun: &Sender<io::Result<()>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default());
    // A receiver that is gone has closed `commands`.
    let failed = match runtime {
        Ok(runtime) => runtime.block_on(async move {
            let worker = Worker::new(worker_config)?;
            let _ = begun.send(Ok(()));
            let open = Arc::clone(&worker.open);
            worker.run(commands).await;
            // The runtime goes next, and its connections with it; those of another runtime stop by themselves.
            open.stop(Stop::Abort);
            Ok(())
        }),
        Err(error) => Err(error),
    };
    if failed.is_err() {
        let _ = begun.send(failed);
    }
}

/// As [`run`], on the caller's thread, where local tasks can run: cuts what is still open at the
/// end.
///
/// # Errors
/// When the runtime cannot use a socket.
pub(super) async fn serve_here<S: SpawnConnections>(
    worker_config: WorkerConfig<S>,
    commands: mpsc::UnboundedReceiver<WorkerCommand>,
) -> io::Result<()> {
    let worker = Worker::new(worker_config)?;
    let open = Arc::clone(&worker.open);
    worker.run(commands).await;
    open.stop(Stop::Abort);
    open.wait_until_empty(after(LAST_WORDS)).await;
    Ok(())
}

struct Worker<S> {
    acceptor: Acceptor,
    quic: Option<QuicTask>,
    shared: WorkerContext<S>,
    open: Arc<OpenConnections>,
    /// Connections that wait for a place: one that was accepted at most, those that were given, and those that the
    /// kernel had queued when the drain began.
    waiting: VecDeque<Accepted>,
    /// Connections that begin are the last.
    is_draining: bool,
    /// A client has connected whose handshakes take a round trip.
    has_distant_clients: bool,
    second: Option<SecondLink>,
    _measuring: Measuring,
}

impl<S: SpawnConnections> Worker<S> {
    /// Within the runtime that is to serve.
    fn new(worker_config: WorkerConfig<S>) -> io::Result<Self> {
        let shared = worker_config.shared;
        let acceptor = Acceptor::new(worker_config.listener)?;
        let (shedding, budget) = (&worker_config.shedding, &shared.send_budget_share);
        let shedder = Shedder::new(shedding, budget, &worker_config.address_rates);
        let measuring = Measuring::new(shedder.clone(), &shared);
        let open = OpenConnections::new(&worker_config.places, &shared.counters, shedder);
        let quic = match worker_config.setup {
            Some(setup) => Some(QuicTask::new(setup, &shared, &open)?),
            None => None,
        };
        Ok(Self {
            acceptor,
            quic,
            shared,
            open,
            waiting: VecDeque::new(),
            is_draining: false,
            has_distant_clients: false,
            second: worker_config.second,
            _measuring: measuring,
        })
    }
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<WorkerCommand>) {
        let command = loop {
            self.serve_waiting();
            let full = !self.waiting.is_empty();
            let pause = self.shared.service.pause();
            let paused = pause.is_some();
            tokio::select! {
                // A client that connects after a command finds it carried out.
                biased;
                command = commands.recv() => match command {
                    Some(WorkerCommand::Configure { http1, others }) => self.configure(http1, others),
                    Some(WorkerCommand::Inspect { limits, reply, list }) => {
                        self.inspect(limits, &reply, list);
                    }
                    #[cfg(unix)]
                    Some(WorkerCommand::Duplicate(reply)) => {
                        // Without a receiver the duplicates are closed.
                        let _ = reply.send(self.duplicate());
                    }
                    #[cfg(unix)]
                    Some(WorkerCommand::HandOver { quic, done }) => {
                        self.hand_over(quic);
                        // The receiver may be gone.
                        let _ = done.send(());
                    }
                    Some(WorkerCommand::Serve(stream)) => self.take(Accepted::Given(*stream)),
                    // One that cannot be used is closed already.
                    Some(WorkerCommand::Take(socket)) => if let Ok(accepted) = socket.registered() {
                        self.take(accepted);
                    },
                    Some(WorkerCommand::Leave(left)) => self.serve_left(left),
                    // Without a socket that the runtime can use TCP goes on.
                    Some(WorkerCommand::ServeQuic(setup)) => {
                        self.quic = QuicTask::new(*setup, &self.shared, &self.open).ok();
                    }
                    Some(WorkerCommand::MakeRoom) => OpenConnections::make_room_soon(&self.open),
                    last => break last,
                },
                () = until_over(pause), if paused => {}
                accepted = poll_fn(|cx| self.poll_accept(cx)), if !full && !paused => match accepted {
                    Some(Ok(accepted)) => self.take(accepted),
                    Some(Err(error)) => pause_after(&error).await,
                    None => {}
                },
                () = self.open.places.freed.notified(), if full => {}
            }
        };
        let acceptor = mem::replace(&mut self.acceptor, Acceptor::None);
        if let Some(quic) = &self.quic {
            quic.signals.stop(Stop::Drain);
        }
        match command {
            Some(WorkerCommand::Drain { deadline, cut }) => {
                self.finish(acceptor, (deadline, cut), commands).await;
            }
            _ => {
                drop(acceptor);
                // The thread that drops the server waits for this worker, and may be the endpoint's only one.
                let runtime = self.shared.service.runtime();
                if runtime.is_none_or(|runtime| runtime.metrics().num_workers() > 1) {
                    self.end_quic().await;
                }
            }
        }
    }
    /// Takes the last connections and lets all of them finish, at most until `deadline`; `cut` gets the number of exchanges that
    /// had not.
    async fn finish(
        &mut self,
        acceptor: Acceptor,
        (deadline, cut): (Duration, oneshot::Sender<u64>),
        mut commands: mpsc::UnboundedReceiver<WorkerCommand>,
    ) {
        let (until, mut reported) = (after(deadline), vec![cut]);
        self.is_draining = true;
        if let Some(second) = &self.second {
            second.drain(deadline);
        }
        self.open.stop(Stop::Drain);
        self.take_queued(acceptor).await;
        let count = self.drain(until, &mut reported, &mut commands).await;
        self.await_second(&mut commands).await;
        // The thread that receives the count waits for the end of this one next.
        self.end_quic().await;
        for cut in reported {
            // The receiver may be gone.
            let _ = cut.send(count);
        }
    }
    async fn end_quic(&mut self) {
        if let Some(quic) = self.quic.take() {
            quic.end().await;
        }
    }
    fn inspect(
        &self,
        limits: InspectLimits,
        reply: &mpsc::UnboundedSender<Numbered>,
        list: oneshot::Sender<WorkerList>,
    ) {
        let (connections, unlisted) = self.open.inspect(limits, reply);
        // The reader may be gone.
        let _ = list.send(WorkerList {
            connections,
            unlisted,
            is_draining: self.is_draining,
        });
    }
    #[cfg(unix)]
    fn duplicate(&mut self) -> io::Result<WorkerSockets> {
        let listener = self.acceptor.duplicate()?;
        // The socket for packets of the other process is registered with the runtime of the endpoint.
        let _within = self.shared.service.runtime().map(Handle::enter);
        let quic = self.quic.as_ref().map(|quic| quic.hand_over.sockets());
        let quic = quic.transpose()?;
        Ok(WorkerSockets { listener, quic })
    }
    /// Leaves the sockets to another process.
    #[cfg(unix)]
    fn hand_over(&mut self, quic: bool) {
        self.acceptor = Acceptor::None;
        if let Some(task) = &self.quic
            && quic
        {
            task.hand_over.begin();
        }
    }
    /// `None`: the service asked for a pause while we waited to accept.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Accepted>>> {
        if self.shared.service.pause().is_some() {
            return Poll::Ready(None);
        }
        // The socket is registered with the runtime that it is accepted within.
        let _within = self.shared.service.runtime().map(Handle::enter);
        self.acceptor.poll_accept(cx).map(Some)
    }
    /// Takes the connections that the kernel has accepted, and closes the listener: one that is closed
    /// with connections in its queue resets them, with the requests that their clients have sent.
    async fn take_queued(&mut self, acceptor: Acceptor) {
        // A socket that the runtime does not give up has no queue.
        let Ok(queue) = acceptor.into_queue() else {
            return;
        };
        self.take_all(&queue);
        if queue.awaits_handshakes(self.has_distant_clients) {
            timer::sleep(HANDSHAKE_WAIT).await;
            self.take_all(&queue);
        }
    }
    fn take_all(&mut self, queue: &AcceptQueue) {
        for _ in 0..QUEUED_MAX {
            let within = self.shared.service.runtime().map(Handle::enter);
            let accepted = queue.accept();
            drop(within);
            match accepted {
                Ok(Some(accepted)) => self.take(accepted),
                Ok(None) => break,
                Err(error) if is_of_one_connection(&error) => {}
                // Out of descriptors or memory: the rest is refused.
                Err(_) => break,
            }
        }
    }
    /// Serves those that wait, as far as there are places.
    fn serve_waiting(&mut self) {
        while !self.open.is_full()
            && let Some(waiting) = self.waiting.pop_front()
        {
            self.serve(waiting);
        }
    }
    /// Lets open exchanges finish until the earliest deadline that is set; counts the exchanges cut
    /// then. The senders in `reported` get the count.
    async fn drain(
        &mut self,
        mut until: Instant,
        reported: &mut Vec<oneshot::Sender<u64>>,
        commands: &mut mpsc::UnboundedReceiver<WorkerCommand>,
    ) -> u64 {
        loop {
            self.serve_waiting();
            if self.open.len() == 0 && self.waiting.is_empty() {
                return 0;
            }
            tokio::select! {
                () = self.open.places.freed.notified(), if !self.waiting.is_empty() => {}
                closed = timer::timeout_at(until, self.open.closed.notified()) => if closed.is_err() {
                    break;
                },
                command = commands.recv() => match command {
                    Some(WorkerCommand::Drain { deadline, cut }) => {
                        if let Some(second) = &self.second {
                            second.drain(deadline);
                        }
                        until = after(deadline).min(until);
                        reported.push(cut);
                    }
                    Some(WorkerCommand::Inspect { limits, reply, list }) => {
                        self.inspect(limits, &reply, list);
                    }
                    // The other worker had accepted it before it drained.
                    Some(WorkerCommand::Leave(left)) => self.serve_left(left),
                    // No connection begins any more; one that is given is closed.
                    Some(
                        WorkerCommand::Configure { .. }
                        | WorkerCommand::MakeRoom
                        | WorkerCommand::ServeQuic(_)
                        | WorkerCommand::Serve(_)
                        | WorkerCommand::Take(_),
                    ) => {}
                    // The sender finds the end of the channel.
                    #[cfg(unix)]
                    Some(WorkerCommand::Duplicate(_) | WorkerCommand::HandOver { .. }) => {}
                    // The waiting side is gone.
                    None => return self.open.exchanges(),
                },
            }
        }
        let cut = self.open.exchanges();
        self.open.stop(Stop::Abort);
        self.open.wait_until_empty(after(LAST_WORDS)).await;
        cut
    }
}

async fn until_over(pause: Option<Pause>) {
    if let Some(pause) = pause {
        pause.await;
    }
}

/// Out of descriptors or memory: accepting again at once would spin.
async fn pause_after(error: &io::Error) {
    if !is_of_one_connection(error) {
        timer::sleep(ACCEPT_PAUSE).await;
    }
}

/// Whether the error is of one connection, which is gone already.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::NotConnected
            | io::ErrorKind::Interrupted
    )
}

/// So long from now; what is further off than clocks go, in a year.
pub(super) fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now + YEAR)
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How long resets and CONNECTION_CLOSE may take to be written after the deadline.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(200);
/// The connections that a drain takes out of the kernel's queue: the default of Linux's
/// `net.core.somaxconn`, which bounds the queue. Clients that keep connecting to a socket that other
/// processes have too must not keep a drain from its end.
const QUEUED_MAX: usize = 4096;
/// How long handshakes that have begun before a drain may take to get into the queue: a round trip within a
/// data centre and the turn of a processor. The port is taken for as long. A server without a distant client does not wait, unless
/// others serve at its port.
const HANDSHAKE_WAIT: Duration = Duration::from_millis(20);
/// See [`pause_after`].
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

#[cfg(all(test, target_os = "linux"))]
#[path = "worker_test.rs"]
mod worker_test;
