//! A long, slow or lossy network on this machine: two network namespaces joined through two TUN
//! devices by a relay that holds every packet for as long as the path would.
//!
//! It works on IP packets, so TCP, UDP and everything on top see a real path: the kernel's own
//! round-trip times, congestion control and losses. It needs root, `/dev/net/tun` and `ip` (Debian
//! package `iproute2`). No kernel module is needed (netem is missing from many kernels).
//!
//! Dropping the [`Lab`] removes both namespaces and all that is in them. A lab whose process was
//! killed is removed by the next one that is built.

mod namespace;
mod path;
mod relay;
mod tun;

pub use path::{PathSettings, Totals};

use namespace::Namespace;
use path::Path;
use relay::Relay;
use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use tun::{Offload, Tun};

/// Where the client lives.
pub const CLIENT_IP: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
/// Where the server lives.
pub const SERVER_IP: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));
/// Both sides again, for IPv6.
const CLIENT_IP6: &str = "fd77::1";
const SERVER_IP6: &str = "fd77::2";
/// Smallest packet that every path must carry (RFC 8200 section 5), and the largest of IPv4.
const MTU_RANGE: std::ops::RangeInclusive<u32> = 1280..=65_535;

/// A side of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The namespace of [`CLIENT_IP`].
    Client,
    /// The namespace of [`SERVER_IP`].
    Server,
}

/// The parameters of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The path, alike in both directions.
    pub path: PathSettings,
    /// Bytes of the largest packet, 1,280 to 65,535. Default 1,500.
    pub mtu: u32,
    /// Largest socket buffer that TCP's tuning may reach, in bytes. Default 64 MiB: the usual
    /// 4 MiB would hold a path of 100 ms to 40 MB/s.
    pub socket_buffer_max: u32,
    /// TCP's congestion control (`cubic`, `bbr`, ...). Default: the machine's.
    pub congestion: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            path: PathSettings::default(),
            mtu: 1500,
            socket_buffer_max: 64 << 20,
            congestion: None,
        }
    }
}

/// Why no lab can be built here, in one sentence; `None` when one can.
pub fn unavailable() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("netlab needs root: it creates network namespaces".to_owned());
    }
    if !std::path::Path::new("/dev/net/tun").exists() {
        return Some("netlab needs /dev/net/tun, which this machine does not have".to_owned());
    }
    let ip = Command::new("ip").arg("-V").output();
    if !ip.is_ok_and(|output| output.status.success()) {
        return Some("netlab needs `ip` (Debian package iproute2)".to_owned());
    }
    None
}

/// A network that exists until it is dropped.
#[derive(Debug)]
pub struct Lab {
    // Dropped first: the devices go with their files, before the namespaces.
    relay: Relay,
    client: Namespace,
    server: Namespace,
}

impl Lab {
    /// Builds the namespaces, the devices and the relay.
    ///
    /// # Errors
    /// One sentence: what the machine lacks, which setting is out of range, or what `ip` said.
    pub fn build(settings: &Settings) -> Result<Self, String> {
        static BUILT: AtomicU32 = AtomicU32::new(0);
        settings.path.check()?;
        if !MTU_RANGE.contains(&settings.mtu) {
            return Err(format!(
                "mtu is {}; it must be from {} to {}",
                settings.mtu,
                MTU_RANGE.start(),
                MTU_RANGE.end()
            ));
        }
        if let Some(sentence) = unavailable() {
            return Err(sentence);
        }
        namespace::sweep()?;
        let number = BUILT.fetch_add(1, Ordering::Relaxed);
        // Packets of 64 KiB cost the relay a fortieth, but would be lost and overtaken whole.
        let offload = match settings.path.is_orderly() {
            true => Offload::Segments,
            false => Offload::None,
        };
        let (client, at_client) = end(number, Side::Client, settings, offload)?;
        let (server, at_server) = end(number, Side::Server, settings, offload)?;
        let seed = settings.path.seed;
        let relay = Relay::start(
            [at_client, at_server],
            [
                Path::new(settings.path.clone(), seed),
                Path::new(settings.path.clone(), seed.wrapping_add(1)),
            ],
        )?;
        Ok(Self {
            relay,
            client,
            server,
        })
    }

    /// The name of a side's namespace, as `ip netns exec` takes it.
    pub fn namespace(&self, side: Side) -> &str {
        match side {
            Side::Client => self.client.name(),
            Side::Server => self.server.name(),
        }
    }

    /// A command that will run on one side; its process id is the program's own.
    pub fn command(&self, side: Side, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.namespace(side), program]);
        command
    }

    /// Runs `work` on a thread whose sockets are opened on one side.
    ///
    /// # Errors
    /// The namespace could not be entered, or `work` panicked.
    pub fn inside<T: Send>(
        &self,
        side: Side,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, String> {
        match side {
            Side::Client => self.client.inside(work),
            Side::Server => self.server.inside(work),
        }
    }

    /// The path's packet counts so far, from the client and from the server.
    pub fn totals(&self) -> [Totals; 2] {
        self.relay.totals()
    }

    /// The variables that a command in the lab finds: names of namespaces and addresses.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("NETLAB_CLIENT_NS", self.client.name().to_owned()),
            ("NETLAB_SERVER_NS", self.server.name().to_owned()),
            ("NETLAB_CLIENT_IP", CLIENT_IP.to_string()),
            ("NETLAB_SERVER_IP", SERVER_IP.to_string()),
            ("NETLAB_CLIENT_IP6", CLIENT_IP6.to_owned()),
            ("NETLAB_SERVER_IP6", SERVER_IP6.to_owned()),
        ]
    }
}

/// One side: its namespace and the device in it.
fn end(
    number: u32,
    side: Side,
    settings: &Settings,
    offload: Offload,
) -> Result<(Namespace, Tun), String> {
    let (letter, here, there, here6, there6) = match side {
        Side::Client => ("client", CLIENT_IP, SERVER_IP, CLIENT_IP6, SERVER_IP6),
        Side::Server => ("server", SERVER_IP, CLIENT_IP, SERVER_IP6, CLIENT_IP6),
    };
    let namespace = Namespace::create(number, letter)?;
    let tun = namespace.inside(|| Tun::open(DEVICE, offload))??;
    namespace.inside(|| tune(settings))??;
    let mtu = settings.mtu.to_string();
    let (here, there) = (here.to_string(), there.to_string());
    namespace.ip(&["link", "set", "lo", "up"])?;
    // The queue ahead of the relay is long; the one that counts is the path's own.
    namespace.ip(&[
        "link",
        "set",
        DEVICE,
        "mtu",
        &mtu,
        "txqueuelen",
        "20000",
        "up",
    ])?;
    namespace.ip(&["addr", "add", &here, "peer", &there, "dev", DEVICE])?;
    namespace.ip(&[
        "-6", "addr", "add", here6, "peer", there6, "dev", DEVICE, "nodad",
    ])?;
    if let Some(congestion) = &settings.congestion {
        // By the route: as a namespace's default the kernel takes only those that the machine's
        // `tcp_allowed_congestion_control` names.
        let chosen = ["dev", DEVICE, "congctl", congestion];
        namespace.ip(&[&["route", "replace", &there, "src", &here], &chosen[..]].concat())?;
        namespace.ip(&[&["-6", "route", "replace", there6], &chosen[..]].concat())?;
    }
    Ok((namespace, tun))
}

/// TCP's settings inside the namespace that this thread has joined.
fn tune(settings: &Settings) -> Result<(), String> {
    let max = settings.socket_buffer_max;
    let values = [
        ("tcp_rmem", format!("4096 131072 {max}")),
        ("tcp_wmem", format!("4096 65536 {max}")),
        // A lab measures the path, not what the kernel remembers of the transfer before.
        ("tcp_no_metrics_save", "1".to_owned()),
    ];
    for (name, value) in values {
        let path = format!("/proc/sys/net/ipv4/{name}");
        std::fs::write(&path, &value)
            .map_err(|error| format!("cannot set {path} to `{value}`: {error}"))?;
    }
    Ok(())
}

/// The device's name on both sides.
const DEVICE: &str = "path0";
