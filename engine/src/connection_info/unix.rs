//! The process at the other end of a Unix socket.

use tokio::net::unix::UCred;

/// The process that connected to a Unix socket, as the system knew it then. A service that is made for each
/// connection gets it from [`serve`](crate::serve) on a Unix socket: axum's `ConnectInfo` of a type that is
/// `Connected<UnixPeer>`.
///
/// ```no_run
/// use axum::Router;
/// use axum::extract::connect_info::{ConnectInfo, Connected};
/// use axum::routing::get;
/// use trunkline::server::UnixPeer;
///
/// #[derive(Clone)]
/// struct User(u32);
///
/// impl Connected<UnixPeer> for User {
///     fn connect_info(peer: UnixPeer) -> Self {
///         Self(peer.uid())
///     }
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let user = get(async |ConnectInfo(user): ConnectInfo<User>| user.0.to_string());
/// let router = Router::new().route("/", user);
/// let listener = tokio::net::UnixListener::bind("/run/app.sock")?;
/// trunkline::serve(listener, router.into_make_service_with_connect_info::<User>()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnixPeer {
    uid: u32,
    gid: u32,
    pid: Option<i32>,
}

impl UnixPeer {
    pub(crate) fn new(credentials: UCred) -> Self {
        Self {
            uid: credentials.uid(),
            gid: credentials.gid(),
            pid: credentials.pid(),
        }
    }
    /// The number of its user.
    pub fn uid(&self) -> u32 {
        self.uid
    }
    /// The number of its group.
    pub fn gid(&self) -> u32 {
        self.gid
    }
    /// The number of the process; `None`: the system does not say it. Another process may have the number by
    /// now.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }
}
