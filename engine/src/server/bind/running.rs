//! A running server: metrics, shutdown and join.

#[cfg(unix)]
use crate::error::Error;
#[cfg(unix)]
use crate::server::bind::hand_over::Sockets;
use crate::server::bind::inspector::Inspector;
use crate::server::observe::counters::MetricsReader;
use crate::server::observe::metrics::Metrics;
use crate::server::worker::WorkerCommand;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// A server that serves. Dropping it stops it at once, as [`shutdown`](Self::shutdown) does.
#[derive(Debug)]
pub struct Running<A = SocketAddr> {
    pub(in crate::server) local_addr: A,
    pub(in crate::server) workers: Vec<WorkerHandle>,
    pub(in crate::server) sources: MetricsReader,
}

/// The connections that a drain had to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drained {
    /// Exchanges that had not finished at the deadline.
    pub cut: u64,
}

#[derive(Debug)]
pub(in crate::server) struct WorkerHandle {
    pub(in crate::server) commands: Option<mpsc::UnboundedSender<WorkerCommand>>,
    pub(in crate::server) thread: Option<thread::JoinHandle<()>>,
    /// Closed when the thread ends.
    pub(in crate::server) ended: oneshot::Receiver<()>,
}

impl<A> Running<A> {
    /// The listening address, with the chosen port.
    pub fn local_addr(&self) -> A
    where
        A: Clone,
    {
        self.local_addr.clone()
    }
    /// The counts so far.
    pub fn metrics(&self) -> Metrics {
        self.sources.read()
    }
    /// A reader of the counts that outlives this value: for the service that shows them.
    pub fn metrics_reader(&self) -> MetricsReader {
        self.sources.clone()
    }
    /// A reader of the open connections and their exchanges, for a page or a service that shows them.
    pub fn inspector(&self) -> Inspector {
        let workers = self.workers.iter().map(|worker| worker.commands.as_ref());
        Inspector::new(workers, self.metrics_reader())
    }
    /// Stops accepting except for the connections in the kernel's queue, sends every peer a GOAWAY (twice) or
    /// `connection: close`, lets open exchanges finish until `deadline`, then cuts the others.
    pub async fn drain(mut self, deadline: Duration) -> Drained {
        let mut answers = Vec::with_capacity(self.workers.len());
        for worker in &self.workers {
            if let Some(commands) = &worker.commands {
                let (cut, answer) = oneshot::channel();
                // A worker that is gone has nothing to cut.
                if commands
                    .send(WorkerCommand::Drain { deadline, cut })
                    .is_ok()
                {
                    answers.push(answer);
                }
            }
        }
        let mut cut = 0;
        for answer in answers {
            cut += answer.await.unwrap_or(0);
        }
        self.stop();
        Drained { cut }
    }
    /// Duplicates of the listening sockets, for a process that is to take this one's place, or for another server of
    /// this one. Both accept from their queues until this one drains ([`drain_handed_over`](Self::drain_handed_over)); until
    /// then this one alone reads the UDP sockets of HTTP/3. The sockets of an earlier call get no more packets.
    ///
    /// # Errors
    /// When the server has ended, or the process has no descriptor left.
    #[cfg(unix)]
    pub async fn hand_over(&self) -> Result<Sockets, Error> {
        Sockets::of(&self.commands()).await
    }
    /// As [`drain`](Self::drain), where another server has begun to serve on `sockets`: the connections in the kernel's
    /// queue are its own, and so is the file of a Unix socket. It reads the UDP sockets from now on, and forwards the
    /// packets of the HTTP/3 connections that this server still has.
    #[cfg(unix)]
    pub async fn drain_handed_over(self, sockets: Sockets, deadline: Duration) -> Drained {
        sockets.leave_to_other(&self.commands()).await;
        self.drain(deadline).await
    }
    /// Stops at once: every connection is closed as it is.
    pub fn shutdown(mut self) {
        self.stop();
    }
    /// Waits until the server stops, which only a failure makes it do.
    pub async fn stopped(&mut self) {
        for worker in &mut self.workers {
            // Nothing is ever sent.
            let _ = (&mut worker.ended).await;
        }
    }
    /// Blocks this thread until the server stops, which only a failure makes it do.
    pub fn join(mut self) {
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A worker that panicked said so itself.
                let _ = thread.join();
            }
        }
    }
    /// To the workers that have not been stopped.
    #[cfg(unix)]
    fn commands(&self) -> Vec<&mpsc::UnboundedSender<WorkerCommand>> {
        let workers = self.workers.iter();
        workers
            .filter_map(|worker| worker.commands.as_ref())
            .collect()
    }
    fn stop(&mut self) {
        for worker in &mut self.workers {
            worker.commands = None;
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

impl<A> Drop for Running<A> {
    fn drop(&mut self) {
        self.stop();
    }
}
