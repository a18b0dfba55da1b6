//! The page at `/`, for people who found the sandbox with a browser; and the description at `/openapi.json`.
//!
//! The page has no script and loads nothing: every control endpoint is a command to copy.

mod portuguese;

use hyper::{
    Method,
    header::{CONTENT_SECURITY_POLICY, HeaderValue},
};

use crate::{
    answer::Answer,
    control::{
        endpoint::{ControlEndpoint, PREFIX},
        endpoints,
    },
    openapi::openapi,
    store::{Store, StoreAccess},
    world::World,
};

const PAGE: &str = include_str!("page.html");

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The stores that are spelled out.
const SHOWN: usize = 20;

/// The answer of a path that is no part of the API and is not counted.
pub(crate) fn of(world: &World, method: &Method, path: &str) -> Option<Answer> {
    if method != Method::GET && method != Method::HEAD {
        return None;
    }
    match path {
        "/" => {
            let mut answer = Answer::json(200, write(world).into_bytes());
            answer.content_type = HeaderValue::from_static("text/html; charset=utf-8");
            answer.headers.push((CONTENT_SECURITY_POLICY, POLICY));
            Some(answer)
        }
        "/openapi.json" => Some(Answer::json(200, openapi().as_bytes().to_vec())),
        _ => None,
    }
}

fn write(world: &World) -> String {
    let base = &world.address.get().map(|address| format!("http://{address}")).unwrap_or_default();
    let stores: Vec<StoreAccess> = world.stores.iter().take(SHOWN).map(Store::access).collect();
    let first = stores.first();
    let login = first.map(|access| login(base, access)).unwrap_or_default();
    let first_call =
        format!("curl -s '{base}/api/v1/sellers/orders?limit=3' -H \"Authorization: Bearer $TOKEN\"");
    let listed = if world.options.control { write_endpoints(base, first) } else { without_endpoints() };
    PAGE.replace("{{stores}}", &stores.iter().map(row).collect::<String>())
        .replace("{{more}}", &more(world.stores.len()))
        .replace("{{login}}", &escaped(&login))
        .replace("{{first_call}}", &escaped(&first_call))
        .replace("{{controls}}", &listed)
}

fn row(access: &StoreAccess) -> String {
    let StoreAccess { key, name, username, password } = access;
    let [key, name, username, password] = [key, name, username, password].map(|text| escaped(text));
    format!(
        "<tr><td>{key}</td><td>{name}</td><td><code>{username}</code></td><td><code>{password}</code></td></tr>\n"
    )
}

fn more(stores: usize) -> String {
    match stores.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("<p>e mais {more} lojas <span lang=\"en\">and {more} stores more</span></p>\n"),
    }
}

fn login(base: &str, StoreAccess { username, password, .. }: &StoreAccess) -> String {
    let body = serde_json::json!({"username": username, "password": password});
    let body = quoted(&body.to_string());
    format!("curl -s {base}/api/integration/auth -H 'Content-Type: application/json' -d {body}")
}

fn without_endpoints() -> String {
    "<div class=\"note\"><p>Inicie com <code>espelho sandbox --control</code> para mudar o mundo por aqui: \
     novos pedidos, relógio, falhas, webhooks.</p><p lang=\"en\">Start with <code>--control</code> to change the \
     world from here: new orders, the clock, faults, webhooks.</p></div>"
        .to_owned()
}

/// Every control endpoint under its subject, in the order of the list.
fn write_endpoints(base: &str, first: Option<&StoreAccess>) -> String {
    let mut groups: Vec<((&str, &str), Vec<&ControlEndpoint>)> = Vec::new();
    for endpoint in endpoints::all() {
        let title = title(endpoint.path.split('/').next().unwrap_or_default());
        match groups.iter_mut().find(|(other, _)| *other == title) {
            Some((_, group)) => group.push(endpoint),
            None => groups.push((title, vec![endpoint])),
        }
    }
    let mut html = String::new();
    for ((portuguese, english), group) in groups {
        html += &format!("<h3>{} <span lang=\"en\">{}</span></h3>\n", escaped(portuguese), escaped(english));
        html.extend(group.into_iter().map(|endpoint| write_endpoint(base, first, endpoint)));
    }
    html
}

/// The subject of a control endpoint in two languages, from the first part of its path.
fn title(subject: &'static str) -> (&'static str, &'static str) {
    match subject {
        "" => ("Todas", "All of them"),
        "stats" => ("Estatísticas", "Statistics"),
        "journal" => ("Diário", "Journal"),
        "clock" => ("Relógio", "Clock"),
        "faults" => ("Falhas", "Faults"),
        "orders" => ("Pedidos", "Orders"),
        "shipments" | "labels" => ("Remessas e etiquetas", "Shipments and labels"),
        "stores" | "features" => ("Lojas", "Stores"),
        "credentials" | "tokens" => ("Credenciais", "Credentials"),
        "webhooks" | "webhook" | "deliveries" => ("Webhooks", "Webhooks and deliveries"),
        "occurrences" | "conversations" => ("Atendimento", "Service desk"),
        "campaigns" => ("Campanhas", "Campaigns"),
        "price-lists" => ("Listas de preços", "Price lists"),
        "products" | "stock" | "prices" => ("Produtos", "Products"),
        "items" | "listings" | "publications" => ("Anúncios", "Listings"),
        "media" | "gallery" | "storage" => ("Imagens e arquivos", "Media and files"),
        other => (other, ""),
    }
}

fn write_endpoint(base: &str, first: Option<&StoreAccess>, endpoint: &ControlEndpoint) -> String {
    let (method, says) = (endpoint.method, escaped(endpoint.description));
    let portuguese = portuguese::says(&name(endpoint)).map(|says| format!("<p>{}</p>", escaped(says)));
    let portuguese = portuguese.unwrap_or_default();
    let path = escaped(&format!("{PREFIX}{}", endpoint.path));
    let command = escaped(&command(base, first, endpoint));
    format!(
        "<div class=\"control\"><span class=\"method\">{method}</span> <code>{path}</code>\
         {portuguese}<p lang=\"en\">{says}</p><pre><code>{command}</code></pre></div>\n"
    )
}

fn name(endpoint: &ControlEndpoint) -> String {
    format!("{} {}", endpoint.method, endpoint.path)
}

/// A command that works as it is where the path names no more than the first store.
fn command(base: &str, first: Option<&StoreAccess>, endpoint: &ControlEndpoint) -> String {
    let mut path = endpoint.path.to_owned();
    if let Some(StoreAccess { key, username, .. }) = first {
        path = path.replace("{store}", key).replace("{username}", username);
    }
    let method = if endpoint.method == "GET" { String::new() } else { format!("-X {} ", endpoint.method) };
    let body = example(endpoint.description).map(|body| format!(" -d {}", quoted(body))).unwrap_or_default();
    format!("curl -s {method}{}{body}", quoted(&format!("{base}{PREFIX}{path}")))
}

/// The body that a control endpoint's sentence gives by example.
fn example(says: &str) -> Option<&str> {
    let body = says.get(says.find('{')?..=says.rfind('}')?)?;
    serde_json::from_str::<serde_json::Value>(body).is_ok().then_some(body)
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::{endpoints, escaped, example, name, portuguese, quoted};

    #[test]
    fn text_from_outside_cannot_become_markup_or_leave_its_word() {
        assert_eq!(escaped("<b a=\"x\">&'"), "&lt;b a=&quot;x&quot;&gt;&amp;&#39;");
        assert_eq!(quoted("d'Ávila"), r"'d'\''Ávila'");
    }

    #[test]
    fn every_endpoint_speaks_portuguese() {
        for endpoint in endpoints::all() {
            assert!(portuguese::says(&name(endpoint)).is_some(), "{}", name(endpoint));
        }
    }

    #[test]
    fn every_endpoint_that_gives_a_body_gives_one_that_is_json() {
        for endpoint in endpoints::all() {
            assert_eq!(
                endpoint.description.contains('{'),
                example(endpoint.description).is_some(),
                "{}",
                endpoint.description
            );
        }
    }
}
