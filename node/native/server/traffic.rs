//! The numbers of bytes that the connections of servers have carried, which JavaScript may read at any time.

use crate::calls::read;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::mem;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use trunkline::Traffic;

/// How long JavaScript waits for the engine, which has never that much to do before.
const WAIT_MAX: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Traffics(Mutex<TrafficState>);

#[derive(Default)]
struct TrafficState {
    /// By the connection's number, until JavaScript knows of its end.
    counts: HashMap<u32, Traffic>,
    /// Questions that wait for the engine to have carried out what was submitted before.
    waiting: Vec<SyncSender<()>>,
}

impl Traffics {
    fn lock(&self) -> MutexGuard<'_, TrafficState> {
        // Both are whole between any two statements under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// A connection has begun.
    pub(crate) fn insert(&self, connection: u32, traffic: Traffic) {
        self.lock().counts.insert(connection, traffic);
    }
}

/// Answers the questions that wait, behind the turns of the connections that have been woken. On the engine's thread.
pub(crate) fn settle(traffics: &Traffics) {
    let waiting = mem::take(&mut traffics.lock().waiting);
    if waiting.is_empty() {
        return;
    }
    tokio::task::spawn_local(async move {
        tokio::task::yield_now().await;
        for settled in waiting {
            // The question may have been given up.
            let _ = settled.try_send(());
        }
    });
}

#[derive(Deserialize)]
struct TrafficAsk {
    connection: u32,
    /// The connection has ended: these are its last counts.
    ended: bool,
}

/// The counts behind what was submitted before; `null`: nothing is counted.
pub(crate) fn ask(traffics: &Traffics, text: &str, kick: impl FnOnce()) -> Result<Value, Value> {
    let ask: TrafficAsk = read(text)?;
    let counts = if ask.ended {
        traffics.lock().counts.remove(&ask.connection)
    } else {
        let (settled, settles) = sync_channel(1);
        traffics.lock().waiting.push(settled);
        kick();
        // Without an answer the counts are as they are.
        let _ = settles.recv_timeout(WAIT_MAX);
        traffics.lock().counts.get(&ask.connection).cloned()
    };
    Ok(counts.map_or(Value::Null, |traffic| {
        json!([traffic.bytes_read(), traffic.bytes_written()])
    }))
}
