//! Pictures to upload, and the plain client that sends and fetches them.

use std::io::{Cursor, Write as _};

use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::Value;

use crate::support::{Bench, Reply};

/// A picture whose every pixel differs a little from its neighbours.
pub(crate) fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let picture = RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, (x * y) as u8]));
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(picture).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub(crate) fn gif() -> Vec<u8> {
    picture(ImageFormat::Gif, 8, 8)
}

/// A well-formed PNG of a few bytes that says it is that large.
pub(crate) fn png_that_claims(width: u32, height: u32) -> Vec<u8> {
    let mut header = Vec::from(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&[0; 4096]).unwrap();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", packed.finish().unwrap()), (b"IEND", Vec::new())] {
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(&data);
        png.extend((data.len() as u32).to_be_bytes());
        png.extend(name);
        png.extend(&data);
        png.extend(sum.sum().to_be_bytes());
    }
    png
}

/// Width and height of a file, which must be of that format.
pub(crate) fn size(bytes: &[u8], format: ImageFormat) -> (u32, u32) {
    let picture = image::load_from_memory_with_format(bytes, format).unwrap();
    (picture.width(), picture.height())
}

/// A form with one file, between boundaries `X`.
pub(crate) fn form(field: &str, file: &[u8]) -> Vec<u8> {
    let mut body = format!(
        "--X\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"foto.png\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend(file);
    body.extend(b"\r\n--X--\r\n");
    body
}

pub(crate) async fn send(bench: &Bench, path: &str, content_type: &str, body: Vec<u8>) -> Reply {
    let content_type = reqwest::header::HeaderValue::from_bytes(content_type.as_bytes()).unwrap();
    let request = bench.http.post(bench.url(path)).bearer_auth(&bench.token);
    Reply::read(request.header("content-type", content_type).body(body).send().await.unwrap()).await
}

/// POSTs a file in the field `image`.
pub(crate) async fn upload(bench: &Bench, path: &str, file: &[u8]) -> Reply {
    send(bench, path, "multipart/form-data; boundary=X", form("image", file)).await
}

/// Uploads a picture to the media; the media object.
pub(crate) async fn uploaded(bench: &Bench) -> Value {
    let reply = upload(bench, "/api/media/upload", &picture(ImageFormat::Png, 16, 9)).await;
    assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.bytes));
    reply.json()["data"].clone()
}

/// GETs a file from the object storage, without a token.
pub(crate) async fn fetch(bench: &Bench, url: &str) -> Reply {
    assert!(url.starts_with(&bench.sandbox.storage_origin()), "{url}");
    Reply::read(bench.http.get(url).send().await.unwrap()).await
}
