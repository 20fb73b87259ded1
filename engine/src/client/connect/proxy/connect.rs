//! The way through an HTTP proxy: the core's machine asks for the tunnel and reads the answer
//! (`trunkline_core::proxy::Connect`), and this part moves its bytes and words its refusals.

use super::Proxy;
use crate::error::{Error, Fault, ProxyRefusal, Retry};
use bytes::Bytes;
use std::io;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use trunkline_core::h1::ProxyField;
use trunkline_core::proxy::{Connect, ConnectRefusal};

/// Asks the proxy at the other end of `socket` for a tunnel to `authority`. Returns the bytes of
/// the origin that came with the answer.
pub(in crate::client) async fn open_tunnel(
    socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
    proxy: &Proxy,
    authority: &str,
    authorization: Option<&[u8]>,
    fields: &[ProxyField],
) -> Result<Bytes, Error> {
    let lost = |error: io::Error| {
        let text = format!("was lost while it was asked for a tunnel to {authority}");
        proxy
            .error(Fault::Network, Retry::Safe, &text)
            .with_source(error)
    };
    let refused = |refusal| refusal_error(proxy, authority, authorization.is_some(), refusal);
    let now = Instant::now();
    let mut connect = Connect::new(now, authority, authorization, fields).ok_or_else(|| {
        let text = format!("cannot be asked for a tunnel to {authority}: a host and port cannot be written like this");
        proxy.error(Fault::Config, Retry::Never, &text)
    })?;
    socket
        .write_all(&connect.poll_write(now))
        .await
        .map_err(lost)?;
    socket.flush().await.map_err(lost)?;
    let mut buffer = [0; 4096];
    loop {
        let read = socket.read(&mut buffer).await.map_err(lost)?;
        let now = Instant::now();
        let outcome = match read {
            0 => Some(connect.handle_close(now)),
            _ => connect.handle_bytes(now, &buffer[..read]),
        };
        if let Some(outcome) = outcome {
            return outcome.map_err(refused);
        }
    }
}

fn refusal_error(
    proxy: &Proxy,
    authority: &str,
    gave_credentials: bool,
    refusal: ConnectRefusal,
) -> Error {
    match refusal {
        // 401 is an origin's (RFC 9110 section 15.5.2); some proxies use it for a wrong password.
        ConnectRefusal::Status {
            status: status @ (401 | 407),
            challenge,
        } => {
            let wants = challenge.map_or(String::new(), |text| format!(" ({text})"));
            let text = match gave_credentials {
                true => format!(
                    "refused a tunnel to {authority} with status {status}: it does not accept the \
                     credentials it was given{wants}"
                ),
                false => format!(
                    "refused a tunnel to {authority} with status {status}: it wants \
                     credentials{wants}; give them in its URL or as proxy_authorization"
                ),
            };
            proxy
                .error(Fault::Config, Retry::Never, &text)
                .with_proxy_refusal(ProxyRefusal::Status(status))
        }
        ConnectRefusal::Status { status, .. } => {
            let text = format!("refused a tunnel to {authority} with status {status}");
            // 5xx: it could not reach the origin now; 4xx: it will not.
            let retry = if status >= 500 {
                Retry::Safe
            } else {
                Retry::Never
            };
            proxy
                .error(Fault::Network, retry, &text)
                .with_proxy_refusal(ProxyRefusal::Status(status))
        }
        ConnectRefusal::Garbled(violation) => {
            let text = format!(
                "does not answer in HTTP/1.1 when asked for a tunnel to {authority}: {violation}"
            );
            proxy.error(Fault::Network, Retry::Never, &text)
        }
        ConnectRefusal::Closed => {
            let text = format!("closed the connection instead of opening a tunnel to {authority}");
            proxy.error(Fault::Network, Retry::Safe, &text)
        }
    }
}
