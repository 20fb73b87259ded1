use super::*;
use http::HeaderValue;

const TEXT: &[u8] = b"many requests, few connections, no stalls; many requests, few connections";

fn coded(coding: &str) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(TEXT).expect("to memory");
            writer.finish().expect("to memory")
        }
        "deflate" => {
            let mut writer =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(TEXT).expect("to memory");
            writer.finish().expect("to memory")
        }
        "br" => {
            let mut out = Vec::new();
            brotli::CompressorWriter::new(&mut out, 4096, 5, 20)
                .write_all(TEXT)
                .expect("to memory");
            out
        }
        "zstd" => zstd::encode_all(TEXT, 3).expect("to memory"),
        _ => TEXT.to_vec(),
    }
}

fn decoder(coding: &str) -> Decoder {
    let mut fields = HeaderMap::new();
    fields.insert(
        CONTENT_ENCODING,
        HeaderValue::from_str(coding).expect("a value"),
    );
    Decoder::of(&fields).expect("a known coding")
}

#[test]
fn every_coding_decodes_however_the_body_is_cut() {
    for coding in ["gzip", "deflate", "br", "zstd", "identity"] {
        let body = coded(coding);
        for cut in 0..=body.len() {
            let mut decoder = decoder(coding);
            let mut out = Vec::new();
            for piece in [&body[..cut], &body[cut..]] {
                out.extend_from_slice(
                    &decoder
                        .decode(&Bytes::copy_from_slice(piece))
                        .expect("valid"),
                );
            }
            out.extend_from_slice(&decoder.finish().expect("complete"));
            assert_eq!(out, TEXT, "{coding} cut at {cut}");
        }
    }
}

#[test]
fn a_body_that_is_not_of_its_coding_fails() {
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let mut decoder = decoder(coding);
        let junk = Bytes::from_static(&[0xff; 64]);
        let failed = decoder.decode(&junk).is_err() || decoder.finish().is_err();
        assert!(failed, "{coding}");
    }
}

#[test]
fn a_coding_that_was_not_asked_for_is_refused_by_name() {
    let mut fields = HeaderMap::new();
    fields.insert(CONTENT_ENCODING, HeaderValue::from_static("compress"));
    let refusal = Decoder::of(&fields).err().expect("refused").to_string();
    assert!(refusal.contains("compress"), "{refusal}");
}
