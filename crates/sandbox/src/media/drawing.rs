//! The pictures of generated products: a coloured square with the end of the SKU on it, the same on every day.

use image::{DynamicImage, Rgb, RgbImage};

use super::picture;
use crate::random::Random;

/// The side of a drawn original.
const ORIGINAL: u32 = 1000;

/// How many signs of the SKU are drawn.
const SIGNS: usize = 3;

/// The image that a generated product comes with.
pub(crate) fn image_of(product: u128) -> u128 {
    product ^ 1
}

/// The generated product that an image came with.
pub(crate) fn product_of(image: u128) -> u128 {
    image ^ 1
}

/// The picture of a SKU as WebP: a square of that side, or for 0 the original.
pub(crate) fn draw(sku: &str, side: u32) -> Option<Vec<u8>> {
    let side = if side == 0 { ORIGINAL } else { side };
    let mut random = Random::of_text(sku);
    // Dark enough for white signs.
    let ground = Rgb([0; 3].map(|_: u8| 40 + random.below(120) as u8));
    let mut square = RgbImage::from_pixel(side, side, ground);
    let end: Vec<char> = sku.chars().rev().filter(char::is_ascii_alphanumeric).take(SIGNS).collect();
    // Three signs of 3 dots with a dot between and one at either edge are 13 dots wide.
    let dot = side / 13;
    let width = (end.len() as u32 * 4).saturating_sub(1) * dot;
    let (mut left, top) = ((side - width) / 2, (side - 5 * dot) / 2);
    for sign in end.iter().rev() {
        write_sign(&mut square, *sign, (left, top), dot);
        left += 4 * dot;
    }
    picture::encode(&DynamicImage::ImageRgb8(square))
}

fn write_sign(square: &mut RgbImage, sign: char, (left, top): (u32, u32), dot: u32) {
    let bits = glyph(sign);
    for (y, x) in (0..5).flat_map(|y| (0..3).map(move |x| (y, x))) {
        if bits >> (14 - y * 3 - x) & 1 == 1 {
            fill(square, (left + x * dot, top + y * dot), dot);
        }
    }
}

fn fill(square: &mut RgbImage, (left, top): (u32, u32), side: u32) {
    for (x, y) in (left..left + side).flat_map(|x| (top..top + side).map(move |y| (x, y))) {
        square.put_pixel(x, y, Rgb([255; 3]));
    }
}

/// A sign as five rows of three dots: one octal digit is a row.
fn glyph(sign: char) -> u32 {
    const DIGITS: [u32; 10] =
        [0o75557, 0o26227, 0o71747, 0o71317, 0o55711, 0o74717, 0o74757, 0o71111, 0o75757, 0o75717];
    const LETTERS: [u32; 26] = [
        0o25755, 0o65656, 0o34443, 0o65556, 0o74647, 0o74644, 0o34553, 0o55755, 0o72227, 0o11152, 0o55655,
        0o44447, 0o57755, 0o57775, 0o25552, 0o65644, 0o25563, 0o65655, 0o34216, 0o72222, 0o55557, 0o55552,
        0o55775, 0o55255, 0o55222, 0o71247,
    ];
    let at = |first: u8| (sign.to_ascii_uppercase() as usize).wrapping_sub(usize::from(first));
    DIGITS.get(at(b'0')).or_else(|| LETTERS.get(at(b'A'))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use image::ImageFormat;

    use super::*;

    #[test]
    fn a_drawing_has_its_size_and_is_always_the_same() {
        for side in [135, 200, 400] {
            let drawn = draw("L1-00001-X7Q", side).unwrap();
            let read = picture::decode(&drawn, ImageFormat::WebP).unwrap();
            assert_eq!((read.width(), read.height()), (side, side));
            assert_eq!(draw("L1-00001-X7Q", side).unwrap(), drawn);
        }
        assert_ne!(draw("L1-00001-X7Q", 135), draw("L1-00001-X7R", 135));
    }

    #[test]
    fn any_sku_can_be_drawn() {
        for sku in ["", "-", "é漢字", "A", "AB", "0123456789012345678901234567890123456789"] {
            assert!(draw(sku, 135).is_some(), "{sku}");
        }
    }

    #[test]
    fn every_letter_and_digit_has_its_own_form() {
        let mut forms: Vec<u32> = ('A'..='Z').chain('0'..='9').map(glyph).collect();
        assert!(forms.iter().all(|form| (1..1 << 15).contains(form)));
        let count = forms.len();
        forms.sort_unstable();
        forms.dedup();
        assert_eq!(forms.len(), count);
        assert_eq!((glyph('é'), glyph('x')), (0, glyph('X')));
    }
}
