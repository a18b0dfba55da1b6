//! A product's gallery (API document, "Products, prices, stock"). It holds at most six images; the first is the
//! thumbnail. Only adding is documented, and only the marketplace knows how many images there are.

use espelho_model::{MediaId, ProductId, RawJson};
use serde::Serialize;

use crate::{ApiRequest, Error, resources::handles::ProductsApi};

#[derive(Serialize)]
struct GalleryBody<'a> {
    image_id: &'a str,
}

/// Builds the request that adds an uploaded image to a product's gallery.
pub fn add_request(product: &ProductId, image: &MediaId) -> ApiRequest {
    let body = GalleryBody { image_id: image.as_str() };
    ApiRequest::post("/api/products/{id}/gallery", &[product.as_str()]).json(&body)
}

impl ProductsApi<'_> {
    /// Adds an uploaded image to a product's gallery, so that the marketplace does not remove it as unreferenced.
    ///
    /// # Errors
    /// As every call; a refusal with 422 when the gallery is full.
    pub async fn add_to_gallery(self, product: &ProductId, image: &MediaId) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&add_request(product, image)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::outward::sent;

    // proves: PRD-021, MED-006
    #[test]
    fn a_gallery_takes_an_image_by_its_id() {
        let image = MediaId::new("01J9Z3K5T7V9X1B3D5F7H9K1M3");
        assert_eq!(
            sent(&add_request(&ProductId::new("P1"), &image)),
            r#"POST /api/products/P1/gallery {"image_id":"01J9Z3K5T7V9X1B3D5F7H9K1M3"}"#
        );
    }
}
