//! The pages as a browser gets them: what they show, what they never contain, and how large they are.

use std::collections::BTreeMap;

use espelho_model::text::{Language, Locale};
use espelho_store::{
    Action, DeliveryRow, Event, FailureGroup, Figures, Happened, ListedOrder, MirroredLevel, MirroredProduct,
    NewAction, QueuedRow, RowsInTrouble, TroubledRow,
};

use super::*;
use crate::{
    acts::{Act, Asked, Preview, PreviewRow},
    alarms::{Beat, Hour, MINUTES, ShownAlarm},
    knowledge::Knowledge,
    operators::Role,
    sessions::Session,
    status::{
        StatusSnapshot, StoreSnapshot,
        specimen::{self, at},
        wanted_specimen,
    },
};

mod lists;

const EVIL: &str = "<script>alert(\"1\")</script>'&\u{1b}[2J\u{202e}";

fn reader(language: Language) -> Reader {
    Reader {
        locale: Locale::of(language),
        path: "/".into(),
        is_paused: false,
        session: None,
        can_log_in: false,
    }
}

fn figures() -> Figures {
    Figures {
        dispatch: 12,
        late: 2,
        first_late: vec![("loja-1".into(), "000100".into(), at(0))],
        awaiting_invoice: 4,
        not_taken: 3,
        erp_takes: true,
        by_status: vec![("preparing".into(), 40), ("teleported".into(), 2)],
        by_hour: vec![("ship_by".into(), vec![2, 0, 5, 5, 0, 0, 0, 0, 0])],
        first_in_trouble: vec![TroubledRow {
            store: "loja-2".into(),
            entity: "stock".into(),
            key: "CAN-01/3".into(),
            state: "failed".into(),
            code: "unknown_sku".into(),
            ..TroubledRow::default()
        }],
    }
}

fn shown(snapshot: &StatusSnapshot, reader: &Reader) -> Page {
    let hour: Hour = [Some(Beat::Proved); MINUTES];
    let hours: BTreeMap<String, Hour> =
        snapshot.stores.iter().map(|store| (store.store.clone(), hour)).collect();
    let figures = figures();
    overview(&Overview { snapshot, figures: Some(&figures), hours: &hours, is_one_store: false }, reader)
}

/// Returns a store with something in every table.
fn full_store(key: &str) -> StoreSnapshot {
    let mut store = specimen::store(key);
    store.wanted = vec![wanted_specimen(2, 1, 0)];
    store.failures = vec![FailureGroup {
        entity: "stock".into(),
        code: "unknown_sku".into(),
        rows: 2,
        error: "não há X".into(),
        hint: "confira o SKU".into(),
    }];
    store
}

fn alarm(code: &str, cause: &str, store: Option<&str>) -> ShownAlarm {
    ShownAlarm {
        code: code.into(),
        cause: cause.into(),
        count: 7,
        ..specimen::failing(store, "sem resposta")
    }
}

fn in_trouble() -> StatusSnapshot {
    let mut snapshot = specimen::snapshot(vec![full_store("loja-1"), full_store("loja-2")]);
    snapshot.state = "failing".into();
    snapshot.alarms = vec![
        alarm("failed", "unknown_sku", Some("loja-1")),
        alarm("failed", "unknown_sku", Some("loja-2")),
        alarm("deadline", "ship_by", Some("loja-1")),
    ];
    snapshot
}

#[test]
fn the_first_page_says_the_verdict_with_its_proof_four_numbers_and_what_to_do() {
    let page = shown(&in_trouble(), &reader(Language::Portuguese)).html;
    for words in [
        "<title>✗ espelho: 3 com problema</title>",
        "<h1>3 problemas</h1>",
        "marketplace respondeu há 0 s",
        "Despachar hoje",
        "2 atrasados: <a href=\"/pedidos/000100?store=loja-1\">000100</a> e mais 1",
        "Esperando NF-e",
        "ERP → loja",
        "Loja → ERP",
        "Para fazer agora",
        "<b>14</b> × <a href=\"/erros?causa=unknown_sku\">SKU desconhecido</a>: <a class=\"thing\" \
         href=\"/historia/product/CAN-01?store=loja-2\">CAN-01/3</a> e mais 13</h3>",
        "<code>failed</code> <code>unknown_sku</code></p>",
        "<span>há 60 min</span> <span>há 30 min</span> <span>agora</span>",
        "href=\"/acao?act=ignore&#38;state=failed&#38;causa=unknown_sku\">Desistir</a>",
        "espelho ignore --all --state failed --code unknown_sku</code>",
        "<a href=\"/lojas/loja-2\">loja-2</a>",
        "dos últimos 60 minutos, 60 em dia",
        "Em preparação",
        "teleported",
        "Despacho: 2 vencidos e 10 nas próximas 24 horas.",
        "<details id=\"behind\">",
    ] {
        assert!(page.contains(words), "no {words:?} in\n{page}");
    }
    let at = |words: &str| page.find(words).unwrap();
    assert!(
        at("<h1>") < at("Despachar")
            && at("Despachar") < at("Para fazer")
            && at("Para fazer") < at("60 minutos")
    );
}

#[test]
fn a_page_speaks_one_language() {
    let [pt, en] =
        [Language::Portuguese, Language::English].map(|one| shown(&in_trouble(), &reader(one)).html);
    assert!(pt.contains("lang=\"pt-BR\"") && !pt.contains("To do now") && !pt.contains("Copied"));
    assert!(en.contains("lang=\"en\"") && en.contains("To do now") && !en.contains("Para fazer"));
}

// withstands: F131
#[test]
fn whatever_others_say_is_shown_as_text() {
    let mut store = full_store(EVIL);
    store.holder.as_mut().unwrap().owner = EVIL.into();
    store.last_run.as_mut().unwrap().state = EVIL.into();
    let mut snapshot = specimen::snapshot(vec![store]);
    snapshot.alarms = vec![alarm(EVIL, EVIL, Some(EVIL)), alarm("held", EVIL, Some(EVIL))];
    for alarm in &mut snapshot.alarms {
        (alarm.text, alarm.next) = (EVIL.into(), EVIL.into());
    }
    snapshot.unproved = vec![EVIL.into()];
    let evil_figures = Figures {
        first_late: vec![(EVIL.into(), EVIL.into(), at(0))],
        by_status: vec![(EVIL.into(), 1)],
        first_in_trouble: vec![TroubledRow {
            store: EVIL.into(),
            entity: EVIL.into(),
            key: EVIL.into(),
            state: "held".into(),
            code: EVIL.into(),
            ..TroubledRow::default()
        }],
        ..figures()
    };
    let hours = BTreeMap::new();
    let seen =
        Overview { snapshot: &snapshot, figures: Some(&evil_figures), hours: &hours, is_one_store: false };
    let reader = Reader { path: "/lojas/x".into(), ..reader(Language::Portuguese) };
    for page in [overview(&seen, &reader), unknown_store(EVIL, &reader)] {
        let html = page.html;
        assert_eq!(html.matches("<script").count(), 1, "our own, from our own file\n{html}");
        assert!(
            !html.contains('\u{1b}') && !html.contains('\u{202e}') && !html.contains("alert(\""),
            "{html}"
        );
    }
}

// withstands: F131
#[test]
fn nothing_is_fetched_from_elsewhere_and_nothing_is_inline() {
    let page = shown(&in_trouble(), &reader(Language::Portuguese)).html;
    for word in ["http://", "https://", "style=", "<style", "onclick", "javascript:", "src=\"//"] {
        assert!(!page.contains(word), "{word} in\n{page}");
    }
    assert!(page.contains("<script defer src=\"/assets/page-") && page.contains("href=\"/assets/page-"));
}

#[test]
fn a_page_renews_itself_until_its_reader_pauses_it() {
    let page = shown(&in_trouble(), &reader(Language::Portuguese)).html;
    assert!(page.contains("data-renew=\"5\"") && page.contains("<noscript><meta http-equiv=\"refresh\""));
    assert!(page.contains("href=\"/?pause=1\">Pausar"));
    let paused = Reader { path: "/?pause=1".into(), is_paused: true, ..reader(Language::Portuguese) };
    let page = shown(&in_trouble(), &paused).html;
    assert!(!page.contains("data-renew") && !page.contains("http-equiv=\"refresh\""));
    assert!(page.contains("href=\"/\">Continuar"));
}

#[test]
fn the_same_page_has_the_same_tag_and_a_change_is_one_part() {
    let reader = reader(Language::Portuguese);
    let (one, two) = (shown(&in_trouble(), &reader), shown(&in_trouble(), &reader));
    assert_eq!(one.etag, two.etag);
    let mut changed = in_trouble();
    changed.alarms.pop();
    let three = shown(&changed, &reader);
    assert_ne!(one.etag, three.etag);
    let parts = |page: &Page| -> Vec<String> {
        page.html.split("data-etag=\"").skip(1).map(|part| part[..16].to_owned()).collect()
    };
    let differ: Vec<bool> = parts(&one).iter().zip(parts(&three)).map(|(a, b)| *a != b).collect();
    assert_eq!(differ, [true, false, true, false, false, false], "verdict and to-do");
}

#[test]
fn with_thousands_of_stores_the_page_stays_below_100_kilobytes() {
    let mut stores: Vec<StoreSnapshot> = (0..3_000).map(|n| full_store(&format!("loja-{n}"))).collect();
    stores[2_999].store = "a-pior".into();
    let mut snapshot = specimen::snapshot(stores);
    snapshot.alarms = (0..500).map(|n| alarm("failed", &format!("cause_{n}"), Some("a-pior"))).collect();
    let page = shown(&snapshot, &reader(Language::Portuguese)).html;
    assert!(page.len() < 100_000, "{} bytes", page.len());
    assert!(page.contains("e mais 2.950"), "it says how many it leaves out");
    assert!(page.contains("href=\"/lojas/a-pior\""), "what fails stands first");
}

fn error_row(store: &str, entity: &str, key: &str, code: &str) -> espelho_store::ErrorRow {
    let [store, entity, key, code, error, hint] =
        [store, entity, key, code, "não há X", "confira o SKU"].map(str::to_owned);
    espelho_store::ErrorRow {
        store,
        entity,
        key,
        code,
        error,
        hint,
        at: Some(at(0)),
        kind: None,
        subject: None,
        message_id: None,
    }
}

fn filter(pairs: &str) -> Filter {
    let mut filter = Filter::default();
    for (name, value) in pairs.split('&').filter_map(|pair| pair.split_once('=')) {
        let value = Some(value.to_owned());
        match name {
            "store" => filter.store = value,
            "causa" => filter.causa = value,
            "state" => filter.state = value,
            "list" => filter.list = value,
            other => panic!("{other}"),
        }
    }
    filter
}

#[test]
fn a_search_leads_to_the_only_answer_and_offers_what_is_written_alike() {
    let row = |entity: &str, key: &str| ("loja-1".to_owned(), entity.to_owned(), key.to_owned());
    assert_eq!(only_answer(&[row("order", "1")]).as_deref(), Some("/pedidos/1?store=loja-1"));
    assert_eq!(
        only_answer(&[row("stock", "A/B/1")]).as_deref(),
        Some("/historia/product/A%2FB?store=loja-1")
    );
    assert_eq!(only_answer(&[row("order", "1"), row("command", "1")]), None);
    let page = found(EVIL, &[], &["CAN-01".into()], None, &reader(Language::Portuguese)).html;
    assert!(page.contains("href=\"/busca?q=CAN-01\">CAN-01</a>") && !page.contains("alert(\""), "{page}");
}

fn knowledge(key: &str) -> Knowledge {
    let taken = Happened::Taken { erp_id: Some(EVIL.into()), note: Some(EVIL.into()) };
    let moved =
        Happened::Moved { from: Some("paid".into()), to: Some("preparing".into()), description: None };
    Knowledge {
        store: espelho_model::StoreKey::new("loja-1").unwrap(),
        entity: "order".into(),
        key: key.into(),
        row: None,
        missing: None,
        errors: vec![error_row("loja-1", "order", key, "http_500")],
        changes: Vec::new(),
        intent: None,
        events: vec![Event { at: at(0), what: moved }, Event { at: at(1), what: taken }],
        test_heard_at: None,
        waiting: Vec::new(),
    }
}

#[test]
fn an_order_is_one_timeline_the_newest_first_with_its_labels_and_a_block_for_support() {
    let (knowledge, labels) = (knowledge("000100"), [("9".to_owned(), false), ("8".to_owned(), true)]);
    let seen =
        Story { knowledge: &knowledge, order: None, product: None, rows: &[], labels: &labels, now: at(60) };
    let page = story(&seen, &reader(Language::Portuguese)).html;
    for words in [
        "<h1 class=\"page\">pedido 000100",
        "marketplace: pago → em preparação",
        "falha: não há X (http_500)",
        "href=\"/pedidos/000100/etiquetas/9?store=loja-1\">etiqueta 9</a>",
        "sem valor",
        "espelho explain order 000100 --store loja-1",
        "moved paid &#62; preparing",
        "taken by the ERP",
    ] {
        assert!(page.contains(words), "no {words:?} in\n{page}");
    }
    assert!(page.find("o ERP pegou").unwrap() < page.find("marketplace: pago").unwrap());
    assert!(!page.contains("alert(\"") && !page.contains('\u{1b}'));
    let evil = self::knowledge(EVIL);
    let labels = [(EVIL.into(), false)];
    let seen =
        Story { knowledge: &evil, order: None, product: None, rows: &[], labels: &labels, now: at(60) };
    let page = story(&seen, &reader(Language::English)).html;
    assert!(
        page.matches("<script").count() == 1 && !page.contains('\u{1b}') && !page.contains("linha do tempo")
    );
}

#[test]
fn what_does_not_exist_has_a_page_with_a_next_step() {
    let reader = reader(Language::Portuguese);
    let stores = [("loja-1".to_owned(), "/pedidos/1?store=loja-1".to_owned())];
    for (page, words) in [
        (unknown_thing(EVIL, &reader), "href=\"/busca?q="),
        (which_store("1", &stores, &reader), "href=\"/pedidos/1?store=loja-1\""),
        (no_such_page(&reader), "href=\"/\""),
        (unavailable(&reader), "href=\"/\""),
        (unknown_store("x", &reader), "href=\"/\""),
    ] {
        assert!(page.html.contains(words) && !page.html.contains("alert(\""), "no {words} in\n{}", page.html);
    }
}

fn operator(role: Role) -> Reader {
    let session = Session { name: EVIL.into(), role, csrf: "c5rf".into() };
    Reader { session: Some(session), can_log_in: true, ..reader(Language::Portuguese) }
}

#[test]
fn an_act_is_asked_for_once_more_and_only_an_operator_gets_the_form() {
    // A key is sent back as it came, letter for letter.
    let causa = "<script>alert(\"1\")</script>'&".to_owned();
    let asked = Asked { act: "retry".into(), causa, ..Asked::default() };
    let known = [espelho_model::StoreKey::new("loja-1").unwrap()];
    let act = Act::read(&asked, &known).unwrap();
    let preview = || Preview {
        question: espelho_model::text!("page-act-retry", count = 70),
        count: 70,
        rows: vec![PreviewRow {
            recorded: EVIL.into(),
            command: Some(("order.status 000100".into(), r#"{"status":"shipped"}"#.into())),
        }],
        state: None,
        seen: Some(at(0)),
    };
    let page = confirm(&asked, &act, &preview(), &operator(Role::Operator)).html;
    for words in [
        "Tentar de novo 70 registros?",
        "mudar a situação do pedido 000100: situação Enviado",
        "<form method=\"post\" action=\"/acao\">",
        "name=\"csrf\" value=\"c5rf\"",
        "name=\"act\" value=\"retry\"",
        "name=\"seen\" value=\"",
        "espelho retry --all --code",
        "e mais 69",
    ] {
        assert!(page.contains(words), "no {words:?} in\n{page}");
    }
    assert!(page.matches("<script").count() == 1 && !page.contains('\u{1b}'), "{page}");
    let nothing = Preview { count: 0, rows: Vec::new(), ..preview() };
    let page = confirm(&asked, &act, &nothing, &operator(Role::Operator)).html;
    assert!(page.contains("Nada a fazer") && !page.contains("action=\"/acao\""), "{page}");
    let stranger = reader(Language::Portuguese);
    let logged_out = Reader { can_log_in: true, ..stranger.clone() };
    for (reader, words) in [
        (&operator(Role::Viewer), "só pode ver"),
        (&logged_out, "action=\"/entrar\"><input type=\"hidden\" name=\"next\" value=\"/\""),
        (&stranger, "operators_file"),
    ] {
        let page = confirm(&asked, &act, &preview(), reader).html;
        assert!(page.contains(words) && !page.contains("action=\"/acao\""), "no {words} in\n{page}");
        assert!(page.contains("espelho retry --all"), "the command line does the same");
    }
}

#[test]
fn what_was_done_says_who_when_before_and_after() {
    let new = NewAction {
        actor: EVIL.into(),
        act: "release".into(),
        store: String::new(),
        command: "espelho release --all --code x".into(),
        before: "a stock A/1\nb stock B/1\nc\nd".into(),
    };
    let ended = Action {
        id: 2,
        at: at(1),
        new: NewAction { act: "happened".into(), before: "loja-1 command 8".into(), ..new.clone() },
        after: Some("ignored".into()),
        count: Some(3),
    };
    let actions = [ended, Action { id: 1, at: at(0), new, after: None, count: None }];
    let name = ["loja-1", "command", "8"].map(str::to_owned);
    assert!(shown_rows(&actions).contains(&name), "its state is asked for");
    let states = BTreeMap::from([(name, "failed".to_owned())]);
    let page = acts(&actions, Some(&states), Some(2), &operator(Role::Operator)).html;
    for words in [
        "Feito: 3 registros.",
        "Aconteceu: encerrar",
        "loja-1 comando 8",
        "encerrado: aconteceu",
        "agora: falhou",
        "espelho release --all --code x",
        "a estoque A/1 · b estoque B/1 · c … +1",
        "interrompido",
    ] {
        assert!(page.contains(words), "no {words:?} in\n{page}");
    }
    assert!(!page.contains("alert(\""));
    // The address is no record of an act of the reader.
    for (done, reader) in [
        (Some(1), operator(Role::Operator)),
        (Some(99), operator(Role::Operator)),
        (Some(2), reader(Language::Portuguese)),
        (None, operator(Role::Operator)),
    ] {
        let page = acts(&actions, None, done, &reader).html;
        assert!(!page.contains("Feito:") && !page.contains("agora:"), "{done:?}");
    }
    assert!(login(EVIL, None, &operator(Role::Viewer)).html.contains("type=\"password\""));
}

fn queued(state: &str, code: &str) -> QueuedRow {
    QueuedRow {
        store: "loja-1".into(),
        entity: "command".into(),
        key: "8".into(),
        state: state.into(),
        code: code.into(),
        error: "e".into(),
        hint: "h".into(),
        since: Some(at(0)),
        subject: "000100".into(),
    }
}

#[test]
fn a_product_shows_its_name_its_price_and_its_stock() {
    let mut knowledge = knowledge("CAN-01");
    knowledge.entity = "product".into();
    let product = MirroredProduct {
        name: "Caneta azul".into(),
        unit: "un".into(),
        price: "19.9".parse().ok(),
        is_for_sale: Some(true),
        tiers: vec![(10, "17".parse().ok())],
        levels: vec![MirroredLevel {
            location: "1".into(),
            name: "Depósito".into(),
            quantity: "7".parse().ok(),
            reserved: "2".parse().ok(),
            available: None,
        }],
    };
    let rows = [queued("failed", "x")];
    let seen = Story {
        knowledge: &knowledge,
        order: None,
        product: Some(&product),
        rows: &rows,
        labels: &[],
        now: at(60),
    };
    let page = story(&seen, &reader(Language::Portuguese)).html;
    for words in [
        "Caneta azul",
        "preço R$ 19,90 un",
        "à venda",
        "a partir de 10: R$ 17,00",
        "Depósito: 7 em estoque, 2 reservados, – disponíveis",
        "Para decidir",
        "href=\"/acao?act=retry&#38;entity=command&#38;key=8&#38;store=loja-1\"",
    ] {
        assert!(page.contains(words), "no {words:?} in\n{page}");
    }
}

#[test]
fn a_page_has_what_its_script_shows_while_no_answer_comes() {
    let page = shown(&in_trouble(), &reader(Language::Portuguese)).html;
    assert!(
        page.contains("data-unknown=\"Estado desconhecido desde\" data-unknown-icon=\"data:image/svg+xml,")
    );
}
