//! SIGHUP, and changes of certificate files and where that is wished of the configuration file: certificates, session ticket keys and the configuration file are read again.
//! A file that cannot be used changes nothing.

use super::Settled;
use super::tls::{self, ServedTls};
use crate::failure::Failure;
use crate::serve::operate::NewSettings;
use crate::serve::operate::access_log::AccessLog;
use crate::serve::operate::notify::Notify;
use crate::serve::{config, refused, report};
use crate::system::{CaughtSignal, ProcessSignal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::UnboundedSender;
use trunkline::server::ConfigHandle;

/// The time between two looks at the files of certificates and tickets: a metadata call for each.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// A server's settings that can change while it serves.
pub(in crate::serve) struct Renewal {
    /// `None`: there are no files to read again, and SIGHUP ends the process as ever.
    hangup: Option<CaughtSignal>,
    started: Settled,
    /// The settings of the file when it was last read; `None`: it was read at the start alone.
    latest: Option<Settled>,
    tls: Option<ServedTls>,
    log: Option<Arc<AccessLog>>,
    /// Those that are looked at, and how they were.
    files: Vec<(PathBuf, State)>,
    /// The configuration file before it was read.
    settings: State,
    /// As it was at the last look, where it was another then.
    changed: Option<State>,
    /// Receives the options when they have changed.
    renewed: UnboundedSender<NewSettings>,
}

/// A file's length and the time of its last change; `None`: it is not there.
type State = Option<(u64, Option<SystemTime>)>;

impl Renewal {
    /// Registers the signal: no SIGHUP that comes from now on ends the process.
    pub(in crate::serve) fn new(
        started: Settled,
        tls: Option<ServedTls>,
        log: Option<Arc<AccessLog>>,
        renewed: UnboundedSender<NewSettings>,
    ) -> Result<Self, Failure> {
        let files = look(&started);
        let settings = look_at_settings(&started);
        let is_needed = !files.is_empty() || started.file.is_some();
        let hangup = is_needed
            .then(|| CaughtSignal::new(ProcessSignal::Hangup))
            .transpose()?;
        Ok(Self {
            hangup,
            started,
            latest: None,
            tls,
            log,
            files,
            settings,
            changed: None,
            renewed,
        })
    }
    /// The settings at the start.
    pub(in crate::serve) fn started(&self) -> &Settled {
        &self.started
    }
    /// The certificates that are shown; `None`: cleartext.
    pub(in crate::serve) fn tls(&self) -> Option<&ServedTls> {
        self.tls.as_ref()
    }
    /// Whether SIGHUP reads the file again.
    pub(in crate::serve) fn renews(&self) -> bool {
        self.hangup.is_some()
    }
    /// Gives new settings to `running`. Never ends.
    pub(in crate::serve) async fn run(mut self, notify: Notify, running: ConfigHandle) {
        let Some(mut hangup) = self.hangup.take() else {
            return std::future::pending().await;
        };
        loop {
            let is_hangup = tokio::select! {
                signal = hangup.recv() => signal.is_some(),
                () = tokio::time::sleep(LOOK_INTERVAL), if self.looks() => false,
            };
            if is_hangup || self.has_new_settings() {
                notify.reloading();
                self.read_again(&running);
                notify.ready();
            } else if look(self.latest()) != self.files {
                self.files = look(self.latest());
                report_certificates(self.renew_certificates(self.latest()));
            }
        }
    }

    fn looks(&self) -> bool {
        !self.files.is_empty() || self.latest().options.reload_on_change
    }
    /// Whether the configuration file has changed and is at two looks the same: an editor may write it in pieces.
    fn has_new_settings(&mut self) -> bool {
        if !self.latest().options.reload_on_change {
            return false;
        }
        let now = look_at_settings(self.latest());
        let before = self.changed.take();
        if now == self.settings {
            return false;
        }
        if before.as_ref() == Some(&now) {
            return true;
        }
        self.changed = Some(now);
        false
    }
    fn latest(&self) -> &Settled {
        self.latest.as_ref().unwrap_or(&self.started)
    }

    /// All of it.
    fn read_again(&mut self, running: &ConfigHandle) {
        // As it is before it is read: a change after it is found by the next look.
        self.settings = look_at_settings(self.latest());
        self.changed = None;
        let new = match self.started.again() {
            Ok(new) => new,
            Err(why) => {
                report!("trunkline: the settings stay as they were:\n{why}");
                return;
            }
        };
        // As they are before they are read: a change after it is found by the next look.
        let files = look(&new);
        let renewed = self.renew_certificates(&new);
        let is_renewed = renewed.is_ok();
        report_certificates(renewed);
        if !is_renewed {
            return;
        }
        self.files = files;
        if let Some(file) = &new.file {
            let shown = file.path().display();
            match running.configure(&config(&new.options)) {
                Ok(()) => {
                    report!("trunkline: {shown} was read again");
                    // Without a receiver the server ends.
                    let renewed = (new.options.clone(), config(&new.options));
                    let _ = self.renewed.send(renewed);
                }
                Err(error) => {
                    let why = new.located(refused(error));
                    report!("trunkline: the limits and timeouts stay as they were: {why}");
                }
            }
            let restarts = self.started.restarts(&new);
            if !restarts.is_empty() {
                let restarts = restarts.join(", ");
                report!("trunkline: these have changed and count after a restart: {restarts}");
            }
            // The level that the admin page has chosen since stays, where the file says what it said.
            let level = new.options.operate.access_log_level;
            if let Some(log) = &self.log
                && level != self.latest().options.operate.access_log_level
            {
                log.set_level(level);
            }
            if let Some(Err(error)) = self.log.as_deref().map(AccessLog::reopen) {
                report!("trunkline: the access log stays in the file it had: {error}");
            }
        }
        self.latest = Some(new);
    }

    fn renew_certificates(&self, settled: &Settled) -> Result<bool, Failure> {
        let Some(tls) = &self.tls else {
            return Ok(false);
        };
        let renewed = tls.renew(&settled.options);
        renewed.map_err(|why| settled.located(why)).map(|()| true)
    }
}

fn report_certificates(renewed: Result<bool, Failure>) {
    match renewed {
        Ok(true) => report!("trunkline: certificates and ticket keys were read again"),
        Ok(false) => {}
        Err(why) => report!("trunkline: the certificate stays as it was: {why}"),
    }
}

fn look(settled: &Settled) -> Vec<(PathBuf, State)> {
    let files = tls::files(&settled.options).into_iter();
    files.map(|path| (path.clone(), state(&path))).collect()
}

/// `None` too where there is no such file among the options.
fn look_at_settings(settled: &Settled) -> State {
    state(settled.file.as_ref()?.path())
}

fn state(path: &Path) -> State {
    let found = std::fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()))
}
