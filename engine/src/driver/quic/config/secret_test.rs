use super::{SECRET_BYTES_MIN, Secret};

fn secret(byte: u8) -> Secret {
    Secret::new(&[byte; SECRET_BYTES_MIN]).unwrap()
}

#[test]
fn the_same_secret_gives_the_same_keys_and_another_gives_others() {
    let key = |byte| secret(byte).steering_key().unwrap();
    assert_eq!(key(1), key(1));
    assert_ne!(key(1), key(2));
    let sign = |byte| {
        let mut signed = [0; 32];
        secret(byte)
            .reset_key()
            .unwrap()
            .sign(b"an id", &mut signed);
        signed
    };
    assert_eq!(sign(1), sign(1));
    assert_ne!(sign(1), sign(2));
    assert_ne!(sign(1), key(1), "each purpose has a key of its own");
}

#[test]
fn a_short_secret_is_refused_with_what_is_allowed() {
    let error = Secret::new(&[1; 31]).unwrap_err().to_string();
    assert!(error.contains("31") && error.contains("32"), "{error}");
}

#[test]
fn a_secret_does_not_show_itself() {
    assert_eq!(format!("{:?}", secret(7)), "Secret");
}
