//! In place of the module `hand_over` where no process can give its sockets to another: types without values.

pub(crate) use self::{
    NoHandOver as HandOver, NoSuccession as Succession, NoSuccessors as Successors,
};

use crate::channel::shared::Shared;
use crate::failure;
use serde_json::Value;
use std::convert::Infallible;
use std::rc::Weak;
use std::sync::Arc;
use std::task::Poll;
use trunkline::Error;
use trunkline::server::ServerHandle;

/// There is none.
pub(crate) type NoSuccessors = Infallible;

/// A server that is the first process.
#[derive(Default)]
pub(crate) struct NoSuccession {
    pub(crate) successors: Option<Successors>,
}

impl NoSuccession {
    pub(crate) fn at(path: &str) -> Result<Self, Value> {
        Err(refused(path))
    }
    pub(crate) fn report_refused(&self, _: &Value) {}
    pub(crate) fn report(self, _: &Poll<Result<(), Error>>, _: bool) {}
}

pub(crate) fn listen(path: &str) -> Result<Successors, Value> {
    Err(refused(path))
}

fn refused(path: &str) -> Value {
    let text =
        format!("handOver is {path}; on this system no process can give its sockets to another");
    failure::refusal("config", &text)
}

/// A server's wait for the next process.
pub(crate) struct NoHandOver(Infallible);

impl NoHandOver {
    pub(crate) fn new(_: u32, never: Successors, _: Weak<ServerHandle>, _: Arc<Shared>) -> Self {
        match never {}
    }
    pub(crate) fn end(&self) {
        match self.0 {}
    }
}
