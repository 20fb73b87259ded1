//! The options of QUIC.

use crate::failure::Failure;
use crate::serve::ServeOptions;
use trunkline::Server;

/// The options of QUIC are for a server that speaks it.
pub(in crate::serve) fn check_quic_options(
    options: &ServeOptions,
    has_tls: bool,
) -> Result<(), Failure> {
    let flags = [
        ("--http3", options.http3),
        ("--early-data", options.early_data),
        ("--quic-secret", options.quic_secret.is_some()),
    ];
    match flags.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) if !has_tls => Err(Failure::usage(format_args!(
            "{flag} needs TLS: add --tls-self-signed, or --tls-cert and --tls-key",
        ))),
        _ => Ok(()),
    }
}

/// The options that only QUIC has.
pub(in crate::serve) fn with_quic_options(
    mut server: Server,
    options: &ServeOptions,
) -> Result<Server, Failure> {
    server = server.early_data(options.early_data);
    if let Some(secret) = quic_secret(options)? {
        server = server.quic_secret(secret);
    }
    if let Some(quic_lb) = options.quic_lb.settings()? {
        server = server.quic_lb(quic_lb);
    }
    Ok(server)
}

pub(in crate::serve) fn quic_secret(options: &ServeOptions) -> Result<Option<Vec<u8>>, Failure> {
    let Some(path) = &options.quic_secret else {
        return Ok(None);
    };
    let shown = path.display();
    let secret = std::fs::read(path).map_err(|error| {
        Failure::usage(format_args!(
            "--quic-secret {shown} cannot be read: {error}"
        ))
    })?;
    match secret.len() {
        0..32 => Err(Failure::usage(format_args!(
            "--quic-secret {shown} has {} bytes; it must have 32 or more",
            secret.len()
        ))),
        _ => Ok(Some(secret)),
    }
}
