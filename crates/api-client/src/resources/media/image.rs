//! Files to upload (API document, "Media", "Store page and rating"). The file's bytes decide its type: names can be
//! wrong, and a refused upload costs a request.

use std::fmt;

use espelho_model::text;

use crate::{Invalid, request::File};

/// "2 MB": an image of a product or a listing.
const MEDIA_LIMIT: usize = 2 << 20;
/// "5 MB": logo and background of the store page.
const PAGE_LIMIT: usize = 5 << 20;

/// The image types that some route accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ImageType {
    Jpeg,
    Png,
    Gif,
    WebP,
}

impl ImageType {
    /// Recognises an image by its first bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            _ => None,
        }
    }

    /// Returns a file name and the media type. The name states the type and nothing about the file's origin.
    fn name_and_type(self) -> (&'static str, &'static str) {
        match self {
            Self::Jpeg => ("image.jpg", "image/jpeg"),
            Self::Png => ("image.png", "image/png"),
            Self::Gif => ("image.gif", "image/gif"),
            Self::WebP => ("image.webp", "image/webp"),
        }
    }
}

/// An image for products and listings: JPEG, PNG or WebP of at most 2 MB.
#[derive(Clone, PartialEq, Eq)]
pub struct ProductImage(Image);

/// An image for the store page: JPEG, PNG, GIF or WebP of at most 5 MB.
#[derive(Clone, PartialEq, Eq)]
pub struct PageImage(Image);

#[derive(Clone, PartialEq, Eq)]
struct Image {
    kind: ImageType,
    bytes: Vec<u8>,
}

impl ProductImage {
    /// Takes the file.
    ///
    /// # Errors
    /// When it is too large, or not an image of these types.
    pub fn new(bytes: Vec<u8>) -> Result<Self, Invalid> {
        let kinds = [ImageType::Jpeg, ImageType::Png, ImageType::WebP];
        Image::new(
            bytes,
            &kinds,
            MEDIA_LIMIT,
            text!("value-rule-product-image"),
            text!("value-rule-two-megabytes"),
        )
        .map(Self)
    }

    /// Returns the image type.
    pub fn kind(&self) -> ImageType {
        self.0.kind
    }

    pub(crate) fn file(&self) -> File {
        self.0.file()
    }
}

impl PageImage {
    /// Takes the file.
    ///
    /// # Errors
    /// When it is too large, or not an image of these types.
    pub fn new(bytes: Vec<u8>) -> Result<Self, Invalid> {
        let kinds = [ImageType::Jpeg, ImageType::Png, ImageType::Gif, ImageType::WebP];
        Image::new(
            bytes,
            &kinds,
            PAGE_LIMIT,
            text!("value-rule-page-image"),
            text!("value-rule-five-megabytes"),
        )
        .map(Self)
    }

    /// Returns the image type.
    pub fn kind(&self) -> ImageType {
        self.0.kind
    }

    pub(crate) fn file(&self) -> File {
        self.0.file()
    }
}

impl Image {
    fn new(
        bytes: Vec<u8>,
        kinds: &[ImageType],
        limit: usize,
        what: text::Text,
        size: text::Text,
    ) -> Result<Self, Invalid> {
        if bytes.is_empty() {
            return Err(Invalid::Missing { field: "image" });
        }
        if bytes.len() > limit {
            return Err(Invalid::value("image", format!("{} bytes", bytes.len()), size));
        }
        match ImageType::of(&bytes) {
            Some(kind) if kinds.contains(&kind) => Ok(Self { kind, bytes }),
            Some(kind) => Err(Invalid::value("image", format!("{kind:?}"), what)),
            None => Err(Invalid::value("image", "?", what)),
        }
    }

    fn file(&self) -> File {
        let (name, media_type) = self.kind.name_and_type();
        File { field: "image", name: name.to_owned(), media_type, bytes: self.bytes.clone() }
    }
}

/// Omits the bytes, which have no use in a log.
impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} bytes", self.kind, self.bytes.len())
    }
}

impl fmt::Debug for ProductImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PageImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{resources::media::upload_request, wire::outward::sent};

    const JPEG: &[u8] = b"\xFF\xD8\xFF\xE0\0\x10JFIF\0";
    const PNG: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR";
    const GIF: &[u8] = b"GIF89a\x01\0\x01\0";
    const WEBP: &[u8] = b"RIFF\x24\0\0\0WEBPVP8 ";

    fn of_size(begin: &[u8], size: usize) -> Vec<u8> {
        let mut bytes = begin.to_vec();
        bytes.resize(size, 0);
        bytes
    }

    // proves: MED-001, MED-003
    #[test]
    fn a_product_image_is_known_by_its_bytes_and_goes_out_as_what_it_is() {
        for (bytes, kind, expected) in [
            (JPEG, ImageType::Jpeg, "[image: image.jpg, image/jpeg, 11 bytes]"),
            (PNG, ImageType::Png, "[image: image.png, image/png, 16 bytes]"),
            (WEBP, ImageType::WebP, "[image: image.webp, image/webp, 16 bytes]"),
        ] {
            let image = ProductImage::new(bytes.to_vec()).unwrap();
            assert_eq!(image.kind(), kind);
            assert_eq!(sent(&upload_request(&image)), format!("POST /api/media/upload {expected}"));
        }
        for other in [GIF, b"<svg xmlns=", b"%PDF-1.7", b"RIFF\x24\0\0\0WAVEfmt ", b"BM", b"\xFF\xD8"] {
            assert!(ProductImage::new(other.to_vec()).is_err(), "{other:?}");
        }
        assert_eq!(ProductImage::new(Vec::new()), Err(Invalid::Missing { field: "image" }));
    }

    // proves: PAG-013
    #[test]
    fn a_page_image_may_also_be_a_gif() {
        for bytes in [JPEG, PNG, GIF, b"GIF87a\x01\0", WEBP] {
            assert!(PageImage::new(bytes.to_vec()).is_ok(), "{bytes:?}");
        }
        assert_eq!(
            ProductImage::new(GIF.to_vec()).unwrap_err().to_string(),
            "image is Gif; it must be a JPEG, PNG or WebP image"
        );
        assert!(PageImage::new(b"<html>".to_vec()).is_err());
    }

    // proves: MED-004, PAG-014
    #[test]
    fn an_image_is_taken_up_to_its_limit_and_not_a_byte_more() {
        assert!(ProductImage::new(of_size(PNG, 2 << 20)).is_ok());
        assert_eq!(
            ProductImage::new(of_size(PNG, (2 << 20) + 1)).unwrap_err().to_string(),
            "image is 2097153 bytes; it must be 2 MB at most"
        );
        assert!(PageImage::new(of_size(PNG, 5 << 20)).is_ok());
        assert!(PageImage::new(of_size(PNG, (5 << 20) + 1)).is_err());
    }

    #[test]
    fn an_image_shows_its_size_and_never_its_bytes() {
        assert_eq!(format!("{:?}", ProductImage::new(PNG.to_vec()).unwrap()), "Png of 16 bytes");
        assert_eq!(format!("{:?}", PageImage::new(GIF.to_vec()).unwrap()), "Gif of 10 bytes");
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_recognition_panic(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let product = ProductImage::new(bytes.clone()).is_ok();
            // The page accepts every image that a product accepts.
            prop_assert!(!product || PageImage::new(bytes).is_ok());
        }
    }
}
