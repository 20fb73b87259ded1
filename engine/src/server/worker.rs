//! One worker: a thread with its own runtime, its own listener and its own connections. Nothing
//! on the way of a request is shared with another worker.

use super::accept::{Ground, Served, start};
use super::metrics::add;
use super::quic::{QuicListener, Seat};
use super::serve::Serve;
use crate::driver::signals::{Signals, Stop};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::Instant;

/// What a worker is told.
pub(super) enum Command {
    /// Stop accepting, finish what is open until the deadline; answer how many were cut.
    Drain {
        deadline: Duration,
        cut: oneshot::Sender<u64>,
    },
}

/// Runs a worker until it is drained or `commands` is closed.
pub(super) fn run<S: Serve>(
    listener: StdListener,
    seat: Option<Seat>,
    ground: Ground<S>,
    connections_max: usize,
    commands: mpsc::UnboundedReceiver<Command>,
) {
    // Only a system without epoll or its kin fails here.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let local = LocalSet::new();
    let serving = serve(listener, seat, ground, connections_max, commands);
    local.block_on(&runtime, async move {
        // The runtime goes next, and what is still open with it.
        serving.await;
    });
}

/// The same on the caller's thread, inside its [`LocalSet`]: cuts what is still open at the end.
pub(super) async fn serve_here<S: Serve>(
    listener: StdListener,
    seat: Option<Seat>,
    ground: Ground<S>,
    connections_max: usize,
    commands: mpsc::UnboundedReceiver<Command>,
) {
    let serving = serve(listener, seat, ground, connections_max, commands);
    if let Some(open) = serving.await {
        open.stop(Stop::Abort);
        open.wait_until_empty(Instant::now() + LAST_WORDS).await;
    }
}

/// What was open is returned.
async fn serve<S: Serve>(
    listener: StdListener,
    seat: Option<Seat>,
    ground: Ground<S>,
    connections_max: usize,
    commands: mpsc::UnboundedReceiver<Command>,
) -> Option<Rc<OpenConnections>> {
    let listener = TcpListener::from_std(listener).ok()?;
    let worker = Worker {
        ground,
        open: Rc::default(),
    };
    let open = Rc::clone(&worker.open);
    let quic = seat.and_then(|seat| worker.serve_quic(seat, connections_max));
    worker.run(listener, quic, connections_max, commands).await;
    Some(open)
}

/// The task of the endpoint for HTTP/3, which ends with this.
struct QuicTask {
    signals: Arc<Signals>,
    task: JoinHandle<()>,
}

impl Drop for QuicTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Worker<S> {
    ground: Ground<S>,
    open: Rc<OpenConnections>,
}

/// The connections of a worker, for draining.
#[derive(Default)]
pub(super) struct OpenConnections {
    by_number: RefCell<HashMap<u64, OpenConnection>>,
    next: Cell<u64>,
    closed: Notify,
}

struct OpenConnection {
    signals: Arc<Signals>,
    exchanges: Rc<Cell<u64>>,
}

impl<S: Serve> Worker<S> {
    async fn run(
        self,
        listener: TcpListener,
        quic: Option<QuicTask>,
        connections_max: usize,
        mut commands: mpsc::UnboundedReceiver<Command>,
    ) {
        let command = loop {
            let full = self.open.len() >= connections_max;
            tokio::select! {
                accepted = listener.accept(), if !full => match accepted {
                    Ok((socket, peer)) => self.serve(socket, peer),
                    Err(error) => pause_after(&error).await,
                },
                () = self.open.closed.notified(), if full => {}
                command = commands.recv() => break command,
            }
        };
        // From here on nobody is accepted; what the kernel had queued is refused.
        drop(listener);
        if let Some(quic) = &quic {
            quic.signals.stop(Stop::Drain);
        }
        if let Some(Command::Drain { deadline, cut }) = command {
            let count = tokio::select! {
                count = self.drain(deadline) => count,
                // Nobody waits for it any more.
                () = until_closed(&mut commands) => self.open.exchanges(),
            };
            // Nobody may be left to hear it.
            let _ = cut.send(count);
        }
    }
    /// Starts the endpoint for HTTP/3; a note to stop makes it take nobody new.
    fn serve_quic(&self, seat: Seat, connections_max: usize) -> Option<QuicTask> {
        let signals = Arc::new(Signals::default());
        let (ground, open) = (self.ground.clone(), Rc::clone(&self.open));
        // Only a socket that its system cannot use fails here; it was bound already.
        let listener =
            QuicListener::new(seat, ground, open, connections_max, Arc::clone(&signals)).ok()?;
        let task = tokio::task::spawn_local(listener);
        Some(QuicTask { signals, task })
    }
    fn serve(&self, socket: TcpStream, peer: SocketAddr) {
        add(&self.ground.counters.connections_accepted, 1);
        // Batches are ours to make: Nagle would only hold their last segment back. A socket that
        // refuses is closing already.
        let _ = socket.set_nodelay(true);
        let signals = Arc::new(Signals::default());
        let exchanges = Rc::new(Cell::new(0));
        let entry = OpenConnections::enter(&self.open, &signals, &exchanges);
        let ground = self.ground.clone();
        let addresses = match ground.shown.is_nothing() {
            true => None,
            // A socket without an address is closed already.
            false => socket.local_addr().ok().map(|local| (peer, local)),
        };
        let start = start(socket, addresses, ground, signals, exchanges);
        tokio::task::spawn_local(Served::new(start, &self.ground.counters, entry));
    }
    /// Lets what is open finish until the deadline; counts the exchanges cut then.
    async fn drain(&self, deadline: Duration) -> u64 {
        let until = Instant::now() + deadline;
        self.open.stop(Stop::Drain);
        if self.open.wait_until_empty(until).await {
            return 0;
        }
        let cut = self.open.exchanges();
        self.open.stop(Stop::Abort);
        self.open
            .wait_until_empty(Instant::now() + LAST_WORDS)
            .await;
        cut
    }
}

async fn until_closed(commands: &mut mpsc::UnboundedReceiver<Command>) {
    while commands.recv().await.is_some() {}
}

impl OpenConnections {
    pub(super) fn len(&self) -> usize {
        self.by_number.borrow().len()
    }
    pub(super) fn enter(
        this: &Rc<Self>,
        signals: &Arc<Signals>,
        exchanges: &Rc<Cell<u64>>,
    ) -> OpenEntry {
        let number = this.next.get();
        this.next.set(number + 1);
        let connection = OpenConnection {
            signals: Arc::clone(signals),
            exchanges: Rc::clone(exchanges),
        };
        this.by_number.borrow_mut().insert(number, connection);
        OpenEntry {
            open: Rc::clone(this),
            number,
        }
    }
    fn stop(&self, how: Stop) {
        for connection in self.by_number.borrow().values() {
            connection.signals.stop(how);
        }
    }
    fn exchanges(&self) -> u64 {
        self.by_number
            .borrow()
            .values()
            .map(|connection| connection.exchanges.get())
            .sum()
    }
    async fn wait_until_empty(&self, until: Instant) -> bool {
        while self.len() > 0 {
            let closed = tokio::time::timeout_at(until, self.closed.notified());
            if closed.await.is_err() {
                return self.len() == 0;
            }
        }
        true
    }
}

/// A connection's place among the open ones; leaves it on drop.
pub(super) struct OpenEntry {
    open: Rc<OpenConnections>,
    number: u64,
}

impl Drop for OpenEntry {
    fn drop(&mut self) {
        self.open.by_number.borrow_mut().remove(&self.number);
        self.open.closed.notify_one();
    }
}

/// Out of descriptors or memory: accepting again at once would spin. Anything else concerned one
/// connection that is gone already.
async fn pause_after(error: &io::Error) {
    let of_one_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    );
    if !of_one_connection {
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// How long resets and goodbyes may take to be written after the deadline.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// See [`pause_after`].
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
