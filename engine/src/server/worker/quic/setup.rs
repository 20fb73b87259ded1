//! The settings and sockets of HTTP/3, before the workers serve on them.

use crate::driver::machine::qlog::Qlog;
use crate::driver::quic::config::cid::Steering;
use crate::driver::quic::config::quic_lb::QuicLb;
use crate::driver::quic::config::secret::Secret;
use crate::driver::quic::config::{self, QuicSettings};
use crate::driver::quic::socket::ReceivedDatagram;
use crate::error::Error;
use crate::server::worker::generations::{Generations, QUIC_WORKERS_MAX, QuicInheritance};
use crate::tls::Tls;
use quinn_proto::{EndpointConfig, ServerConfig};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use trunkline_core::limits::Config;

/// Packets that wait for their own worker; further ones are lost, as packets may be.
const PASSED_PACKETS_MAX: usize = 1024;

/// The parts of one worker's QUIC endpoint.
pub(in crate::server) struct QuicSetup {
    pub(super) socket: UdpSocket,
    pub(super) worker: u16,
    pub(super) endpoint: EndpointConfig,
    pub(super) server: Arc<ServerConfig>,
    pub(super) steering: Steering,
    /// The way to every worker, by number.
    pub(super) workers: Arc<[mpsc::Sender<ReceivedDatagram>]>,
    /// Packets passed on by other workers.
    pub(super) passed: mpsc::Receiver<ReceivedDatagram>,
    #[cfg_attr(
        not(unix),
        allow(
            dead_code,
            reason = "for processes that take over sockets, on Unix alone"
        )
    )]
    pub(super) generations: Arc<Generations>,
    /// Becomes true, or loses its sender, when the socket may be read; `None`: it may be now. See [`QuicInheritance`].
    pub(super) released: Option<watch::Receiver<bool>>,
}

/// HTTP/3 to be.
pub(in crate::server) struct Quic {
    /// The address at which it is served.
    pub(in crate::server) address: SocketAddr,
    /// One for each worker.
    pub(in crate::server) sockets: Vec<UdpSocket>,
    /// `None`: derived from the private key of the certificate, or random where that is not known.
    pub(in crate::server) secret: Option<Secret>,
    pub(in crate::server) settings: QuicSettings,
    /// From the process whose sockets these are.
    pub(in crate::server) inherited: Option<QuicInheritance>,
}

impl Quic {
    /// The endpoint settings of all workers, which share their keys: each understands the others' tokens, ids
    /// and resets.
    pub(in crate::server) fn setups(
        self,
        tls: &Tls,
        config: &Config,
        qlog: Option<&Qlog>,
    ) -> Result<Vec<QuicSetup>, Error> {
        let secret = match (self.secret, tls.seed()) {
            (Some(given), _) => given,
            (None, Some(seed)) => Secret::new(seed.bytes())?,
            (None, None) => Secret::random()?,
        };
        if self.settings.early_data && tls.seals_tickets() {
            return Err(Error::config(
                "early_data is on with ticket_keys: a server that does not remember its sessions cannot notice a \
                 replay; leave one of them out",
            ));
        }
        let tls = tls.quic_config(self.settings.early_data);
        let server = Arc::new(config::server(tls, config, &secret, &self.settings, qlog)?);
        let endpoint = EndpointConfig::new(secret.reset_key()?);
        let sockets = self.sockets;
        if sockets.len() > QUIC_WORKERS_MAX {
            return Err(Error::config(format!(
                "{} workers are too many for HTTP/3, whose connection ids name at most {QUIC_WORKERS_MAX}",
                sockets.len()
            )));
        }
        let released = self.inherited.as_ref().map(|it| it.released.clone());
        let quic_lb = self.settings.quic_lb.as_ref();
        let balanced = quic_lb.map(QuicLb::encoder).transpose()?;
        let id_bytes = Steering::id_bytes_with(balanced.as_ref());
        let generations = Arc::new(match self.inherited {
            Some(inherited) => Generations::after(inherited, id_bytes)?,
            None => Generations::first(secret.steering_key()?, id_bytes),
        });
        let steering = Steering::new(
            &generations.key,
            generations.generation,
            sockets.len(),
            balanced,
        );
        let (senders, receivers): (Vec<_>, Vec<_>) = sockets
            .iter()
            .map(|_| mpsc::channel(PASSED_PACKETS_MAX))
            .unzip();
        let workers: Arc<[_]> = senders.into();
        let setups = sockets.into_iter().zip(receivers).enumerate();
        Ok(setups
            .map(|(number, (socket, passed))| QuicSetup {
                socket,
                worker: number as u16,
                endpoint: endpoint.clone(),
                server: Arc::clone(&server),
                steering: steering.clone(),
                workers: Arc::clone(&workers),
                passed,
                generations: Arc::clone(&generations),
                released: released.clone(),
            })
            .collect())
    }
}
