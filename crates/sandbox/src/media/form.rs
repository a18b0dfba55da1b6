//! Uploads: the file in the field `image` of a `multipart/form-data` body.

use std::{convert::Infallible, future};

use futures_util::{FutureExt as _, stream};
use hyper::body::Bytes;
use image::ImageFormat;

use super::picture;
use crate::refusal::{FieldErrors, Refusal};

/// The uploads that a route accepts.
pub(crate) struct Accepted {
    pub(crate) formats: &'static [ImageFormat],
    /// As the refusal names them.
    pub(crate) names: &'static str,
    /// In bytes.
    pub(crate) most: usize,
}

const FIELD: &str = "image";

/// The uploaded file, which is an image of an accepted format and can be decoded.
pub(crate) fn image(
    content_type: &str,
    body: &[u8],
    accepted: &Accepted,
) -> Result<(ImageFormat, Bytes), Refusal> {
    let refuse = |message: String| Refusal::Invalid(FieldErrors::one(FIELD, message));
    let Some(file) = file(content_type, body) else {
        return Err(refuse("O campo image é obrigatório e deve ser um arquivo.".to_owned()));
    };
    if file.len() > accepted.most {
        let kilobytes = accepted.most / 1024;
        return Err(refuse(format!("O campo image não pode ser superior a {kilobytes} kilobytes.")));
    }
    // The name and the declared type of a file prove nothing; its first bytes do.
    let format = image::guess_format(&file).ok().filter(|format| accepted.formats.contains(format));
    let Some(format) = format else {
        return Err(refuse(format!("O campo image deve ser um arquivo do tipo: {}.", accepted.names)));
    };
    match picture::decode(&file, format) {
        Some(_) => Ok((format, file)),
        None => Err(refuse("O campo image deve ser uma imagem que possa ser lida.".to_owned())),
    }
}

/// The last file of the field's name; a body that is no form, or is broken, has none.
fn file(content_type: &str, body: &[u8]) -> Option<Bytes> {
    let boundary = multer::parse_boundary(content_type).ok()?;
    let whole = stream::once(future::ready(Ok::<_, Infallible>(Bytes::copy_from_slice(body))));
    // Everything is there already, so that the parser has nothing to wait for.
    last_file(multer::Multipart::new(whole, boundary)).now_or_never()?.ok()?
}

async fn last_file(mut form: multer::Multipart<'_>) -> multer::Result<Option<Bytes>> {
    let mut found = None;
    while let Some(field) = form.next_field().await? {
        let is_file = field.name() == Some(FIELD) && field.file_name().is_some();
        let bytes = field.bytes().await?;
        if is_file {
            found = Some(bytes);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=X";

    fn part(head: &str, content: &str) -> String {
        format!("--X\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
    }

    fn found(content_type: &str, parts: &str) -> Option<Bytes> {
        file(content_type, format!("{parts}--X--\r\n").as_bytes())
    }

    #[test]
    fn the_file_is_found_among_other_fields() {
        let parts = part("name=\"note\"", "x") + &part("name=\"image\"; filename=\"a.png\"", "bytes\r\n--Y");
        assert_eq!(found(TYPE, &parts).unwrap(), "bytes\r\n--Y");
        let two = parts + &part("name=\"image\"; filename=\"b.png\"", "later");
        assert_eq!(found(TYPE, &two).unwrap(), "later");
    }

    #[test]
    fn what_is_no_file_of_that_name_is_not_found() {
        let file = part("name=\"image\"; filename=\"a.png\"", "bytes");
        assert_eq!(found(TYPE, &part("name=\"image\"", "text")), None);
        assert_eq!(found(TYPE, &part("name=\"photo\"; filename=\"a.png\"", "bytes")), None);
        assert_eq!(found(TYPE, ""), None);
        for content_type in ["", "application/json", "multipart/form-data", "multipart/form-data; boundary=Y"]
        {
            assert_eq!(found(content_type, &file), None, "{content_type}");
        }
    }

    #[test]
    fn a_body_that_breaks_off_has_no_file() {
        let whole = part("name=\"image\"; filename=\"a.png\"", "bytes") + "--X--\r\n";
        for end in 0..whole.len() - 4 {
            assert_eq!(file(TYPE, &whole.as_bytes()[..end]), None, "{end}");
        }
    }
}
