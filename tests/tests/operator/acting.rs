//! People act on the pages of a service, find what they look for, and read what was done.

use espelho_tests::{
    Kind, on_both_databases,
    pages::{answer, ready, stopped},
    shop::Order,
};

use super::set_up;

on_both_databases![
    a_row_is_decided_about_on_the_page_of_its_order_and_the_record_says_what_was_done,
    a_thing_is_found_by_what_people_write,
];

const TOKEN: &str = "an-operator-of-the-test";

/// A browser: its service, and the cookie of its session.
struct Browser {
    base: String,
    cookie: String,
}

impl Browser {
    async fn request(&self, method: &str, path: &str, form: &str) -> String {
        let (host, length) = (self.base.trim_start_matches("http://"), form.len());
        let head = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nOrigin: {}\r\n", self.base);
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        let cookie = format!("Cookie: {}\r\nContent-Length: {length}\r\n\r\n{form}", self.cookie);
        answer(&self.base, &format!("{head}{kind}{cookie}")).await
    }

    /// Gets a page, again where the database of a busy machine did not answer in time.
    async fn get(&self, path: &str) -> String {
        for _ in 0..5 {
            let page = self.request("GET", path, "").await;
            if !page.starts_with("HTTP/1.0 503") {
                return page;
            }
        }
        panic!("no answer from the database for {path}");
    }

    async fn log_in(&mut self) {
        let answer = self.request("POST", "/entrar", &format!("token={TOKEN}&next=/")).await;
        self.cookie = between(&answer, "set-cookie: ", ";").to_owned();
    }
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in\n{text}")).1;
    rest.split_once(after).unwrap_or_else(|| panic!("no {after:?} in\n{rest}")).0
}

async fn a_row_is_decided_about_on_the_page_of_its_order_and_the_record_says_what_was_done(kind: Kind) {
    let (installation, _shop) = set_up(kind, Order::many(3)).await;
    installation.resync(&[]).await.expect(0);
    let mirror = installation.mirror().await;
    for sql in [
        "INSERT INTO commands (store, kind, key, data) VALUES ('loja-1', 'order.notes', 'P00002', '{}')",
        "UPDATE commands SET state = 'doubtful', error_code = 'unprovable', error = 'e', hint = 'h'",
    ] {
        mirror.execute(sql).await;
    }
    let base = installation.write_main_with_known_port_and("operators_file = \"operators\"\n");
    installation.write("operators", &format!("ana:operator:{TOKEN}\n"));
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    let mut browser = Browser { base, cookie: String::new() };

    let order = browser.get("/pedidos/P00002").await;
    let act = between(&order, "href=\"/acao?act=happened", "\"").replace("&#38;", "&");
    let address = format!("/acao?act=happened{act}");
    let stranger = browser.get(&address).await;
    assert!(
        stranger.contains("name=\"next\" value=\"/acao?act=happened")
            && !stranger.contains("action=\"/acao\""),
        "{stranger}"
    );
    let login = browser.get("/entrar").await;
    assert!(login.contains("operators_file"), "the login says where its token comes from\n{login}");

    let form = address.trim_start_matches("/acao?").to_owned();
    let lost =
        browser.request("POST", "/acao", &format!("{form}&state=doubtful&csrf=of-a-session-before")).await;
    assert!(
        lost.starts_with("HTTP/1.0 401") && lost.contains("name=\"next\" value=\"/acao?act=happened"),
        "a session that has ended leads back to its question\n{lost}"
    );

    browser.log_in().await;
    let question = browser.get(&address).await;
    assert!(question.contains("Encerrar 1 registro") && !question.contains("Desistir"), "{question}");
    let csrf = between(&question, "name=\"csrf\" value=\"", "\"");
    let done = browser.request("POST", "/acao", &format!("{form}&csrf={csrf}")).await;
    let record = between(&done, "location: ", "\r\n").to_owned();
    let told = browser.get(&record).await;
    for words in ["Feito: 1 registro.", "Aconteceu: encerrar", "loja-1 comando", "encerrado: aconteceu"] {
        assert!(told.contains(words), "no {words:?} in\n{told}");
    }
    for made_up in ["/acoes?done=99999", "/acoes?count=99999"] {
        let page = browser.get(made_up).await;
        assert!(!page.contains("Feito") && !page.contains("99999"), "{page}");
    }
    let again = browser.get(&address).await;
    assert!(again.contains("Nada a fazer") && !again.contains("action=\"/acao\""), "{again}");
    let ignored = browser.get("/fila?state=ignored").await;
    assert!(ignored.contains("/acao?act=bring_back"), "{ignored}");
    stopped(service).await;
}

async fn a_thing_is_found_by_what_people_write(kind: Kind) {
    let mut orders = Order::many(2);
    orders.push(Order::ordinary("000000000123"));
    let (installation, _shop) = set_up(kind, orders).await;
    installation.resync(&[]).await.expect(0);
    let base = installation.write_main_with_known_port();
    let mut service = installation.start(&["run"]);
    ready(&mut service, &base).await;
    // The marketplace has no products: a pass would miss what is written before it.
    let mirror = installation.mirror().await;
    let at = "'2026-03-02T10:00:00.000000Z'";
    for sql in [
        format!(
            "INSERT INTO products (store, id, listing_hash, content_hash, mirrored_at, sku, name, price, raw) \
             VALUES ('loja-1', 'p1', 1, 1, {at}, 'TIN-07', 'Tinta Azul São', 19.9, '{{}}')"
        ),
        format!(
            "INSERT INTO order_invoices (store, order_number, id, content_hash, mirrored_at, invoice_number, raw) \
             VALUES ('loja-1', 'P00002', 'N-1', 1, {at}, '000000077', '{{}}')"
        ),
        "INSERT INTO commands (id, store, kind, key) VALUES (1323, 'loja-1', 'order.notes', 'P00002')"
            .to_owned(),
    ] {
        mirror.execute(&sql).await;
    }
    for (asked, said) in [
        ("command 1323", "command 1323"),
        ("comando 1323", "command 1323"),
        ("#P00002", "P00002"),
        ("erp_stock:TIN-07", "TIN-07"),
    ] {
        let told = installation.run(&["explain", asked]).await.expect(0);
        assert!(told.stdout.contains(said), "{asked}: {told}");
    }
    installation.run(&["explain", "commands", "1323"]).await.expect(0);
    installation.run(&["explain", "erp_stock", "TIN-07"]).await.expect(0);
    installation.run(&["explain", "nothing at all"]).await.expect(1);

    let browser = Browser { base, cookie: String::new() };
    for (asked, address) in [
        ("p00002", "/pedidos/P00002?store=loja-1"),
        ("%23P00002", "/pedidos/P00002?store=loja-1"),
        ("123", "/pedidos/000000000123?store=loja-1"),
        ("NF-e+77", "/pedidos/P00002?store=loja-1"),
        ("tin-07", "/historia/product/TIN-07?store=loja-1"),
        ("azul+s%C3%A3o", "/historia/product/TIN-07?store=loja-1"),
        ("comando+1323", "/historia/command/1323?store=loja-1"),
    ] {
        let answer = browser.get(&format!("/busca?q={asked}")).await;
        assert!(answer.contains(&format!("location: {address}\r\n")), "{asked}: {answer}");
    }
    let product = browser.get("/historia/product/TIN-07").await;
    for words in ["Tinta Azul São", "preço R$ 19,90"] {
        assert!(product.contains(words), "no {words:?} in\n{product}");
    }
    stopped(service).await;
}
