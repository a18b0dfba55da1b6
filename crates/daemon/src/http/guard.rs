//! Decides who may read and who may send requests: no browser page on this machine, whatever name it came under.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{ConnectInfo, Request, State as Extract},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Redirect, Response},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::State;

/// Accepts requests that were sent to this machine by its own name: a foreign name that leads here is an attack (DNS
/// rebinding).
pub(super) async fn by_our_name(Extract(state): Extract<State>, request: Request, next: Next) -> Response {
    match names_us(request.headers(), state.listen.ip()) {
        true => next.run(request).await,
        false => {
            let why = "ask by the address of http.listen, or by localhost\n";
            (StatusCode::MISDIRECTED_REQUEST, why).into_response()
        }
    }
}

/// Accepts requests of programs on this machine. A browser names the origin of its page, and cannot send JSON elsewhere
/// without asking first, which nothing here answers.
pub(super) async fn from_this_machine(
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_json =
        headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes() == b"application/json");
    let by_browser = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if !peer.ip().to_canonical().is_loopback() || by_browser {
        return (StatusCode::FORBIDDEN, "only programs on this machine may ask for this\n").into_response();
    }
    if !is_json {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json\n").into_response();
    }
    next.run(request).await
}

/// Accepts forms of our own pages: a browser says where a form came from, and no other site can say the same.
pub(super) async fn from_our_page(request: Request, next: Next) -> Response {
    match is_our_page(request.headers()) {
        true => next.run(request).await,
        false => (StatusCode::FORBIDDEN, "send this form from the page itself\n").into_response(),
    }
}

/// Accepts readers on this machine, and operators who have logged in. An installation without operators trusts its
/// network, as `http.listen` says.
pub(super) async fn may_read(
    Extract(state): Extract<State>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let is_trusted = peer.ip().to_canonical().is_loopback() || !state.operators.is_configured();
    let is_open = is_open(request.method(), request.uri().path());
    if is_trusted || is_open || state.session(request.headers()).is_some() {
        return next.run(request).await;
    }
    match request.uri().path() {
        "/status" => (StatusCode::UNAUTHORIZED, "log in at /entrar\n").into_response(),
        _ => Redirect::to(&login_before(request.uri())).into_response(),
    }
}

/// Tells whether a request looks for the session itself: an act does nothing without one, and knows the question to which
/// the login leads back.
fn is_open(method: &Method, path: &str) -> bool {
    method == Method::POST && path == "/acao"
}

/// Returns the address of the login that leads to a page.
fn login_before(page: &Uri) -> String {
    let page = page.path_and_query().map_or("/", |page| page.as_str());
    format!("/entrar?next={}", utf8_percent_encode(page, NON_ALPHANUMERIC))
}

/// Tells whether a form came from a page of the address that it is sent to.
fn is_our_page(headers: &HeaderMap) -> bool {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(host), Some(origin)) = (text(header::HOST), text(header::ORIGIN)) else { return false };
    let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    page.is_some_and(|page| page.eq_ignore_ascii_case(host))
}

fn names_us(headers: &HeaderMap, listen: IpAddr) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    host.to_str().is_ok_and(|host| is_ours(host, listen))
}

fn is_ours(host: &str, listen: IpAddr) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match name.parse::<IpAddr>() {
        // A service that listens everywhere accepts any of its addresses; an address cannot be rebound.
        Ok(address) => address.is_loopback() || address == listen || listen.is_unspecified(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F131
    #[test]
    fn only_names_of_this_machine_and_the_configured_address_are_ours() {
        let check = |listen: &str, host: &str, ours| {
            assert_eq!(is_ours(host, listen.parse().unwrap()), ours, "{host} on {listen}");
        };
        for host in ["localhost", "LOCALHOST:8787", "127.0.0.1:8787", "127.9.9.9", "[::1]:8787"] {
            check("127.0.0.1", host, true);
        }
        for host in [
            "",
            "evil.example:8787",
            "localhost.evil.example",
            "10.0.0.9",
            "127.0.0.1.evil.example",
            "[::2]",
            "[",
        ] {
            check("127.0.0.1", host, false);
        }
        check("10.0.0.9", "10.0.0.9:8787", true);
        check("10.0.0.9", "10.0.0.8:8787", false);
        check("0.0.0.0", "10.0.0.8:8787", true);
        check("0.0.0.0", "evil.example", false);
    }

    #[test]
    fn only_an_act_looks_for_the_session_itself() {
        for (method, path, expected) in [
            (Method::POST, "/acao", true),
            (Method::GET, "/acao", false),
            (Method::HEAD, "/acao", false),
            (Method::POST, "/acao/", false),
            (Method::POST, "/", false),
            (Method::POST, "/status", false),
            (Method::GET, "/acoes", false),
        ] {
            assert_eq!(is_open(&method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn a_login_leads_to_the_page_that_was_asked_for() {
        for (page, expected) in [
            ("/", "/entrar?next=%2F"),
            ("/erros?causa=x&store=a", "/entrar?next=%2Ferros%3Fcausa%3Dx%26store%3Da"),
        ] {
            assert_eq!(login_before(&page.parse().unwrap()), expected);
        }
    }

    // withstands: F131
    #[test]
    fn a_form_comes_from_a_page_of_the_same_address() {
        for (host, origin, ours) in [
            ("localhost:8787", Some("http://localhost:8787"), true),
            ("10.0.0.9", Some("https://10.0.0.9"), true),
            ("localhost:8787", Some("http://localhost:9999"), false),
            ("localhost:8787", Some("http://evil.example"), false),
            ("localhost:8787", Some("null"), false),
            ("localhost:8787", None, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            origin
                .into_iter()
                .for_each(|origin| drop(headers.insert(header::ORIGIN, origin.parse().unwrap())));
            assert_eq!(is_our_page(&headers), ours, "{origin:?}");
        }
    }

    // withstands: F131
    #[test]
    fn a_request_without_a_host_or_with_two_is_nobodys() {
        let listen = IpAddr::from([127, 0, 0, 1]);
        let mut headers = HeaderMap::new();
        assert!(!names_us(&headers, listen));
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(names_us(&headers, listen));
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert!(!names_us(&headers, listen));
    }
}
