use super::*;
use http::HeaderValue;

const TEXT: &[u8] = b"many requests, few connections, no stalls; many requests, few connections";
const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

fn coded(coding: &str, text: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(text).expect("to memory");
            writer.finish().expect("to memory")
        }
        "deflate" => {
            let mut writer =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
            writer.write_all(text).expect("to memory");
            writer.finish().expect("to memory")
        }
        "br" => {
            let mut out = Vec::new();
            brotli::CompressorWriter::new(&mut out, 4096, 5, 20)
                .write_all(text)
                .expect("to memory");
            out
        }
        "zstd" => zstd::encode_all(text, 3).expect("to memory"),
        _ => text.to_vec(),
    }
}

fn decoder<W: Write>(coding: &str, out: W) -> Decoder<W> {
    let mut fields = HeaderMap::new();
    let value = HeaderValue::from_str(coding).expect("a value");
    fields.insert(CONTENT_ENCODING, value);
    Decoder::of(&fields, out).expect("a known coding")
}

fn decoded(coding: &str, pieces: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut decoder = decoder(coding, Vec::new());
    for piece in pieces {
        decoder.decode(piece)?;
    }
    decoder.finish()?;
    Ok(std::mem::take(decoder.out()))
}

#[test]
fn every_coding_decodes_however_the_body_is_cut() {
    for coding in CODINGS.into_iter().chain(["identity"]) {
        let body = coded(coding, TEXT);
        for cut in 0..=body.len() {
            let text = decoded(coding, &[&body[..cut], &body[cut..]]);
            assert_eq!(text.expect("valid"), TEXT, "{coding} cut at {cut}");
        }
    }
}

#[test]
fn a_body_of_several_members_is_their_texts_one_after_the_other() {
    for coding in ["gzip", "zstd"] {
        let body = coded(coding, TEXT);
        let text = decoded(coding, &[&[&body[..], &body].concat()]);
        assert_eq!(text.expect("valid"), [TEXT, TEXT].concat(), "{coding}");
    }
}

#[test]
fn a_body_that_is_cut_off_anywhere_fails() {
    for coding in CODINGS {
        let body = coded(coding, TEXT);
        for length in 1..body.len() {
            let cut = decoded(coding, &[&body[..length]]);
            assert!(cut.is_err(), "{coding} {length} of {}", body.len());
        }
    }
}

/// The body of an answer to HEAD, of a 204, of a 304 and of one of length 0.
#[test]
fn a_body_of_nothing_is_whole_in_every_coding() {
    for coding in CODINGS.into_iter().chain(["identity"]) {
        assert_eq!(decoded(coding, &[]).expect("whole"), b"", "{coding}");
        assert_eq!(decoded(coding, &[b""]).expect("whole"), b"", "{coding}");
    }
}

#[test]
fn a_body_that_is_not_of_its_coding_fails() {
    for coding in CODINGS {
        assert!(decoded(coding, &[&[0xff; 64]]).is_err(), "{coding}");
    }
}

/// Counts what it is given, and how much at most at once.
#[derive(Default)]
struct Counting {
    bytes: usize,
    at_once: usize,
}

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        self.at_once = self.at_once.max(bytes.len());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A small body may stand for gigabytes (CWE-409): its text is never in memory as a whole.
#[test]
fn a_body_that_grows_a_thousand_times_is_written_in_steps() {
    const TEXT_BYTES: usize = 64 * 1024 * 1024;
    const AT_ONCE_MAX: usize = 32 * 1024;
    let text = vec![0; TEXT_BYTES];
    for coding in CODINGS {
        let body = coded(coding, &text);
        assert!(body.len() < TEXT_BYTES / 500, "{coding} {}", body.len());
        let mut decoder = decoder(coding, Counting::default());
        decoder.decode(&body).expect("valid");
        decoder.finish().expect("whole");
        let Counting { bytes, at_once } = *decoder.out();
        assert_eq!(bytes, TEXT_BYTES, "{coding}");
        assert!(at_once <= AT_ONCE_MAX, "{coding}: {at_once} at once");
    }
}

/// RFC 9659 section 3: no more than 8 MiB in a content coding.
#[test]
fn a_zstd_frame_that_asks_for_a_larger_window_than_8_mib_is_refused() {
    for (window_log, is_taken) in [(23, true), (24, false), (27, false)] {
        let mut writer = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("to memory");
        writer.window_log(window_log).expect("a parameter");
        writer.include_contentsize(false).expect("a parameter");
        for _ in 0..17 {
            writer.write_all(&vec![7; 1024 * 1024]).expect("to memory");
        }
        let body = writer.finish().expect("to memory");
        let taken = decoded("zstd", &[&body]).is_ok();
        assert_eq!(taken, is_taken, "{window_log}");
    }
}

#[test]
fn a_coding_that_was_not_asked_for_is_refused_by_name() {
    let mut fields = HeaderMap::new();
    fields.insert(CONTENT_ENCODING, HeaderValue::from_static("compress"));
    let refusal = Decoder::of(&fields, Vec::new());
    let refusal = refusal.err().expect("refused").to_string();
    assert!(refusal.contains("compress"), "{refusal}");
}
