//! The file of -T as a body, whole or from an offset on (-C).

use crate::failure::Failure;
use crate::get::exit;
use crate::get::output::resume::Offset;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE};
use http::{HeaderValue, Request};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use trunkline::Body;

/// A file to be sent.
#[derive(Clone)]
pub(super) struct Upload {
    pub(super) path: PathBuf,
    /// -C: the first byte that is sent; the end of what the server has is not known here, so that `-` is the beginning, as with
    /// curl.
    pub(super) from: Option<Offset>,
}

impl Upload {
    /// A request with it as it is read, which says its part of the file, unless another field does (RFC 9110 section 14.5).
    pub(super) async fn request(&self, is_range_given: bool) -> Result<Request<Body>, Failure> {
        let unread = |error: &dyn std::fmt::Display| exit::unread(self.path.display(), error);
        let from = match self.from {
            None | Some(Offset::At(0)) => return Ok(Request::new(self.whole().await?)),
            Some(Offset::End) => 0,
            Some(Offset::At(from)) => from,
        };
        if is_input(&self.path) {
            return Err(Failure::usage(
                "-C goes on with a file: the length of standard input is not known",
            ));
        }
        // A folder and the like are refused as without -C.
        let whole = self.whole().await?;
        let mut file = std::fs::File::open(&self.path).map_err(|error| unread(&error))?;
        let length = file.metadata().map_err(|error| unread(&error))?.len();
        if from >= length && from > 0 {
            let text = format!(
                "{} has {length} bytes, none behind {from}: all of it was sent",
                self.path.display()
            );
            return Err(Failure::new(exit::CUT, text));
        }
        let mut request = match from {
            0 => Request::new(whole),
            _ => {
                file.seek(SeekFrom::Start(from))
                    .map_err(|error| unread(&error))?;
                let mut request = Request::new(Body::from(file));
                let left = HeaderValue::from(length - from);
                request.headers_mut().insert(CONTENT_LENGTH, left);
                request
            }
        };
        if !is_range_given && length > 0 {
            let range = format!("bytes {from}-{}/{length}", length - 1);
            let range = HeaderValue::try_from(range).expect("digits");
            request.headers_mut().insert(CONTENT_RANGE, range);
        }
        Ok(request)
    }

    async fn whole(&self) -> Result<Body, Failure> {
        // Standard input is a file too, whose length is not known where it is a pipe.
        let opened = match is_input(&self.path) {
            true => Body::from_file("/dev/stdin").await,
            false => Body::from_file(&self.path).await,
        };
        opened.map_err(|error| exit::unread(self.path.display(), &format_args!("{error:#}")))
    }
}

/// Whether the file of -T is standard input.
pub(super) fn is_input(path: &Path) -> bool {
    path.as_os_str() == "-" || path.as_os_str() == "."
}
