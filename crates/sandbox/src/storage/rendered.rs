//! The last rendered pictures: rendering one again costs a decoding and an encoding.

use std::collections::VecDeque;

use hyper::body::Bytes;
use parking_lot::{Mutex, MutexGuard};

/// The most bytes of pictures that are kept ready.
const BUDGET: usize = 32 << 20;

/// A picture: of which image, and which of its variations (0 for the original).
pub(super) type Name = (u128, u32);

/// The last rendered pictures, the latest first.
#[derive(Default)]
pub(super) struct Rendered(Mutex<VecDeque<(Name, Bytes)>>);

impl Rendered {
    /// The picture of that name, made if it is not there.
    pub(super) fn get(&self, name: Name, make: impl FnOnce() -> Option<Vec<u8>>) -> Option<Bytes> {
        if let Some((_, bytes)) = self.pictures().iter().find(|(other, _)| *other == name) {
            return Some(bytes.clone());
        }
        let bytes = Bytes::from(make()?);
        let mut pictures = self.pictures();
        pictures.push_front((name, bytes.clone()));
        while pictures.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > BUDGET {
            pictures.pop_back();
        }
        Some(bytes)
    }

    /// Drops every variation of an image.
    pub(super) fn forget(&self, image: u128) {
        self.pictures().retain(|((other, _), _)| *other != image);
    }

    fn pictures(&self) -> MutexGuard<'_, VecDeque<(Name, Bytes)>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_made_once_until_it_is_forgotten() {
        let rendered = Rendered::default();
        assert_eq!(rendered.get((1, 0), || Some(vec![1])).unwrap(), [1][..]);
        assert_eq!(rendered.get((1, 0), || Some(vec![2])).unwrap(), [1][..]);
        rendered.forget(1);
        assert_eq!(rendered.get((1, 0), || Some(vec![2])).unwrap(), [2][..]);
        assert_eq!(rendered.get((2, 0), || None), None);
    }

    #[test]
    fn the_pictures_stay_within_their_budget() {
        let rendered = Rendered::default();
        for image in 0..5 {
            rendered.get((image, 0), || Some(vec![0; BUDGET / 3]));
        }
        assert_eq!(rendered.pictures().len(), 3);
        assert_eq!(rendered.pictures().front().unwrap().0, (4, 0));
    }
}
