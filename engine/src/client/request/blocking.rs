//! The client for programs without a runtime: each call waits on its thread. With the feature `blocking`.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use trunkline::{Body, Server, blocking, service_fn};
//!
//! let server = Server::bind("127.0.0.1:0").workers(1).serve(service_fn(async |_| {
//!     Ok::<_, std::convert::Infallible>(http::Response::new(Body::from("hello")))
//! }))?;
//! let url = format!("http://{}/", server.local_addr());
//! assert_eq!(blocking::get(&url)?.text()?, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! Connections are tasks of a thread of the client's. A call from a task of a tokio runtime is an error, because it
//! would stop that runtime's thread; `spawn_blocking` and `block_in_place` are for it.

mod request;
mod response;

pub use BlockingClient as Client;
pub use request::BlockingRequest as RequestBuilder;
pub use response::BlockingResponse as Response;

use crate::error::Error;
use http::Method;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::coop;

/// A GET request by a client of its own, for one request.
///
/// # Errors
/// As [`RequestBuilder::send`].
pub fn get(url: impl AsRef<str>) -> Result<Response, Error> {
    Client::new()?.get(url).send()
}

/// A pool of connections whose requests block. Cheap to clone; clones share the pool.
#[derive(Clone, Debug)]
pub struct BlockingClient {
    client: crate::Client,
    background: Arc<Background>,
}

/// The thread that runs the connections; it ends with the last of its users.
#[derive(Debug)]
pub(crate) struct Background {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
}

impl BlockingClient {
    /// A client with the default settings.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new() -> Result<Self, Error> {
        Self::of(crate::Client::new())
    }
    /// A client over the pool of another one.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn of(client: crate::Client) -> Result<Self, Error> {
        Ok(Self {
            client,
            background: Arc::new(Background::start()?),
        })
    }
    /// A GET request. A URL that cannot be used is an error of `send`.
    pub fn get(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::GET, url)
    }
    /// A HEAD request.
    pub fn head(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::HEAD, url)
    }
    /// A POST request.
    pub fn post(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::POST, url)
    }
    /// A PUT request.
    pub fn put(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::PUT, url)
    }
    /// A PATCH request.
    pub fn patch(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::PATCH, url)
    }
    /// A DELETE request.
    pub fn delete(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::DELETE, url)
    }
    /// A request with any method but CONNECT.
    pub fn request(&self, method: Method, url: impl AsRef<str>) -> RequestBuilder {
        let request = self.client.request(method, url);
        RequestBuilder::new(request, Arc::clone(&self.background))
    }
}

impl Background {
    fn start() -> Result<Self, Error> {
        let unusable = |error| {
            Error::config("no thread can be started for a blocking client").with_source(error)
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(unusable)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new()
            .name("trunkline-client".to_owned())
            .spawn(move || {
                // Nothing is ever sent: the end of the sender is the signal.
                let _ = runtime.block_on(stopped);
            })
            .map_err(unusable)?;
        Ok(Self {
            handle,
            stop: Some(stop),
        })
    }
    /// Waits for a future on this thread, while the connections run on the other.
    pub(crate) fn wait<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        if is_polled() {
            return Err(Error::config(
                "a blocking client was called inside a tokio runtime; use trunkline::Client there, or \
                 tokio::task::spawn_blocking with a thread that may wait",
            ));
        }
        Ok(self.handle.block_on(future))
    }
}

/// Whether this thread polls a task or `block_on` of tokio: it must not wait there, but may in `spawn_blocking`,
/// `block_in_place` and below `Handle::enter`. Only what is polled has a budget of polls (`tokio::task::coop`); what is
/// taken of it here is given back, the first last.
fn is_polled() -> bool {
    if Handle::try_current().is_err() {
        return false;
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut taken = Vec::new();
    while taken.len() <= POLLS_MAX {
        match coop::poll_proceed(&mut context) {
            Poll::Ready(one) => taken.push(one),
            Poll::Pending => break,
        }
    }
    let is_limited = taken.len() <= POLLS_MAX;
    while taken.pop().is_some() {}
    is_limited
}

/// More than tokio's budget of a task, 128.
const POLLS_MAX: usize = 1024;

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}
