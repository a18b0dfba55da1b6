//! The signature of a delivery (API document, "Authentication" 9): `X-Webhook-Signature: sha256=<hex>`.

use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "X-Webhook-Signature";

/// Returns whether `header` is the signature of exactly these bytes under the webhook's secret, compared in constant
/// time.
///
/// The body is the raw body, before any parser. An empty secret verifies nothing, because anybody could sign with it.
pub fn verify(secret: &SecretString, raw_body: &[u8], header: &str) -> bool {
    let secret = secret.expose_secret().as_bytes();
    let Some(digits) = header.trim().strip_prefix("sha256=") else { return false };
    let mut claimed = [0; 32];
    // Exactly 64 digits in lower case: one body has one signature.
    if digits.bytes().any(|digit| digit.is_ascii_uppercase())
        || hex::decode_to_slice(digits, &mut claimed).is_err()
    {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    mac.update(raw_body);
    !secret.is_empty() && mac.verify_slice(&claimed).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 4231, test case 2.
    const KEY: &str = "Jefe";
    const DATA: &[u8] = b"what do ya want for nothing?";
    const HEX: &str = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";

    fn check(header: &str) -> bool {
        verify(&SecretString::from(KEY), DATA, header)
    }

    // proves: WHK-007, WHK-008
    #[test]
    fn a_signature_is_hmac_sha256_in_hex() {
        assert!(check(&format!("sha256={HEX}")));
        assert!(check(&format!(" sha256={HEX}\r\n")));
    }

    // proves: WHK-007
    #[test]
    fn anything_else_is_no_signature() {
        for bad in [
            "",
            "sha256=",
            HEX,
            &format!("sha1={HEX}"),
            &format!("SHA256={HEX}"),
            &format!("sha256= {HEX}"),
            &format!("sha256={}", HEX.to_uppercase()),
            &format!("sha256={HEX}00"),
            &format!("sha256={}", &HEX[..62]),
            &format!("sha256={}zz", &HEX[..62]),
            &format!("sha256={}é", &HEX[..62]),
            &format!("sha256={}00", &HEX[..62]),
            &format!("sha256={HEX},sha256={HEX}"),
        ] {
            assert!(!check(bad), "{bad}");
        }
    }

    #[test]
    fn an_empty_secret_signs_nothing() {
        // HMAC-SHA256 of an empty text under the empty key.
        let header = "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
        assert!(!verify(&SecretString::from(""), b"", header));
    }

    // proves: WHK-009
    // withstands: F041
    #[test]
    fn the_bytes_count_and_not_what_they_mean() {
        let secret = SecretString::from("whsec_x");
        let signed = br#"{"event":"webhook.test","data":{}}"#;
        let header = format!("sha256={}", hex_of("whsec_x", signed));
        assert!(verify(&secret, signed, &header));
        assert!(!verify(&secret, br#"{"event": "webhook.test","data":{}}"#, &header));
        assert!(!verify(&SecretString::from("whsec_y"), signed, &header));
    }

    fn hex_of(secret: &str, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body);
        hex::encode(mac.finalize().into_bytes())
    }

    proptest! {
        // proves: WHK-008, WHK-009
        #[test]
        fn a_body_with_one_bit_changed_is_refused(body in prop::collection::vec(any::<u8>(), 1..200), at in any::<usize>()) {
            let secret = SecretString::from("whsec_x");
            let header = format!("sha256={}", hex_of("whsec_x", &body));
            prop_assert!(verify(&secret, &body, &header));
            let mut forged = body.clone();
            forged[at % body.len()] ^= 1 << (at % 8);
            prop_assert!(!verify(&secret, &forged, &header));
        }

        #[test]
        fn no_header_makes_it_panic(header in "\\PC{0,80}") {
            let _ = check(&header);
        }
    }
}
