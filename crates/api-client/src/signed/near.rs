//! Restricts signed files to addresses on the public internet, outside the sandbox.
//!
//! The marketplace says where a file is. An attacker who controls that answer could make us call this machine, its
//! network, or the metadata service of a cloud. A numeric address is checked before anything is sent (the HTTP client
//! does not resolve numbers). A name is checked when it is resolved ([`super::resolver`]), in the very answer that
//! the connection uses, so a name cannot change its meaning between check and use.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::{Url, dns::Name};

/// Suffixes of names that are valid only within a network.
const LOCAL_SUFFIXES: [&str; 7] =
    ["localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa"];

/// Returns whether the host of an address is not public, as far as the address itself shows.
pub(super) fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(ip) => !is_public(ip),
        Err(_) => is_near_name(&host),
    }
}

/// Returns whether a name is local. This machine's network completes names without a dot; the other suffixes never
/// occur in public names.
fn is_near_name(name: &str) -> bool {
    let ends_in =
        |near: &str| name == near || name.strip_suffix(near).is_some_and(|rest| rest.ends_with('.'));
    !name.contains('.') || LOCAL_SUFFIXES.into_iter().any(ends_in)
}

/// Returns whether an address belongs to the public internet. An address that embeds another one (mapped, translated,
/// tunnelled) does not, whatever it embeds.
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !matches!(
        (a, b, c),
        // This network, this machine, private, multicast, reserved, broadcast.
        (0 | 10 | 127 | 224..=255, _, _) | (172, 16..=31, _) | (192, 168, _)
            // Carrier-grade NAT, link-local.
            | (100, 64..=127, _) | (169, 254, _)
            // Protocol assignments, documentation, former 6to4 relays, benchmarks.
            | (192, 0, 0 | 2) | (192, 88, 99) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113)
    )
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    // Only 2000::/3 is allocated; inside it are protocol assignments (Teredo, ORCHID), documentation and 6to4.
    (0x2000..=0x3fff).contains(&a)
        && !matches!((a, b), (0x2001, 0..=0x01ff | 0x0db8) | (0x2002, _) | (0x3fff, 0..=0x0fff))
}

/// Keeps only the public addresses of a resolved name.
pub(super) fn only_public(
    name: &Name,
    found: impl Iterator<Item = std::net::SocketAddr>,
) -> Result<Vec<std::net::SocketAddr>, NotPublic> {
    let public: Vec<_> = found.filter(|address| is_public(address.ip())).collect();
    if public.is_empty() { Err(NotPublic(name.as_str().to_owned())) } else { Ok(public) }
}

/// The name resolves to no public address.
#[derive(Debug, thiserror::Error)]
#[error("{0} leads to no public address")]
pub(super) struct NotPublic(String);

impl NotPublic {
    /// Returns whether an error of the HTTP client has this cause.
    pub(super) fn is_cause_of(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

#[cfg(test)]
#[path = "near_corpus.rs"]
mod tests;
