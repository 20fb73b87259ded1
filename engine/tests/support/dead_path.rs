//! A path over TCP that can die: every packet of its connections is dropped from one moment on,
//! without an end or a reset, as when a host or a link is gone. The system does so where a socket has
//! a filter that takes nothing.
#![allow(clippy::unwrap_used, reason = "a path that fails fails its test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex};

/// A running relay; its threads end with the process.
pub(crate) struct TcpPath {
    port: u16,
    /// The ends that clients have reached. They stay open: a closed socket would say so.
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl TcpPath {
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let open = Arc::new(Mutex::new(Vec::new()));
        let ends = Arc::clone(&open);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).unwrap();
                ends.lock().unwrap().push(client.try_clone().unwrap());
                let (client_too, server_too) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || carry(client, server));
                std::thread::spawn(move || carry(server_too, client_too));
            }
        });
        Self { port: own, open }
    }
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
    /// Drops whatever comes from clients on the connections that there are.
    pub(crate) fn kill_all(&self) {
        for end in self.open.lock().unwrap().iter() {
            drop_everything(end.as_raw_fd());
        }
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

fn drop_everything(socket: RawFd) {
    // BPF_RET of no bytes (linux/filter.h): nothing of any packet is taken.
    let mut nothing = libc::sock_filter {
        code: 0x06,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let filter = libc::sock_fprog {
        len: 1,
        filter: &raw mut nothing,
    };
    // SAFETY: the system copies the filter of one instruction before the call returns.
    let done = unsafe {
        libc::setsockopt(
            socket,
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const filter).cast(),
            size_of::<libc::sock_fprog>() as libc::socklen_t,
        )
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}
