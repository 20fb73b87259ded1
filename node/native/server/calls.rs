//! The cold calls of servers: sockets are opened on JavaScript's thread, where an error can be
//! thrown, and served on the engine's.

use super::bridge::ServerBridge;
use super::callbacks;
use super::listen::ListenAsk;
use super::listen::bound::BoundSockets;
#[cfg(unix)]
use super::listen::bound::inherited::{self, AcceptedSocket};
use super::listen::hand_over::{self, HandOver, Succession, Successors};
use super::secured::Secured;
use super::secured::choices::Choice;
use crate::calls::questions::Questions;
use crate::calls::read;
use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure;
use crate::pages::{PageAsk, Pages};
use crate::streams::StreamAsk;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use trunkline::admin::Admin;
use trunkline::server::{Inspector, SecondWorker, ServerHandle};
use trunkline::{ByteStream, ServerConfig};

thread_local! {
    /// A second worker between two calls of JavaScript's: one takes it from the engine on this thread, the next gives it to
    /// the one beside it.
    static ON_ITS_WAY: Cell<Option<SecondWorker>> = const { Cell::new(None) };
}

/// The servers of one environment, as JavaScript's thread knows them.
#[derive(Default)]
pub(crate) struct Servers {
    next: u32,
    secured: HashMap<u32, Secured>,
    /// Inspectors of those that have not been stopped.
    inspectors: HashMap<u32, Inspector>,
    pages: Pages,
    /// Second workers of those that have not asked for them yet.
    seconds: HashMap<u32, SecondWorker>,
    choices: Arc<Questions<Choice>>,
}

/// A task of a server for the engine's thread.
pub(crate) enum Task {
    Serve(u32, BoundSockets, OnServing),
    Join(u32, Box<SecondWorker>),
    HandOver(u32, Successors),
    Stream(u32, ByteStream),
    #[cfg(unix)]
    Take(u32, AcceptedSocket),
    Configure(u32, Box<ServerConfig>),
    Drain(u32, Duration),
    Stop(u32),
}

/// Reports that follow once a server serves.
#[derive(Default)]
pub(crate) struct OnServing {
    succession: Succession,
    http3: bool,
}

/// A server that waits for the next process at a path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandOverAsk {
    server: u32,
    path: String,
}

/// The others know what else there is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimelineAsk {
    server: u32,
    timeline: u64,
}

#[derive(Deserialize)]
struct ServerAsk {
    server: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DrainAsk {
    server: u32,
    deadline_ms: Option<u64>,
}

/// A stream for a server that is open.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServeAsk {
    server: u32,
    stream: StreamAsk,
}

/// The descriptor of an accepted socket for a server that is open.
#[cfg(unix)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TakeAsk {
    server: u32,
    fd: i32,
}

/// New settings for later connections of a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigureAsk {
    server: u32,
    listen: ListenAsk,
}

impl Servers {
    /// Carries out one cold call, with what is left for the engine's thread.
    pub(crate) fn ask(
        &mut self,
        verb: &str,
        text: &str,
        shared: &Arc<Shared>,
        leave: impl FnOnce(Task),
    ) -> Result<Value, Value> {
        match verb {
            "listen" => self.listen(&read(text)?, shared, leave),
            "second" | "alone" | "join" => self.ask_second(verb, text, leave),
            "identity" | "context" | "forget" | "chosen" => {
                let ServerAsk { server } = read(text)?;
                let gone = || failure::refusal("config", "the server has no certificates");
                let secured = self.secured.get_mut(&server).ok_or_else(gone)?;
                secured.ask(verb, text, &self.choices)
            }
            "configure" => {
                let ConfigureAsk { server, listen } = read(text)?;
                leave(Task::Configure(server, Box::new(listen.config())));
                Ok(Value::Null)
            }
            "serve" => {
                let ask: ServeAsk = read(text)?;
                leave(Task::Stream(ask.server, ask.stream.attach(shared)));
                Ok(Value::Null)
            }
            #[cfg(unix)]
            "take" => {
                let TakeAsk { server, fd } = read(text)?;
                let socket = AcceptedSocket::copy(fd);
                leave(Task::Take(
                    server,
                    socket.map_err(|error| inherited::unserved(fd, &error))?,
                ));
                Ok(Value::Null)
            }
            "handOver" => {
                let HandOverAsk { server, path } = read(text)?;
                leave(Task::HandOver(server, hand_over::listen(&path)?));
                Ok(Value::Null)
            }
            "serverMetrics" => {
                let ServerAsk { server } = read(text)?;
                let inspector = self.inspectors.get(&server);
                let metrics = inspector.map(Inspector::metrics);
                Ok(json!(metrics.map(|metrics| metrics.to_openmetrics())))
            }
            "inspectServer" => self.inspect(read(text)?),
            "serverTimeline" => self.timeline(read(text)?),
            "closeServerPage" => self.pages.close(text),
            "drain" => {
                let ask: DrainAsk = read(text)?;
                let deadline = ask.deadline_ms.map_or(FOR_EVER, Duration::from_millis);
                let deadline = deadline.min(FOR_EVER);
                leave(Task::Drain(ask.server, deadline));
                Ok(Value::Null)
            }
            _ => {
                let ask: ServerAsk = read(text)?;
                self.secured.remove(&ask.server);
                self.inspectors.remove(&ask.server);
                self.seconds.remove(&ask.server);
                self.pages.close_of(ask.server);
                leave(Task::Stop(ask.server));
                Ok(Value::Null)
            }
        }
    }

    /// Asks for a server's second worker: JavaScript takes it, or says that there will be none; another engine takes it in.
    fn ask_second(
        &mut self,
        verb: &str,
        text: &str,
        leave: impl FnOnce(Task),
    ) -> Result<Value, Value> {
        match verb {
            "second" => {
                let ServerAsk { server } = read(text)?;
                let second = self.seconds.remove(&server);
                let is_there = second.is_some();
                ON_ITS_WAY.set(second);
                Ok(json!(is_there))
            }
            "alone" => {
                let ServerAsk { server } = read(text)?;
                self.seconds.remove(&server);
                Ok(Value::Null)
            }
            _ => {
                let gone = || failure::refusal("config", "there is no second worker to join");
                let second = ON_ITS_WAY.take().ok_or_else(gone)?;
                self.next += 1;
                leave(Task::Join(self.next, Box::new(second)));
                Ok(json!(self.next))
            }
        }
    }

    /// The timeline of a request; null: it is not kept.
    fn timeline(&self, ask: TimelineAsk) -> Result<Value, Value> {
        let inspector = self.inspectors.get(&ask.server);
        let kept = inspector.and_then(Inspector::timelines).unwrap_or_default();
        let found = kept.into_iter().find(|kept| kept.id == ask.timeline);
        Ok(json!(found.map(|kept| kept.text)))
    }
    fn inspect(&mut self, ask: PageAsk) -> Result<Value, Value> {
        let gone = || failure::refusal("config", "the server does not listen");
        let inspector = self.inspectors.get(&ask.of).ok_or_else(gone)?;
        // Requests that fail or are slow from now on can be explained.
        inspector.keep_timelines();
        let admin = Admin::of_server(inspector.clone());
        self.pages.open(admin, ask)
    }

    fn listen(
        &mut self,
        ask: &ListenAsk,
        shared: &Arc<Shared>,
        leave: impl FnOnce(Task),
    ) -> Result<Value, Value> {
        let server = self.next + 1;
        let secured = ask.tls.as_ref();
        let secured = secured
            .map(|tls| tls.secure(&ask.offered(), server, shared, &self.choices))
            .transpose()
            .map_err(|error| failure::describe(&error))?;
        let tls = secured.as_ref().map(|secured| &secured.tls);
        let mut succession = ask.succession()?;
        let opened = ask.open(tls, &mut succession).and_then(|opened| {
            succession.successors = ask.successors()?;
            Ok(opened)
        });
        let mut opened = opened.inspect_err(|refusal| succession.report_refused(refusal))?;
        self.next = server;
        if let Some(secured) = secured {
            self.secured.insert(server, secured);
        }
        if ask.leaves {
            self.seconds.insert(server, opened.second_worker());
        }
        self.inspectors.insert(server, opened.inspector());
        let mut reported = opened.address();
        reported["server"] = json!(server);
        let on_serving = OnServing {
            succession,
            http3: ask.http3,
        };
        leave(Task::Serve(server, opened, on_serving));
        Ok(reported)
    }
}

/// A year: a deadline that never matters.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The servers of one environment on the engine's thread, inside its `LocalSet`.
pub(crate) struct Serving {
    shared: Arc<Shared>,
    server_bridge: Rc<ServerBridge>,
    server_handles: HashMap<u32, Rc<ServerHandle>>,
    hand_overs: HashMap<u32, HandOver>,
}

impl Serving {
    pub(crate) fn new(shared: &Arc<Shared>, server_bridge: &Rc<ServerBridge>) -> Self {
        Self {
            shared: Arc::clone(shared),
            server_bridge: Rc::clone(server_bridge),
            server_handles: HashMap::new(),
            hand_overs: HashMap::new(),
        }
    }
    pub(crate) fn carry_out(&mut self, task: Task) {
        match task {
            Task::Serve(number, opened, on_serving) => self.serve(number, opened, on_serving),
            Task::Join(number, second) => self.join(number, *second),
            Task::HandOver(number, successors) => self.hand_over(number, successors),
            Task::Stream(number, stream) => {
                // One that is given to a server that has ended is dropped, which closes it.
                if let Some(server_handles) = self.server_handles.get(&number) {
                    server_handles.serve_stream(stream);
                }
            }
            #[cfg(unix)]
            Task::Take(number, socket) => {
                // As a stream that is given.
                if let Some(server_handle) = self.server_handles.get(&number) {
                    socket.serve(server_handle);
                }
            }
            Task::Configure(number, config) => {
                if let Some(server_handles) = self.server_handles.get(&number) {
                    // JavaScript has looked at the settings.
                    let _ = server_handles.configure(&config);
                }
            }
            Task::Drain(number, deadline) => {
                if let Some(hand_over) = self.hand_overs.get(&number) {
                    hand_over.end();
                }
                if let Some(server_handles) = self.server_handles.get(&number) {
                    server_handles.drain(deadline);
                }
            }
            Task::Stop(number) => {
                self.server_handles.remove(&number);
                self.hand_overs.remove(&number);
            }
        }
    }
    fn serve(&mut self, number: u32, opened: BoundSockets, on_serving: OnServing) {
        let server_bridge = Rc::clone(&self.server_bridge);
        let shared = Arc::clone(&self.shared);
        let OnServing {
            mut succession,
            http3,
        } = on_serving;
        let Ok((server_handles, mut serving)) = opened.serve_callbacks(callbacks::Server {
            server_bridge,
            number,
            is_alone: Rc::new(Cell::new(true)),
        }) else {
            // It refuses an access log alone, and there is none.
            return shared.complete(completion::server_ended(number), &[], &[]);
        };
        self.server_handles.insert(number, Rc::new(server_handles));
        if let Some(successors) = succession.successors.take() {
            self.hand_over(number, successors);
        }
        tokio::task::spawn_local(async move {
            // The first poll takes the sockets into the runtime.
            let begun = poll_fn(|cx| Poll::Ready(serving.as_mut().poll(cx))).await;
            succession.report(&begun, http3);
            if begun.is_pending() {
                // A server whose sockets cannot be used has ended.
                let _ = serving.await;
            }
            shared.complete(completion::server_ended(number), &[], &[]);
        });
    }
    /// Serves as the second worker of a server of another engine, which commands it.
    fn join(&mut self, number: u32, second: SecondWorker) {
        let serving = second.serve_callbacks(callbacks::Server {
            server_bridge: Rc::clone(&self.server_bridge),
            number,
            is_alone: Rc::default(),
        });
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_local(async move {
            // It has no sockets that could be unusable.
            let _ = serving.await;
            shared.complete(completion::server_ended(number), &[], &[]);
        });
    }
    fn hand_over(&mut self, number: u32, successors: Successors) {
        // A server that has ended has nothing to give.
        if let Some(server_handle) = self.server_handles.get(&number) {
            let server_handle = Rc::downgrade(server_handle);
            let shared = Arc::clone(&self.shared);
            let hand_over = HandOver::new(number, successors, server_handle, shared);
            self.hand_overs.insert(number, hand_over);
        }
    }
}
