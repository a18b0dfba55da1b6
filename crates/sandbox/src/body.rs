//! Bodies on the wire: whole, or cut off half way.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use crate::clock;

/// The most bytes of a request body. The largest upload of the document is 5 MB; a somewhat larger one must still be
/// read, so that the answer can say that it is too large.
const MAX_REQUEST: usize = 12 << 20;

/// The body of a response.
pub(crate) enum Outgoing {
    /// Everything in one paged.
    Whole(Option<Bytes>),
    /// Announces `length` bytes, sends `part`, then breaks the connection.
    Cut { part: Option<Bytes>, length: u64 },
}

impl Outgoing {
    pub(crate) fn whole(body: Vec<u8>) -> Self {
        Self::Whole((!body.is_empty()).then(|| Bytes::from(body)))
    }

    pub(crate) fn cut(body: Vec<u8>) -> Self {
        let length = body.len() as u64;
        let mut part = Bytes::from(body);
        part.truncate(part.len() / 2);
        Self::Cut { part: Some(part), length }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(match self.get_mut() {
            Self::Whole(body) => body.take().map(|bytes| Ok(Frame::data(bytes))),
            Self::Cut { part, .. } => Some(match part.take() {
                Some(bytes) => Ok(Frame::data(bytes)),
                None => Err(io::ErrorKind::ConnectionReset.into()),
            }),
        })
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Whole(body) => body.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Self::Cut { length, .. } => *length,
        })
    }
}

/// Why a request body could not be read.
pub(crate) enum Unread {
    /// It is larger than any body the document describes.
    TooLarge,
    /// The client went away.
    Broken,
}

/// How long a body may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Reads a request body to its end; one that does not come to it breaks the connection.
pub(crate) async fn read(body: Incoming) -> Result<Vec<u8>, Unread> {
    tokio::select! {
        read = read_all(body) => read,
        () = clock::stall(TIMEOUT) => Err(Unread::Broken),
    }
}

async fn read_all(mut body: Incoming) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    while let Some(paged) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let paged = paged.map_err(|_| Unread::Broken)?;
        if let Some(data) = paged.data_ref() {
            if bytes.len() + data.len() > MAX_REQUEST {
                return Err(Unread::TooLarge);
            }
            bytes.extend_from_slice(data);
        }
    }
    Ok(bytes)
}
