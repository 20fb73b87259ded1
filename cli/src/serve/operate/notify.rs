//! Messages to the service manager, as systemd's `sd_notify(3)` has them: one datagram each to the socket that the
//! environment names. Without a manager nothing is sent.

use super::report;
use crate::system::{NotifySocket, monotonic_micros};
use std::env;
use std::sync::Arc;
use std::time::Duration;

/// The service manager; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::serve) struct Notify {
    socket: Option<Arc<NotifySocket>>,
    /// The time within which the manager expects each message that the process lives.
    watchdog: Option<Duration>,
}

impl Notify {
    /// The manager that started this process, if one did.
    pub(super) fn of_environment() -> Self {
        let Some(place) = env::var_os("NOTIFY_SOCKET").filter(|place| !place.is_empty()) else {
            return Self::default();
        };
        match NotifySocket::connect(&place) {
            Ok(socket) => Self {
                socket: Some(Arc::new(socket)),
                watchdog: watchdog(
                    env::var("WATCHDOG_USEC").ok().as_deref(),
                    env::var("WATCHDOG_PID").ok().as_deref(),
                ),
            },
            Err(error) => {
                let place = place.display();
                report!("trunkline: warning: NOTIFY_SOCKET {place} cannot be reached: {error}");
                Self::default()
            }
        }
    }
    /// Requests are answered, for the first time. `replaces`: in place of another process, whose number the manager knows.
    pub(super) fn started(&self, replaces: bool) {
        if replaces {
            self.send(&format!("MAINPID={}", std::process::id()));
        }
        self.ready();
    }
    /// Requests are answered, or a reload is over.
    pub(in crate::serve) fn ready(&self) {
        self.send("READY=1\nSTATUS=serving");
    }
    /// Settings are being read again. `Type=notify-reload` needs the time too.
    pub(in crate::serve) fn reloading(&self) {
        let micros = monotonic_micros();
        self.send(&format!(
            "RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=reloading"
        ));
    }
    /// The end has begun.
    pub(super) fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=draining");
    }
    /// Says that the process lives, twice in each interval of the watchdog. Never ends.
    pub(super) async fn watch(&self) {
        let Some(interval) = self.watchdog else {
            return std::future::pending().await;
        };
        loop {
            self.send("WATCHDOG=1");
            tokio::time::sleep(interval / 2).await;
        }
    }
    fn send(&self, message: &str) {
        if let Some(socket) = &self.socket {
            // A manager that is gone learns nothing more from us, and the server goes on.
            let _ = socket.send(message);
        }
    }
}

/// The interval, where the watchdog is for this process.
fn watchdog(micros: Option<&str>, of: Option<&str>) -> Option<Duration> {
    let micros = micros?.parse().ok().filter(|micros| *micros > 0)?;
    let is_ours = of.is_none_or(|of| of == std::process::id().to_string());
    is_ours.then(|| Duration::from_micros(micros))
}

#[cfg(test)]
#[path = "notify_test.rs"]
mod notify_test;
