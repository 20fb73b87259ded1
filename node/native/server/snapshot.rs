//! A synchronous snapshot of a connection's windows for JavaScript.

use crate::calls::read;
use serde::Deserialize;
use serde_json::{Value, json};
use std::mem;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use trunkline::core::h2::Accounts;

/// A request for the snapshot of the connection with this number.
pub(crate) type SnapshotRequest = (u32, SyncSender<Accounts>);

/// The waiting requests.
#[derive(Default)]
pub(crate) struct SnapshotRequests(Mutex<Vec<SnapshotRequest>>);

impl SnapshotRequests {
    fn lock(&self) -> MutexGuard<'_, Vec<SnapshotRequest>> {
        // The list is whole between any two statements under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// All requests for snapshots, to be answered.
    pub(crate) fn take(&self) -> Vec<SnapshotRequest> {
        mem::take(&mut *self.lock())
    }
}

/// How long JavaScript waits for the engine, which has never that much to do before.
const WAIT_MAX: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct SnapshotAsk {
    connection: u32,
}

/// Waits until the engine, which `kick` wakes, has carried out what was submitted before; `null`: there
/// are none.
pub(crate) fn ask(
    requests: &SnapshotRequests,
    text: &str,
    kick: impl FnOnce(),
) -> Result<Value, Value> {
    let ask: SnapshotAsk = read(text)?;
    let (seen, sees) = sync_channel(1);
    requests.lock().push((ask.connection, seen));
    kick();
    let Ok(accounts) = sees.recv_timeout(WAIT_MAX) else {
        return Ok(Value::Null);
    };
    Ok(json!({
        "receiveWindow": accounts.receive_window,
        "receivable": accounts.receivable,
        "unread": accounts.unread,
        "sendable": accounts.sendable,
        "lastPeerStream": accounts.last_peer_stream,
        "streamsSending": accounts.streams_sending,
        "encoderTable": accounts.encoder_table,
        "decoderTable": accounts.decoder_table,
    }))
}
