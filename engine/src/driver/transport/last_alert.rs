//! Sends a fatal alert on a session whose handshake TLS accepted and whose client the server then
//! refuses. rustls has no call for it, so the record is sealed here with the session's keys.

use rustls::crypto::cipher::{MessageEncrypter, OutboundPlainMessage};
use rustls::{
    AlertDescription, Connection, ConnectionTrafficSecrets, ContentType, ProtocolVersion,
    SupportedCipherSuite,
};

/// The fixed part of a nonce of AES-GCM in TLS 1.2 (RFC 5288 section 3).
const GCM_SALT_BYTES: usize = 4;
/// RFC 8446 section 6.
const FATAL: u8 = 2;

/// The record, which must follow all that `connection` has written; `None`: its keys cannot be read
/// ([`rustls::ServerConfig::enable_secret_extraction`]).
pub(in crate::driver) fn last_alert(
    connection: Connection,
    alert: AlertDescription,
) -> Option<Vec<u8>> {
    let suite = connection.negotiated_cipher_suite()?;
    let (sequence, secrets) = connection.dangerous_extract_secrets().ok()?.tx;
    let mut sealer = sealer(suite, secrets)?;
    let payload = [FATAL, alert.into()];
    let message = OutboundPlainMessage {
        typ: ContentType::Alert,
        version: ProtocolVersion::TLSv1_2,
        payload: (&payload[..]).into(),
    };
    let record = sealer.encrypt(message, sequence).ok()?;
    Some(record.encode())
}

fn sealer(
    suite: SupportedCipherSuite,
    secrets: ConnectionTrafficSecrets,
) -> Option<Box<dyn MessageEncrypter>> {
    let (key, iv, is_gcm) = match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv }
        | ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (key, iv, true),
        ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (key, iv, false),
        _ => return None,
    };
    Some(match suite {
        SupportedCipherSuite::Tls13(suite) => suite.aead_alg.encrypter(key, iv),
        SupportedCipherSuite::Tls12(suite) if is_gcm => {
            let (salt, explicit) = iv.as_ref().split_at(GCM_SALT_BYTES);
            suite.aead_alg.encrypter(key, salt, explicit)
        }
        SupportedCipherSuite::Tls12(suite) => suite.aead_alg.encrypter(key, iv.as_ref(), &[]),
    })
}

#[cfg(test)]
#[path = "last_alert_test.rs"]
mod last_alert_test;
