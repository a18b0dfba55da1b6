//! The pages that are lists.

use super::*;

#[test]
fn errors_are_causes_first_and_rows_of_one_cause_with_the_commands_that_mend_it() {
    let rows = [
        error_row("loja-1", "stock", "CAN-01/1", "unknown_sku"),
        error_row("loja-2", "stock", "CAN-02/1", "unknown_sku"),
        error_row("loja-1", "order", "000100", "http_500"),
    ];
    let reader = reader(Language::Portuguese);
    let causes = errors(&rows, &[], &[], &Filter::default(), &reader).html;
    assert!(
        causes.contains("href=\"/erros?causa=unknown_sku\">SKU desconhecido")
            || causes.contains("href=\"/erros?causa=unknown_sku\">não há X"),
        "{causes}"
    );
    assert!(!causes.contains("espelho retry"), "a page of all causes mends none");
    let failed = [in_trouble_of("loja-1", "failed", "unknown_sku")];
    let of_one = errors(&rows[..2], &[], &failed, &filter("causa=unknown_sku&store=loja-1"), &reader).html;
    for words in [
        "espelho ignore --all --state failed --code unknown_sku --store loja-1</code>",
        "href=\"/historia/product/CAN-01?store=loja-1\">CAN-01</a>",
        "href=\"/lojas/loja-2\">loja-2</a>",
        "confira o SKU",
        "href=\"/erros?store=loja-1\" aria-current=\"true\">unknown_sku ✕",
    ] {
        assert!(of_one.contains(words), "no {words:?} in\n{of_one}");
    }
    assert!(
        of_one.contains("act=ignore") && !of_one.contains("act=retry") && !of_one.contains("act=release"),
        "{of_one}"
    );
    assert!(errors(&[], &[], &[], &Filter::default(), &reader).html.contains("nenhum erro"));
}

#[test]
fn the_queue_and_the_deliveries_name_what_they_are_about() {
    let reader = reader(Language::Portuguese);
    let row = QueuedRow {
        store: "loja-1".into(),
        entity: "command".into(),
        key: "8".into(),
        state: "held".into(),
        code: "x".into(),
        error: EVIL.into(),
        hint: EVIL.into(),
        since: Some(at(0)),
        subject: "000100".into(),
    };
    let page = queue(&[row], &filter("state=held"), &reader).html;
    assert!(page.contains("href=\"/historia/command/8?store=loja-1\">000100</a>"), "{page}");
    assert!(page.contains("href=\"/fila?state=held\" aria-current=\"true\">") && !page.contains("alert(\""));
    let delivery = DeliveryRow {
        id: 7,
        store: "loja-1".into(),
        received_at: at(0),
        event: Some(EVIL.into()),
        handled_at: None,
    };
    let page = deliveries(&[delivery], 0, &Filter::default(), &reader).html;
    assert!(page.contains(">7<") && page.contains("na fila") && !page.contains("alert(\""), "{page}");
}

#[test]
fn late_orders_say_so_and_every_number_links() {
    let reader = reader(Language::Portuguese);
    let order = |number: &str, minute| ListedOrder {
        store: "loja-1".into(),
        number: number.into(),
        status: "preparing".into(),
        total: None,
        created_at: Some(at(0)),
        ship_by: Some(at(minute)),
    };
    let rows = [order("000100", 1), order("000200", 90)];
    let page = orders(&rows, None, &filter("list=dispatch"), at(60), &reader).html;
    assert_eq!(page.matches("<small>atrasado</small>").count(), 1);
    assert!(page.contains("href=\"/pedidos/000200?store=loja-1\">000200</a>"));
    let many: Vec<ListedOrder> = (0..=ROWS).map(|n| order(&format!("{n:06}"), 90)).collect();
    let page = orders(&many, None, &Filter::default(), at(60), &reader).html;
    assert!(page.contains("Só os primeiros 200") && page.len() < 100_000, "{} bytes", page.len());
}

#[test]
fn an_empty_list_is_not_called_empty_before_the_first_reading_has_ended() {
    let reader = reader(Language::Portuguese);
    let unread = espelho_model::text!("page-unread-begins");
    let page = found("CAN-01", &[], &[], Some(&unread), &reader).html;
    assert!(page.contains("Nada do que foi lido até agora tem o nome CAN-01: a primeira leitura"), "{page}");
    let page = orders(&[], Some(&unread), &Filter::default(), at(60), &reader).html;
    assert!(page.contains("a primeira leitura está começando") && !page.contains("nenhum pedido"), "{page}");
    assert!(
        orders(&[], None, &Filter::default(), at(60), &reader).html.contains("nenhum pedido nesta lista")
    );
}

fn in_trouble_of(store: &str, state: &str, code: &str) -> RowsInTrouble {
    RowsInTrouble {
        store: store.into(),
        entity: "stock".into(),
        state: state.into(),
        code: code.into(),
        rows: 1,
        since: None,
        key: "A/1".into(),
        error: String::new(),
        hint: String::new(),
        message: None,
    }
}

#[test]
fn the_rows_of_a_cause_are_mended_by_their_state_in_the_stores_that_are_shown() {
    let groups = [
        in_trouble_of("loja-1", "held", "many_to_zero"),
        in_trouble_of("loja-2", "failed", "many_to_zero"),
        in_trouble_of("loja-1", "doubtful", "unprovable"),
        in_trouble_of("loja-1", "done", "oversold"),
    ];
    let rows = [error_row("loja-1", "stock", "A/1", "x")];
    let reader = reader(Language::Portuguese);
    for (query, expected) in [
        ("causa=many_to_zero", "espelho release --all --code many_to_zero</code>"),
        (
            "causa=many_to_zero&store=loja-1",
            "espelho release --all --code many_to_zero --store loja-1</code>",
        ),
        ("causa=many_to_zero&store=loja-2", "espelho retry --all --code many_to_zero --store loja-2</code>"),
        ("causa=unprovable", "href=\"/fila?state=doubtful\""),
        ("causa=oversold", "espelho errors --all --code oversold</code>"),
    ] {
        let page = errors(&rows, &[], &groups, &filter(query), &reader).html;
        assert!(page.contains(expected), "no {expected} in\n{page}");
    }
    // Each row has the acts of its own state, and a question of its own.
    for (code, expected) in [
        ("many_to_zero", &["release", "ignore"][..]),
        ("unprovable", &["retry", "happened"]),
        ("oversold", &[]),
    ] {
        let row = [error_row("loja-1", "stock", "A/1", code)];
        let page = errors(&row, &[], &groups, &filter(&format!("causa={code}&store=loja-1")), &reader).html;
        let of_row = "&#38;entity=stock&#38;key=A%2F1&#38;store=loja-1";
        let acts: Vec<&str> = page
            .split("/acao?act=")
            .skip(1)
            .filter(|rest| rest.contains(of_row))
            .map(|rest| rest.split('&').next().unwrap())
            .collect();
        assert_eq!(acts, expected, "{code}");
    }
    let done = errors(&rows, &[], &groups, &filter("causa=oversold"), &reader).html;
    assert!(!done.contains("/acao?"), "what is done is not tried again\n{done}");
}

#[test]
fn a_row_of_the_queue_has_the_acts_of_its_state_and_an_ignored_one_comes_back() {
    let reader = reader(Language::Portuguese);
    let acts = |state: &str, code: &str| -> Vec<String> {
        let page = queue(&[queued(state, code)], &filter(&format!("state={state}")), &reader).html;
        page.split("/acao?act=").skip(1).map(|rest| rest.split('&').next().unwrap().to_owned()).collect()
    };
    for (state, code, expected) in [
        ("held", "price_jump", &["release", "ignore"][..]),
        ("held", "price_zero", &["ignore"]),
        ("failed", "x", &["retry", "ignore"]),
        ("doubtful", "unprovable", &["retry", "happened"]),
        ("ignored", "x", &["bring_back"]),
        ("new", "", &[]),
        ("waiting", "waiting_invoice", &[]),
    ] {
        assert_eq!(acts(state, code), expected, "{state} {code}");
    }
    let ignored = queue(&[queued("ignored", "x")], &filter("state=ignored"), &reader).html;
    assert!(ignored.contains("Trazer de volta") && ignored.contains("espelho retry --all --ignored</code>"));
    let none = queue(&[], &filter("state=ignored"), &reader).html;
    assert!(none.contains("nenhum registro com este filtro"), "{none}");
    let strange = queue(&[queued("failed", "unknown_store")], &Filter::default(), &reader).html;
    assert!(strange.contains("/acao?act=ignore&#38;state=failed&#38;causa=unknown_store\""), "{strange}");
}

#[test]
fn a_replay_is_of_the_deliveries_that_are_shown_with_their_count() {
    let reader = reader(Language::Portuguese);
    let open = deliveries(&[], 9, &filter("state=open"), &reader).html;
    assert!(open.contains("nenhum webhook com este filtro") && !open.contains("act=replay"), "{open}");
    let all = deliveries(&[], 9, &filter("store=loja-1"), &reader).html;
    for words in ["Tratar de novo 9 webhooks", "espelho webhook replay --all --store loja-1</code>"] {
        assert!(all.contains(words), "no {words:?} in\n{all}");
    }
    let many = deliveries(&[], 201, &Filter::default(), &reader).html;
    assert!(many.contains("mais de 200"), "{many}");
    let none = deliveries(&[], 0, &Filter::default(), &reader).html;
    assert!(none.contains("nenhum webhook guardado") && !none.contains("act=replay"), "{none}");
}
