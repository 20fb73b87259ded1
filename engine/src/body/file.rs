//! A file as a body.

use super::Body;
use crate::error::Error;
use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf, Take};

/// Bytes of one piece.
const PIECE_BYTES: usize = 64 * 1024;

impl Body {
    /// The bytes of a file, as many as it has now; it is read as it is sent. One that gets shorter meanwhile
    /// is an error of the request.
    ///
    /// # Errors
    /// Names the file that cannot be opened.
    pub async fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let opened = async {
            let file = File::open(path).await?;
            let metadata = file.metadata().await?;
            match metadata.is_dir() {
                true => Err(io::ErrorKind::IsADirectory.into()),
                false => Ok((file, metadata)),
            }
        };
        let (file, metadata) = opened.await.map_err(|error: io::Error| {
            let path = path.display();
            Error::config(format!("the file {path} cannot be opened: {error}")).with_source(error)
        })?;
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self::wrap(FileBody {
            file: file.take(length.unwrap_or(u64::MAX)),
            is_sized: length.is_some(),
        }))
    }
}

/// The rest of a file from where it is, without a length: `transfer-encoding: chunked` on HTTP/1.1.
/// [`Body::from_file`] has the length.
impl From<File> for Body {
    fn from(file: File) -> Self {
        Self::wrap(FileBody {
            file: file.take(u64::MAX),
            is_sized: false,
        })
    }
}

/// As of tokio's [`File`]: it is read on tokio's threads for blocking calls.
impl From<std::fs::File> for Body {
    fn from(file: std::fs::File) -> Self {
        Self::from(File::from_std(file))
    }
}

struct FileBody {
    file: Take<File>,
    /// Its length is known: that of a pipe is not.
    is_sized: bool,
}

impl http_body::Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.file.limit() == 0 {
            return Poll::Ready(None);
        }
        let size = self.file.limit().min(PIECE_BYTES as u64) as usize;
        let mut piece = BytesMut::zeroed(size);
        let mut space = ReadBuf::new(&mut piece);
        ready!(Pin::new(&mut self.file).poll_read(cx, &mut space))?;
        let filled = space.filled().len();
        if filled == 0 {
            return Poll::Ready(self.is_sized.then(|| {
                let text = format!("the file ends {} bytes early", self.file.limit());
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, text))
            }));
        }
        piece.truncate(filled);
        Poll::Ready(Some(Ok(Frame::data(piece.freeze()))))
    }
    fn is_end_stream(&self) -> bool {
        self.file.limit() == 0
    }
    fn size_hint(&self) -> SizeHint {
        match self.is_sized {
            true => SizeHint::with_exact(self.file.limit()),
            false => SizeHint::default(),
        }
    }
}
