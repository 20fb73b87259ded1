//! A cleartext port that forwards each connection over TLS with ALPN h2, through
//! `openssl s_client`, for suites that do not speak TLS.

use crate::tools;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// Opens the port; it lives as long as this process.
pub(super) fn start(server: SocketAddr) -> Result<SocketAddr, String> {
    let openssl = tools::OPENSSL.ensure()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|why| format!("cannot listen on 127.0.0.1: {why}"))?;
    let address = listener
        .local_addr()
        .map_err(|why| format!("no address: {why}"))?;
    thread::spawn(move || accept(&listener, &openssl, server));
    Ok(address)
}

fn accept(listener: &TcpListener, openssl: &Path, server: SocketAddr) {
    for client in listener.incoming().flatten() {
        let openssl: PathBuf = openssl.to_owned();
        thread::spawn(move || {
            if let Err(why) = forward(client, &openssl, server) {
                eprintln!("the TLS pipe failed: {why}");
            }
        });
    }
}

fn forward(client: TcpStream, openssl: &Path, server: SocketAddr) -> std::io::Result<()> {
    let mut process = Command::new(openssl)
        .args(["s_client", "-quiet", "-alpn", "h2", "-connect"])
        .arg(server.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (Some(to_server), Some(from_server)) = (process.stdin.take(), process.stdout.take()) else {
        return end(process);
    };
    client.set_nodelay(true)?;
    let from_client = client.try_clone()?;
    let upward = thread::spawn(move || copy(from_client, to_server));
    copy(from_server, &client);
    // The server is done: the client must see the end.
    let _ = client.shutdown(Shutdown::Both);
    let _ = upward.join();
    end(process)
}

/// Copies until either side ends; each piece goes out at once.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(len) = from.read(&mut buffer) {
        if len == 0
            || to
                .write_all(&buffer[..len])
                .and_then(|()| to.flush())
                .is_err()
        {
            return;
        }
    }
}

fn end(mut process: Child) -> std::io::Result<()> {
    // It ends by itself when either side does.
    let _ = process.kill();
    process.wait().map(|_| ())
}
