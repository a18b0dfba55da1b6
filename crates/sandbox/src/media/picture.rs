//! Pictures: uploads decoded within limits, and the WebP files that are made of them.

use std::io::Cursor;

use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbaImage,
    codecs::webp::WebPEncoder,
    imageops::{self, FilterType},
};

/// The longest side that is read, in pixels; WebP itself ends at 16,383.
const MAX_SIDE: u32 = 10_000;

/// The most memory that a decoded upload may take: a small file can claim to be a huge picture.
const MAX_DECODED: u64 = 128 << 20;

/// Decodes an upload, turned as its camera says; none where it is damaged or too large.
pub(crate) fn decode(bytes: &[u8], format: ImageFormat) -> Option<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODED);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().ok()?;
    limits.reserve(decoder.total_bytes()).ok()?;
    decoder.set_limits(limits).ok()?;
    let orientation = decoder.orientation().ok()?;
    let mut picture = DynamicImage::from_decoder(decoder).ok()?;
    picture.apply_orientation(orientation);
    Some(picture)
}

/// A variation of an upload as WebP: a square of that side, or for 0 the original as it is.
pub(crate) fn render(bytes: &[u8], side: u32) -> Option<Vec<u8>> {
    let picture = decode(bytes, image::guess_format(bytes).ok()?)?;
    if side == 0 {
        return encode(&picture);
    }
    encode(&DynamicImage::ImageRgba8(in_square(&picture, side)))
}

/// The whole picture in the middle of a transparent square: shrunk to fit, never enlarged.
fn in_square(picture: &DynamicImage, side: u32) -> RgbaImage {
    let fits = picture.width() <= side && picture.height() <= side;
    let inner =
        if fits { picture.to_rgba8() } else { picture.resize(side, side, FilterType::Triangle).to_rgba8() };
    let mut square = RgbaImage::new(side, side);
    let middle = |length: u32| i64::from((side - length) / 2);
    imageops::replace(&mut square, &inner, middle(inner.width()), middle(inner.height()));
    square
}

/// The picture as lossless WebP.
pub(crate) fn encode(picture: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let encoder = WebPEncoder::new_lossless(&mut bytes);
    let plain = match picture.color().has_alpha() {
        true => DynamicImage::ImageRgba8(picture.to_rgba8()),
        false => DynamicImage::ImageRgb8(picture.to_rgb8()),
    };
    plain.write_with_encoder(encoder).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    fn size(webp: &[u8]) -> (u32, u32) {
        let picture = decode(webp, ImageFormat::WebP).unwrap();
        (picture.width(), picture.height())
    }

    #[test]
    fn a_variation_is_a_square_and_the_original_keeps_its_size() {
        let upload = png(300, 40);
        for side in [135, 200, 400] {
            assert_eq!(size(&render(&upload, side).unwrap()), (side, side));
        }
        assert_eq!(size(&render(&upload, 0).unwrap()), (300, 40));
    }

    #[test]
    fn a_picture_is_shrunk_to_fit_and_never_enlarged() {
        let black = |square: &RgbaImage| square.pixels().filter(|pixel| pixel[3] == 255).count();
        let picture = DynamicImage::new_rgb8(300, 40);
        assert_eq!(black(&in_square(&picture, 150)), 150 * 20);
        assert_eq!(black(&in_square(&picture, 400)), 300 * 40);
    }

    #[test]
    fn damaged_pictures_and_those_with_too_long_a_side_are_not_read() {
        let whole = png(10, 10);
        assert!(decode(&whole, ImageFormat::Png).is_some());
        assert!(decode(&whole[..whole.len() / 2], ImageFormat::Png).is_none());
        assert!(decode(&whole, ImageFormat::Jpeg).is_none());
        assert!(decode(&png(MAX_SIDE + 1, 1), ImageFormat::Png).is_none());
    }

    #[test]
    fn no_damage_to_a_picture_does_more_than_make_it_unreadable() {
        let picture =
            DynamicImage::ImageRgb8(image::RgbImage::from_fn(9, 7, |x, y| image::Rgb([x as u8, y as u8, 7])));
        let mut random = Random::of(&[0xDA3A]);
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::Gif, ImageFormat::WebP] {
            let mut whole = Cursor::new(Vec::new());
            picture.write_to(&mut whole, format).unwrap();
            let whole = whole.into_inner();
            assert!(decode(&whole, format).is_some());
            for _ in 0..400 {
                let mut damaged = whole.clone();
                for _ in 0..=random.below(4) {
                    let at = random.position(damaged.len());
                    damaged[at] = random.number() as u8;
                }
                damaged.truncate(damaged.len() - random.position(damaged.len() / 4));
                if let Some(picture) = decode(&damaged, format) {
                    assert!(picture.width() <= MAX_SIDE && picture.height() <= MAX_SIDE);
                }
            }
        }
    }
}
