//! The corpus: addresses as an attacker would write them, with the expected result of each.

use std::net::SocketAddr;

use proptest::prelude::*;

use super::*;
use crate::signed::SignedUrl;

/// This machine, its network, addresses that embed one of these, and unallocated ones.
const NEAR: [&str; 168] = [
    "https://127.0.0.1/a",
    "https://127.0.0.1:8443/a",
    "https://127.1/a",
    "https://127.0.1/a",
    "https://127.255.255.255/a",
    "https://2130706433/a",
    "https://017700000001/a",
    "https://0x7f000001/a",
    "https://0x7f.1/a",
    "https://0x7f.0x0.0x0.0x1/a",
    "https://0177.0.0.1/a",
    "https://127.0.0.1./a",
    "https://127.%30.0.1/a",
    "https://%31%32%37.0.0.1/a",
    "https://１２７.0.0.1/a",
    "https://127。0。0。1/a",
    "https://0/a",
    "https://0.0.0.0/a",
    "https://0.1.2.3/a",
    "https://0x0/a",
    "https://00000000/a",
    "https://localhost/a",
    "https://LOCALHOST/a",
    "https://LocalHost:9000/a",
    "https://localhost./a",
    "https://x.localhost/a",
    "https://a.b.localhost/a",
    "https://localhost.localdomain/a",
    "https://loc%61lhost/a",
    "https://ｌocalhost/a",
    "https://10.0.0.1/a",
    "https://10.255.255.255/a",
    "https://10.1/a",
    "https://0xa000001/a",
    "https://167772161/a",
    "https://012.0.0.1/a",
    "https://172.16.0.1/a",
    "https://172.20.10.5/a",
    "https://172.31.255.255/a",
    "https://0xac100001/a",
    "https://2886729729/a",
    "https://192.168.0.1/a",
    "https://192.168.1.254/a",
    "https://192.168.257/a",
    "https://3232235777/a",
    "https://0xc0a80101/a",
    "https://0300.0250.1.1/a",
    "https://169.254.0.1/a",
    "https://169.254.169.254/latest/meta-data",
    "https://169.254.169.254./latest",
    "https://169.254.170.2/v2/credentials",
    "https://2852039166/latest",
    "https://0xa9fea9fe/latest",
    "https://0251.0376.0251.0376/latest",
    "https://169.16689662/latest",
    "https://100.64.0.1/a",
    "https://100.100.100.200/latest",
    "https://100.127.255.255/a",
    "https://1681915905/a",
    "https://192.0.0.1/a",
    "https://192.0.0.8/a",
    "https://192.0.0.170/a",
    "https://192.0.2.1/a",
    "https://192.0.2.255/a",
    "https://198.51.100.7/a",
    "https://203.0.113.9/a",
    "https://192.88.99.1/a",
    "https://198.18.0.1/a",
    "https://198.19.255.255/a",
    "https://224.0.0.1/a",
    "https://224.0.0.251:5353/a",
    "https://239.255.255.250/a",
    "https://240.0.0.1/a",
    "https://250.1.2.3/a",
    "https://255.255.255.254/a",
    "https://255.255.255.255/a",
    "https://4294967295/a",
    "https://0xffffffff/a",
    "https://[::]/a",
    "https://[::1]/a",
    "https://[0:0:0:0:0:0:0:1]/a",
    "https://[0000:0000::0001]:8443/a",
    "https://[::2]/a",
    "https://[::127.0.0.1]/a",
    "https://[::7f00:1]/a",
    "https://[::10.0.0.1]/a",
    "https://[::169.254.169.254]/a",
    "https://[::8.8.8.8]/a",
    "https://[::ffff:127.0.0.1]/a",
    "https://[::ffff:7f00:1]/a",
    "https://[::FFFF:7F00:0001]/a",
    "https://[::ffff:10.0.0.1]/a",
    "https://[::ffff:169.254.169.254]/a",
    "https://[::ffff:a9fe:a9fe]/a",
    "https://[::ffff:192.168.0.1]/a",
    "https://[::ffff:8.8.8.8]/a",
    "https://[::ffff:0:127.0.0.1]/a",
    "https://[::ffff:0:a00:1]/a",
    "https://[64:ff9b::7f00:1]/a",
    "https://[64:ff9b::127.0.0.1]/a",
    "https://[64:ff9b::10.0.0.1]/a",
    "https://[64:ff9b::a9fe:a9fe]/a",
    "https://[64:ff9b::8.8.8.8]/a",
    "https://[64:ff9b:1::7f00:1]/a",
    "https://[64:ff9b:1:ffff::1]/a",
    "https://[100::1]/a",
    "https://[100:0:0:1::1]/a",
    "https://[200::1]/a",
    "https://[400::1]/a",
    "https://[1000::1]/a",
    "https://[1fff:ffff::1]/a",
    "https://[2001::1]/a",
    "https://[2001:0:7f00:1::1]/a",
    "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/a",
    "https://[2001:2::1]/a",
    "https://[2001:3::1]/a",
    "https://[2001:10::1]/a",
    "https://[2001:1f::1]/a",
    "https://[2001:20::1]/a",
    "https://[2001:2f:ffff::1]/a",
    "https://[2001:30::1]/a",
    "https://[2001:1ff::1]/a",
    "https://[2001:db8::1]/a",
    "https://[2001:db8:ffff::1]/a",
    "https://[2001:DB8::7]/a",
    "https://[2002:7f00:1::1]/a",
    "https://[2002:a00:1::1]/a",
    "https://[2002:a9fe:a9fe::1]/a",
    "https://[2002:c0a8:101::1]/a",
    "https://[2002:808:808::808:808]/a",
    "https://[3fff::1]/a",
    "https://[3fff:fff::1]/a",
    "https://[4000::1]/a",
    "https://[5f00::1]/a",
    "https://[8000::1]/a",
    "https://[e000::1]/a",
    "https://[f000::1]/a",
    "https://[fc00::1]/a",
    "https://[fc12:3456::1]/a",
    "https://[fd00::1]/a",
    "https://[fd00:ec2::254]/latest",
    "https://[fdff:ffff::1]/a",
    "https://[fe00::1]/a",
    "https://[fe80::1]/a",
    "https://[fe80::a9fe:a9fe]/a",
    "https://[febf::1]/a",
    "https://[fec0::1]/a",
    "https://[feff::1]/a",
    "https://[ff00::1]/a",
    "https://[ff02::1]/a",
    "https://[ff02::fb]:5353/a",
    "https://[ff0e::1]/a",
    "https://[ffff::1]/a",
    "https://intranet/a",
    "https://storage/a",
    "https://minio:9000/a",
    "https://router./a",
    "https://metadata/a",
    "https://kubernetes/a",
    "https://nas.local/a",
    "https://NAS.LOCAL./a",
    "https://printer.lan/a",
    "https://wiki.intranet/a",
    "https://router.home.arpa/a",
    "https://metadata.google.internal/a",
    "https://vault.prod.internal/a",
    "https://host.docker.internal/a",
    "https://db.localdomain/a",
];

/// Without TLS.
const PLAIN: [&str; 7] = [
    "http://storage.example/a",
    "http://127.0.0.1/a",
    "http://169.254.169.254/latest",
    "http://[::1]/a",
    "HTTP://storage.example/a",
    "http://8.8.8.8/a",
    "http://localhost:9000/a",
];

/// With a name or password, or disguised as another host.
const CREDENTIALED: [&str; 5] = [
    "https://user@storage.example/a",
    "https://user:pass@storage.example/a",
    "https://:pass@storage.example/a",
    "https://storage.example@evil.example/a",
    "https://storage.example:443@evil.example/a",
];

/// Not addresses of files at all.
const UNUSABLE: [&str; 22] = [
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "ftp://storage.example/a",
    "gopher://127.0.0.1:6379/_INFO",
    "data:text/plain,x",
    "javascript:alert(1)",
    "unix:/run/docker.sock",
    "ldap://storage.example/a",
    "jar:https://storage.example/a!/b",
    "//storage.example/a",
    "/a?b",
    "storage.example/a",
    "https://",
    "https:///",
    "https://[::1/a",
    "https://[fe80::1%25eth0]/a",
    "https://256.256.256.256/a",
    "https://1.2.3.4.5/a",
    "https://0x100000000/a",
    "https://stor age.example/a",
    "https://storage.example:99999/a",
    "https://exa<mple/a",
];

/// Public addresses, including those just outside of each refused range.
const FINE: [&str; 44] = [
    "https://storage.example/a?X-Amz-Signature=1",
    "https://bucket.s3.sa-east-1.amazonaws.com/a",
    "https://s3.sa-east-1.amazonaws.com/bucket/a",
    "https://storage.googleapis.com/bucket/a",
    "https://conta.blob.core.windows.net/a",
    "https://bucket.nyc3.digitaloceanspaces.com/a",
    "https://a1b2.r2.cloudflarestorage.com/a",
    "https://storage.example:8443/a",
    "https://storage.example./a",
    "https://xn--ao-4iah.example/a",
    "https://ação.example/a",
    "https://localhost.example/a",
    "https://notlocalhost.com/a",
    "https://mylocal.com/a",
    "https://internal.example.com/a",
    "https://10.0.0.1.example.com/a",
    "https://8.8.8.8/a",
    "https://134744072/a",
    "https://1.1.1.1/a",
    "https://9.255.255.255/a",
    "https://11.0.0.1/a",
    "https://100.63.255.255/a",
    "https://100.128.0.1/a",
    "https://126.255.255.255/a",
    "https://128.0.0.1/a",
    "https://169.253.255.255/a",
    "https://169.255.0.1/a",
    "https://172.15.255.255/a",
    "https://172.32.0.1/a",
    "https://192.167.255.255/a",
    "https://192.169.0.1/a",
    "https://192.0.1.1/a",
    "https://198.17.255.255/a",
    "https://198.20.0.1/a",
    "https://223.255.255.255/a",
    "https://[2000::1]/a",
    "https://[2001:200::1]/a",
    "https://[2001:4860:4860::8888]/a",
    "https://[2001:db7::1]/a",
    "https://[2003::1]/a",
    "https://[2600:1f18::1]/a",
    "https://[2804:14d::1]/a",
    "https://[3ffe::1]/a",
    "https://[3fff:1000::1]/a",
];

fn objection(text: &str) -> Option<&'static str> {
    let url = SignedUrl::parse(text).unwrap_or_else(|| panic!("{text} is no address"));
    url.objection(false, &[])
}

// withstands: F123
#[test]
fn two_hundred_ways_inside_are_refused_and_public_addresses_are_not() {
    for (urls, expected) in [
        (&NEAR[..], Some("is not public")),
        (&PLAIN, Some("is not https")),
        (&CREDENTIALED, Some("carries credentials")),
        (&FINE, None),
    ] {
        let other: Vec<_> = urls.iter().filter(|url| objection(url) != expected).collect();
        assert!(other.is_empty(), "not {expected:?}: {other:?}");
    }
    let usable: Vec<_> = UNUSABLE.iter().filter(|url| SignedUrl::parse(url).is_some()).collect();
    assert!(usable.is_empty(), "{usable:?}");
    assert!(NEAR.len() + PLAIN.len() + CREDENTIALED.len() + UNUSABLE.len() >= 200);
}

fn resolved(addresses: &[&str]) -> Option<Vec<String>> {
    let name: Name = "storage.example".parse().unwrap();
    let found = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0));
    let public = only_public(&name, found).ok()?;
    Some(public.into_iter().map(|address| address.ip().to_string()).collect())
}

// withstands: F123
#[test]
fn a_name_is_followed_to_its_public_addresses_only() {
    assert_eq!(resolved(&["8.8.8.8", "2600::1"]).unwrap(), ["8.8.8.8", "2600::1"]);
    assert_eq!(resolved(&["127.0.0.1", "8.8.8.8", "::1"]).unwrap(), ["8.8.8.8"]);
    assert_eq!(resolved(&["10.0.0.1", "::ffff:10.0.0.1", "64:ff9b::808:808", "2002:808:808::1"]), None);
    assert_eq!(resolved(&[]), None);
}

/// Returns every IPv6 address that embeds an IPv4 address.
fn carriers(ip: Ipv4Addr) -> Vec<Ipv6Addr> {
    let [a, b] = [0, 2].map(|at| u16::from_be_bytes([ip.octets()[at], ip.octets()[at + 1]]));
    vec![
        ip.to_ipv6_mapped(),
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, a, b),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a, b),
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, a, b),
        Ipv6Addr::new(0x2002, a, b, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, a, b, 0, 0, 0, 0),
    ]
}

proptest! {
    #[test]
    fn no_address_that_carries_another_is_public(ip: [u8; 4]) {
        for carrier in carriers(ip.into()) {
            prop_assert!(!is_public(carrier.into()), "{carrier}");
        }
    }

    #[test]
    fn whatever_the_standard_library_calls_near_is_not_public(four: [u8; 4], six: [u8; 16]) {
        let (four, six) = (Ipv4Addr::from(four), Ipv6Addr::from(six));
        let near = four.is_loopback() || four.is_private() || four.is_link_local() || four.is_unspecified()
            || four.is_multicast() || four.is_broadcast() || four.is_documentation();
        prop_assert!(!(near && is_public(four.into())), "{four}");
        let near = six.is_loopback() || six.is_unspecified() || six.is_unique_local()
            || six.is_unicast_link_local() || six.is_multicast();
        prop_assert!(!(near && is_public(six.into())), "{six}");
    }
}
