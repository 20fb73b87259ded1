//! A server on a thread of its own, whose callbacks report their calls to the test.

use bytes::Bytes;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Notify, mpsc as tasks};
use tokio::task::LocalSet;
use trunkline::core::http::{Fields, RequestHead, Version};
use trunkline::server::{
    Answer, Callbacks, ConnectionHandle, Ended, Pause, ResponseBody, ServerHandle, StreamHandle,
};
use trunkline::{ConnectionInfo, Server, server};

/// The events of the callback API.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Connected(Version),
    Requested(String, bool),
    Body(Vec<u8>, bool),
    Room(usize),
    Ended(Ended),
    Control(server::PeerEvent),
    Disconnected,
    /// The server.
    Over,
}

pub(crate) type Does = dyn Fn(&ConnectionHandle, StreamHandle, &str);

/// Reports its calls, and does with the line of a request what the test asks for.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub(crate) received: mpsc::Sender<Recorded>,
    pub(crate) does: Rc<Does>,
    pub(crate) connections_open: Rc<RefCell<Vec<(ConnectionHandle, StreamHandle)>>>,
    /// It does not keep up until this ends.
    pub(crate) behind: Rc<RefCell<Option<Arc<Notify>>>>,
    /// Failures of transports. Apart, because a peer that goes with unread bytes resets its connection or ends it.
    pub(crate) failures: Failures,
}

pub(crate) type Failures = Arc<Mutex<Vec<ErrorKind>>>;

impl Callbacks for Recorder {
    type Connection = ConnectionHandle;
    type Exchange = ();

    fn pause(&self) -> Option<Pause> {
        let over = self.behind.borrow().clone()?;
        Some(Box::pin(async move { over.notified().await }))
    }
    fn connected(
        &self,
        commands: ConnectionHandle,
        version: Version,
        _: Option<&ConnectionInfo>,
    ) -> ConnectionHandle {
        self.received.send(Recorded::Connected(version)).unwrap();
        commands
    }
    fn requested(
        &self,
        commands: &ConnectionHandle,
        handle: StreamHandle,
        head: &RequestHead,
        end: bool,
    ) {
        let path = String::from_utf8(head.path().unwrap_or_default().to_vec()).unwrap();
        if path == "/too-much" {
            *self.behind.borrow_mut() = Some(Arc::default());
        }
        (self.does)(commands, handle, &path);
        let path = if handle.is_early() {
            path + " early"
        } else {
            path
        };
        self.connections_open
            .borrow_mut()
            .push((commands.clone(), handle));
        self.received.send(Recorded::Requested(path, end)).unwrap();
    }
    fn body(&self, (): &(), data: Bytes, end: bool) {
        self.received
            .send(Recorded::Body(data.to_vec(), end))
            .unwrap();
    }
    fn trailers(&self, (): &(), _: &Fields) {}
    fn room(&self, (): &(), bytes: usize) {
        self.received.send(Recorded::Room(bytes)).unwrap();
    }
    fn ended(&self, (): (), how: Ended) {
        self.received.send(Recorded::Ended(how)).unwrap();
    }
    fn received(&self, _: &ConnectionHandle, received: server::PeerEvent) {
        self.received.send(Recorded::Control(received)).unwrap();
    }
    fn failed(&self, _: &ConnectionHandle, error: &io::Error) {
        self.failures.lock().unwrap().push(error.kind());
    }
    fn disconnected(&self, _: ConnectionHandle) {
        // The test may be over.
        let _ = self.received.send(Recorded::Disconnected);
    }
}

impl Recorder {
    pub(crate) fn keeps_up(&self) {
        let over = self.behind.borrow_mut().take();
        over.expect("it is behind").notify_waiters();
    }
}

pub(crate) type Task =
    Box<dyn FnOnce(&ServerHandle, &[(ConnectionHandle, StreamHandle)], &Recorder) + Send>;

/// A server on a thread of its own.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) received: mpsc::Receiver<Recorded>,
    pub(crate) tasks: Option<tasks::UnboundedSender<Task>>,
    pub(crate) thread: Option<JoinHandle<()>>,
    pub(crate) failures: Failures,
}

impl TestServer {
    pub(crate) fn new(
        does: impl Fn(&ConnectionHandle, StreamHandle, &str) + Send + 'static,
    ) -> Self {
        Self::serving(Server::bind("127.0.0.1:0"), does)
    }
    pub(crate) fn serving(
        server: Server,
        does: impl Fn(&ConnectionHandle, StreamHandle, &str) + Send + 'static,
    ) -> Self {
        let listening = server.listen().unwrap();
        let address = listening.local_addr();
        let (received, receives) = mpsc::channel();
        let (tasks, mut to_do) = tasks::unbounded_channel::<Task>();
        let failures = Failures::default();
        let reported = Arc::clone(&failures);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            LocalSet::new().block_on(&runtime, async move {
                let connections_open =
                    Rc::<RefCell<Vec<(ConnectionHandle, StreamHandle)>>>::default();
                let over = received.clone();
                let recorder = Recorder {
                    received,
                    does: Rc::new(does),
                    connections_open: Rc::clone(&connections_open),
                    behind: Rc::default(),
                    failures: reported,
                };
                let (server_handle, serving) = listening.serve_callbacks(recorder.clone()).unwrap();
                let serving = tokio::task::spawn_local(async move {
                    serving.await.unwrap();
                    // The test may be over.
                    let _ = over.send(Recorded::Over);
                });
                while let Some(task) = to_do.recv().await {
                    task(&server_handle, &connections_open.borrow(), &recorder);
                }
                drop(server_handle);
                serving.await.unwrap();
            });
        });
        Self {
            address,
            received: receives,
            tasks: Some(tasks),
            thread: Some(thread),
            failures,
        }
    }
    pub(crate) fn receives(&self) -> Recorded {
        self.received.recv_timeout(Duration::from_secs(60)).unwrap()
    }
    /// A request, on a connection that it is the first on, came whole.
    pub(crate) fn receives_a_request(&self, version: Version, path: &str) {
        assert_eq!(self.receives(), Recorded::Connected(version));
        assert_eq!(self.receives(), Recorded::Requested(path.into(), true));
    }
    pub(crate) fn does(
        &self,
        task: impl FnOnce(&ServerHandle, &[(ConnectionHandle, StreamHandle)]) + Send + 'static,
    ) {
        self.expects(move |server_handle, connections_open, _| {
            task(server_handle, connections_open)
        });
    }
    pub(crate) fn keeps_up(&self) {
        self.expects(|_, _, recorder| recorder.keeps_up());
    }
    pub(crate) fn expects(
        &self,
        task: impl FnOnce(&ServerHandle, &[(ConnectionHandle, StreamHandle)], &Recorder)
        + Send
        + 'static,
    ) {
        let tasks = self.tasks.as_ref().unwrap();
        assert!(tasks.send(Box::new(task)).is_ok());
    }
    /// Nothing was heard that was not taken.
    pub(crate) fn received_nothing(&self) {
        assert_eq!(self.received.try_recv(), Err(mpsc::TryRecvError::Empty));
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

pub(crate) fn sends(body: ResponseBody) -> Answer<'static> {
    Answer {
        status: 200,
        reason: None,
        fields: b"x\0y",
        body,
        date: false,
        length: true,
        quiet: false,
    }
}

pub(crate) fn whole(text: &'static str) -> ResponseBody {
    ResponseBody::Whole(Bytes::from(text))
}

/// `GET http://a/p`.
pub(crate) const GET_A_PATH: &[u8] = &[0x82, 0x86, 0x04, 0x02, b'/', b'p', 0x41, 0x01, b'a'];
