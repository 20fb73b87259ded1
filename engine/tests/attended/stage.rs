//! A server on a thread of its own, whose attendant tells the test what it hears.

use bytes::Bytes;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Notify, mpsc as tasks};
use tokio::task::LocalSet;
use trunkline::core::http::{Fields, RequestHead, Version};
use trunkline::server::{Answer, Attendant, Attending, Ended, Given, Line, Pause, Place};
use trunkline::{ConnectionInfo, Server, server};

/// The events of the callback API.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Connected(Version),
    Requested(String, bool),
    Body(Vec<u8>, bool),
    Room(usize),
    Ended(Ended),
    Said(server::Heard),
    Disconnected,
    /// The server.
    Over,
}

pub(crate) type Does = dyn Fn(&Line, Place, &str);

/// Tells what it hears, and does with the line of a request what the test says.
#[derive(Clone)]
pub(crate) struct Teller {
    pub(crate) heard: mpsc::Sender<Heard>,
    pub(crate) does: Rc<Does>,
    pub(crate) lines: Rc<RefCell<Vec<(Line, Place)>>>,
    /// It does not keep up until this ends.
    pub(crate) behind: Rc<RefCell<Option<Arc<Notify>>>>,
}

impl Attendant for Teller {
    type Connection = Line;
    type Exchange = ();

    fn pause(&self) -> Option<Pause> {
        let over = self.behind.borrow().clone()?;
        Some(Box::pin(async move { over.notified().await }))
    }
    fn connected(&self, line: Line, version: Version, _: Option<&ConnectionInfo>) -> Line {
        self.heard.send(Heard::Connected(version)).unwrap();
        line
    }
    fn requested(&self, line: &Line, place: Place, head: &RequestHead, end: bool) {
        let path = String::from_utf8(head.path().unwrap_or_default().to_vec()).unwrap();
        if path == "/too-much" {
            *self.behind.borrow_mut() = Some(Arc::default());
        }
        (self.does)(line, place, &path);
        let path = if place.is_early() {
            path + " early"
        } else {
            path
        };
        self.lines.borrow_mut().push((line.clone(), place));
        self.heard.send(Heard::Requested(path, end)).unwrap();
    }
    fn body(&self, (): &(), data: Bytes, end: bool) {
        self.heard.send(Heard::Body(data.to_vec(), end)).unwrap();
    }
    fn trailers(&self, (): &(), _: &Fields) {}
    fn room(&self, (): &(), bytes: usize) {
        self.heard.send(Heard::Room(bytes)).unwrap();
    }
    fn ended(&self, (): (), how: Ended) {
        self.heard.send(Heard::Ended(how)).unwrap();
    }
    fn heard(&self, _: &Line, heard: server::Heard) {
        self.heard.send(Heard::Said(heard)).unwrap();
    }
    fn disconnected(&self, _: Line) {
        // The test may be over.
        let _ = self.heard.send(Heard::Disconnected);
    }
}

impl Teller {
    pub(crate) fn keeps_up(&self) {
        let over = self.behind.borrow_mut().take();
        over.expect("it is behind").notify_waiters();
    }
}

pub(crate) type Task = Box<dyn FnOnce(&Attending, &[(Line, Place)], &Teller) + Send>;

/// A server on a thread of its own.
pub(crate) struct Attended {
    pub(crate) address: SocketAddr,
    pub(crate) heard: mpsc::Receiver<Heard>,
    pub(crate) tasks: Option<tasks::UnboundedSender<Task>>,
    pub(crate) thread: Option<JoinHandle<()>>,
}

impl Attended {
    pub(crate) fn new(does: impl Fn(&Line, Place, &str) + Send + 'static) -> Self {
        Self::serving(Server::bind("127.0.0.1:0"), does)
    }
    pub(crate) fn serving(
        server: Server,
        does: impl Fn(&Line, Place, &str) + Send + 'static,
    ) -> Self {
        let listening = server.listen().unwrap();
        let address = listening.local_addr();
        let (heard, hears) = mpsc::channel();
        let (tasks, mut to_do) = tasks::unbounded_channel::<Task>();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            LocalSet::new().block_on(&runtime, async move {
                let lines = Rc::<RefCell<Vec<(Line, Place)>>>::default();
                let over = heard.clone();
                let teller = Teller {
                    heard,
                    does: Rc::new(does),
                    lines: Rc::clone(&lines),
                    behind: Rc::default(),
                };
                let (attending, serving) = listening.attend(teller.clone()).unwrap();
                let serving = tokio::task::spawn_local(async move {
                    serving.await.unwrap();
                    // The test may be over.
                    let _ = over.send(Heard::Over);
                });
                while let Some(task) = to_do.recv().await {
                    task(&attending, &lines.borrow(), &teller);
                }
                drop(attending);
                serving.await.unwrap();
            });
        });
        Self {
            address,
            heard: hears,
            tasks: Some(tasks),
            thread: Some(thread),
        }
    }
    pub(crate) fn hears(&self) -> Heard {
        self.heard.recv_timeout(Duration::from_secs(20)).unwrap()
    }
    /// A request, on a connection that it is the first on, came whole.
    pub(crate) fn hears_a_request(&self, version: Version, path: &str) {
        assert_eq!(self.hears(), Heard::Connected(version));
        assert_eq!(self.hears(), Heard::Requested(path.into(), true));
    }
    pub(crate) fn does(&self, task: impl FnOnce(&Attending, &[(Line, Place)]) + Send + 'static) {
        self.tells(move |attending, lines, _| task(attending, lines));
    }
    pub(crate) fn keeps_up(&self) {
        self.tells(|_, _, teller| teller.keeps_up());
    }
    pub(crate) fn tells(
        &self,
        task: impl FnOnce(&Attending, &[(Line, Place)], &Teller) + Send + 'static,
    ) {
        let tasks = self.tasks.as_ref().unwrap();
        assert!(tasks.send(Box::new(task)).is_ok());
    }
    /// Nothing was heard that was not taken.
    pub(crate) fn heard_nothing(&self) {
        assert_eq!(self.heard.try_recv(), Err(mpsc::TryRecvError::Empty));
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

pub(crate) fn says(body: Given) -> Answer<'static> {
    Answer {
        status: 200,
        reason: b"",
        fields: b"x\0y",
        body,
        date: false,
        length: true,
        quiet: false,
    }
}

pub(crate) fn whole(text: &'static str) -> Given {
    Given::Whole(Bytes::from(text))
}

/// `GET http://a/p`.
pub(crate) const GET_A_PATH: &[u8] = &[0x82, 0x86, 0x04, 0x02, b'/', b'p', 0x41, 0x01, b'a'];
