//! Pages that show what servers and clients of this environment are doing: each is served by the engine on a thread of its
//! own, so that it answers while JavaScript runs.

use crate::calls::{address, read};
use crate::failure;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use trunkline::admin::Admin;
use trunkline::{Error, Running};

/// Where a page is served, and of which server or client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageAsk {
    pub(crate) of: u32,
    host: String,
    port: u16,
    path: Option<String>,
    token: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClosePageAsk {
    page: u32,
}

/// The open pages of servers, or of clients, by number.
#[derive(Default)]
pub(crate) struct Pages {
    next: u32,
    open: HashMap<u32, Page>,
}

/// A page; dropping it closes it.
struct Page {
    /// The server or client that it shows.
    of: u32,
    _running: PageServer,
}

#[allow(dead_code, reason = "they are held to be dropped")]
enum PageServer {
    Port(Running),
    #[cfg(unix)]
    Unix(Running<std::os::unix::net::SocketAddr>),
}

impl Pages {
    /// Opens a page; its address and its number.
    pub(crate) fn open(&mut self, admin: Admin, ask: PageAsk) -> Result<Value, Value> {
        let of = ask.of;
        let (running, mut reported) = serve(admin, ask)?;
        self.next += 1;
        reported["page"] = json!(self.next);
        let page = Page {
            of,
            _running: running,
        };
        self.open.insert(self.next, page);
        Ok(reported)
    }
    /// Closes the one that the question names; it may be closed.
    pub(crate) fn close(&mut self, text: &str) -> Result<Value, Value> {
        let ask: ClosePageAsk = read(text)?;
        self.open.remove(&ask.page);
        Ok(Value::Null)
    }
    /// Closes those of a server or client that ends.
    pub(crate) fn close_of(&mut self, of: u32) {
        self.open.retain(|_, page| page.of != of);
    }
}

fn serve(admin: Admin, ask: PageAsk) -> Result<(PageServer, Value), Value> {
    let failed = |error: Error| failure::describe(&error);
    let admin = match ask.token {
        Some(token) => admin.token(token).map_err(failed)?,
        None => admin,
    };
    if let Some(path) = ask.path {
        return serve_at_path(admin, &path);
    }
    let host = match ask.host.contains(':') {
        true => format!("[{}]", ask.host),
        false => ask.host,
    };
    let running = admin
        .listen(&format!("{host}:{}", ask.port))
        .map_err(failed)?;
    let reported = address(running.local_addr());
    Ok((PageServer::Port(running), reported))
}

#[cfg(unix)]
fn serve_at_path(admin: Admin, path: &str) -> Result<(PageServer, Value), Value> {
    let running = admin.listen_unix(path);
    let running = running.map_err(|error| failure::describe(&error))?;
    Ok((PageServer::Unix(running), json!({ "path": path })))
}

#[cfg(not(unix))]
fn serve_at_path(_: Admin, path: &str) -> Result<(PageServer, Value), Value> {
    let why = format!("path is {path}, and this system has no Unix sockets: leave it out");
    Err(failure::refusal("config", &why))
}
