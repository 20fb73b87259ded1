//! Settings of a running server that can change without its connections.

use crate::config::ServerConfig;
use crate::error::Error;
use crate::server::bind::running::Running;
use crate::server::worker::WorkerCommand;
use std::sync::Arc;
use tokio::sync::mpsc::WeakUnboundedSender;

/// Gives a running server other settings. It keeps no server running: once that has ended it changes nothing.
#[derive(Clone, Debug)]
pub struct ConfigHandle {
    workers: Vec<WeakUnboundedSender<WorkerCommand>>,
}

impl<A> Running<A> {
    /// The way to give it other settings while it serves.
    pub fn config_handle(&self) -> ConfigHandle {
        let commands = self.workers.iter().filter_map(|it| it.commands.as_ref());
        ConfigHandle {
            workers: commands.map(|commands| commands.downgrade()).collect(),
        }
    }
}

impl ConfigHandle {
    /// Connections over TCP and Unix sockets that are accepted from now on have these limits, timeouts, windows and
    /// settings of HTTP; open ones keep theirs. The other members of `config`, and HTTP/3, stay as they are.
    ///
    /// # Errors
    /// When a setting is out of its range: nothing has changed then.
    pub fn configure(&self, config: &ServerConfig) -> Result<(), Error> {
        let (http1, others) = config.freeze_both()?;
        for commands in self.workers.iter().filter_map(WeakUnboundedSender::upgrade) {
            // A worker that has ended accepts no connection.
            let _ = commands.send(WorkerCommand::Configure {
                http1: Arc::clone(&http1),
                others: Arc::clone(&others),
            });
        }
        Ok(())
    }
}
