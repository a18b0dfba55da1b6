//! Tests of what is a person's, and of the object without it.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::privacy::Policy;

const NAME: &str = "Canária Ninguém";

fn redacted(name: &str, json: &str) -> String {
    Person::of(json).redact(name, json)
}

#[test]
fn of_an_order_the_person_goes_and_everything_else_stays_to_the_byte() {
    for (given, expected, why) in [
        (
            r#"{"customer":{"id":7,"name":"Ana Lima","city":"Recife","state":"PE"},"total_order":10.50}"#,
            r#"{"customer":{"id":null,"name":null,"city":"Recife","state":"PE"},"total_order":10.50}"#,
            "city and amounts stay",
        ),
        (
            r#"{"order_number":"1","totals":{"order":1e2},"items":[{"id":1,"name":"Caneca","unit_price":9.955}]}"#,
            r#"{"order_number":"1","totals":{"order":1e2},"items":[{"id":1,"name":"Caneca","unit_price":9.955}]}"#,
            "lines stay, and numbers are not rewritten",
        ),
        (
            r#"{"customer_id":7,"customer_uid":"01J","customer_name":"Ana","customer_city":"Recife"}"#,
            r#"{"customer_id":null,"customer_uid":null,"customer_name":null,"customer_city":"Recife"}"#,
            "loose members are a person's too",
        ),
        (
            r#"{"customer_data_released":true,"notes":"ligar antes","notes2":null}"#,
            r#"{"customer_data_released":true,"notes":null,"notes2":null}"#,
            "a flag tells of nobody, a note may",
        ),
        (
            r#"{"shipping":{"carrier_name":"Correios","address":{"street":"Rua A","number":"5","city":"Recife","zip_code":"50000"}}}"#,
            r#"{"shipping":{"carrier_name":"Correios","address":{"street":null,"number":null,"city":"Recife","zip_code":null}}}"#,
            "the freight stays",
        ),
        (
            r#"{"shipping":{"display_name":"PAC","street":"Rua A","number":5,"complement":"ap 1","cep":"50000","uf":"PE","deadline":"2026-11-27"}}"#,
            r#"{"shipping":{"display_name":"PAC","street":null,"number":null,"complement":null,"cep":null,"uf":"PE","deadline":"2026-11-27"}}"#,
            "an address is known by its street",
        ),
        (
            r#"{"pickup_address":{"street":"Rua da Loja","number":1},"store":{"id":1,"name":"Loja"},"carrier":{"id":1,"name":"C"}}"#,
            r#"{"pickup_address":{"street":"Rua da Loja","number":1},"store":{"id":1,"name":"Loja"},"carrier":{"id":1,"name":"C"}}"#,
            "a business is no person",
        ),
        (
            r#"{"entrega":{"destinatario":{"nome":"Ana","fones":["1","2"],"x":{"y":[{"z":"Ana"}]}}}}"#,
            r#"{"entrega":{"destinatario":{"nome":null,"fones":[null,null],"x":{"y":[{"z":null}]}}}}"#,
            "whatever is nested in a person goes",
        ),
        (
            r#"{"recipient":"Ana Lima","shippingAddress":{"line1":"Rua A"},"metadata":{"ip":"10.0.0.1"}}"#,
            r#"{"recipient":null,"shippingAddress":{"line1":null},"metadata":{"ip":null}}"#,
            "unknown shapes of known names",
        ),
        (
            r#"{"access_key":"35260812345678000195550010000001231000001234","invoice_number":"123","value":"10.00"}"#,
            r#"{"access_key":"35260812345678000195550010000001231000001234","invoice_number":"123","value":"10.00"}"#,
            "the law makes keep fiscal numbers",
        ),
        (r#"{"a":"","name":""}"#, r#"{"a":"","name":""}"#, "nothing to take"),
        ("no json", "{}", "what nobody can read goes"),
    ] {
        assert_eq!(redacted("", given), expected, "{why}");
    }
}

#[test]
fn the_member_or_column_that_holds_an_object_says_what_its_members_are() {
    let given = r#"{"name":"Ana","description":"azul","notes":"para Ana"}"#;
    for (name, expected) in [
        ("items", r#"{"name":"Ana","description":"azul","notes":null}"#),
        ("metadata", r#"{"name":null,"description":null,"notes":null}"#),
        ("store", r#"{"name":"Ana","description":"azul","notes":"para Ana"}"#),
        ("", r#"{"name":"Ana","description":null,"notes":null}"#),
    ] {
        assert_eq!(redacted(name, given), expected, "{name}");
    }
}

#[test]
fn what_is_known_of_the_person_goes_wherever_it_stands() {
    let order = json!({
        "customer": {"id": 7, "name": NAME, "email": "Canaria@Example.com", "cpf": "123.456.789-09",
            "phone": "+55 (11) 98765-4321"},
        "shipping_address": {"street": "Rua do Canário", "number": 5},
    })
    .to_string();
    let person = Person::of(&order);
    for (text, expected) in [
        ("Pedido de canária ninguém", true),
        ("escreva para CANARIA@example.com.", true),
        ("CPF 12345678909", true),
        ("CPF:123.456.789-09;", true),
        ("ligar 11 98765-4321", true),
        ("5511987654321", true),
        ("entregar na rua do canário, 5", true),
        ("35260812345678909195550010000001231119876543", false),
        ("7", false),
        ("Pedido pago", false),
    ] {
        assert_eq!(person.is_named_in(text), expected, "{text}");
    }
    let given = r#"{"a":[{"b":"a/c Canária Ninguém"}],"store":{"c":12345678909},"d":"x"}"#;
    assert_eq!(person.redact("", given), r#"{"a":[{"b":null}],"store":{"c":null},"d":"x"}"#);
    assert!(person.takes("name", NAME) && !person.takes("name", "Cupom"));
    assert!(
        person.takes("author_name", "Rui") && person.takes("body", "oi") && !person.takes("status", "paid")
    );
}

#[test]
fn a_person_is_identified_in_one_form() {
    let order =
        r#"{"customer":{"id":7,"email":"A@B.example","document":"12.abc.345\/01de-35"},"customer_id":"7"}"#;
    let expected = [
        Identifier::Customer("7".into()),
        Identifier::Document("12ABC34501DE35".into()),
        Identifier::Email("a@b.example".into()),
    ];
    assert!(Person::of(order).identifiers().iter().eq(&expected));
    for (text, known) in
        [("7", &expected[0]), (" 12.ABC.345/01DE-35 ", &expected[1]), ("a@b.EXAMPLE", &expected[2])]
    {
        assert!(Identifier::of_text(text).contains(known), "{text}");
    }
    for text in ["123", "1234567890A", "Ana", "12ABC34501DEXX"] {
        assert_eq!(Identifier::of_text(text).len(), 1, "{text}");
    }
    assert!(!format!("{:?}{:?}", expected[2], Person::of(order)).contains("example"));
}

#[test]
fn what_may_stand_for_many_stands_for_no_one() {
    for (identifier, expected) in [
        (Identifier::Customer("7".into()), true),
        (Identifier::Customer("C-0".into()), true),
        (Identifier::Customer("0".into()), false),
        (Identifier::Customer("-00".into()), false),
        (Identifier::Customer(String::new()), false),
        (Identifier::Document("52998224725".into()), true),
        (Identifier::Document("00000000000".into()), false),
        (Identifier::Document("11111111111111".into()), false),
        (Identifier::Email("ana@b.example".into()), false),
    ] {
        assert_eq!(identifier.is_of_one_person(), expected, "{}", identifier.canonical());
    }
    let others =
        r#"{"metadata":{"cnpj":"11222333000181"},"payer":{"document":"11222333000181"},"client":{"id":5}}"#;
    assert!(Person::of(others).identifiers().is_empty(), "they need not be the buyer");
}

#[test]
fn a_delivery_says_what_it_is_about() {
    let of = |body: &str| DeliverySubject::of(body.as_bytes());
    let subject = of(r#"{"event":"order.paid","data":{"order_number":"MP-1","conversation_id":5}}"#);
    assert_eq!((subject.order.as_deref(), subject.conversation.as_deref()), (Some("MP-1"), Some("5")));
    for body in ["", "[]", r#"{"data":[]}"#, r#"{"data":{"order_number":null}}"#] {
        assert_eq!(of(body), DeliverySubject::default(), "{body}");
    }
}

#[test]
fn what_is_nested_too_deep_is_taken() {
    let deep = format!("{}\"{NAME}\"{}", "[".repeat(5_000), "]".repeat(5_000));
    let out = redacted("", &format!("{{\"a\":{deep},\"b\":1}}"));
    assert!(!out.contains(NAME) && out.ends_with(",\"b\":1}"), "{out}");
}

fn policy(fields: &[Field], treatment: Treatment) -> Privacy {
    let mut policy = Policy::default();
    for field in fields {
        let of = match field {
            Field::CustomerId => &mut policy.customer_id,
            Field::Name => &mut policy.name,
            Field::Document => &mut policy.document,
            Field::Email => &mut policy.email,
            Field::Phone => &mut policy.phone,
            Field::Address => &mut policy.address,
            Field::City => &mut policy.city,
            Field::Notes => &mut policy.notes,
            Field::Messages => &mut policy.messages,
            Field::Other => &mut policy.other,
        };
        *of = treatment;
    }
    Privacy::new(policy, "key".into())
}

fn protected(privacy: &Privacy, name: &str, json: &str) -> String {
    Person::of(json).protect(privacy, name, json)
}

#[test]
fn a_policy_leaves_out_the_fields_that_it_names_and_keeps_the_others_to_the_byte() {
    let order = r#"{"customer":{"id":7,"name":"Ana Lima","cpf":"52998224725","email":"a@b.example","phones":["11912345678"],"birth_date":"1990-01-01","city":"Recife","state":"PE"},"shipping":{"address":{"street":"Rua A","number":5,"zip_code":"50000","city":"Recife"}},"notes":"oi","total":1.50}"#;
    for (field, taken) in [
        (Field::CustomerId, &[r#""id":7"#][..]),
        (Field::Name, &[r#""name":"Ana Lima""#]),
        (Field::Document, &[r#""cpf":"52998224725""#]),
        (Field::Email, &[r#""email":"a@b.example""#]),
        (Field::Phone, &[r#""11912345678""#]),
        (Field::Address, &[r#""street":"Rua A""#, r#""number":5"#, r#""zip_code":"50000""#]),
        (Field::City, &[r#""city":"Recife""#]),
        (Field::Notes, &[r#""notes":"oi""#]),
        (Field::Messages, &[]),
        (Field::Other, &[r#""birth_date":"1990-01-01""#]),
    ] {
        let mut expected = order.to_owned();
        for taken in taken {
            assert!(expected.contains(taken), "{taken}");
            let null = taken.split_once(':').map_or("null".to_owned(), |(name, _)| format!("{name}:null"));
            expected = expected.replace(taken, &null);
        }
        assert_eq!(protected(&policy(&[field], Treatment::LeaveOut), "", order), expected, "{field:?}");
    }
    assert_eq!(protected(&Privacy::default(), "", order), order);
    assert_eq!(protected(&Privacy::default(), "", "no json"), "no json");
    assert_eq!(protected(&policy(&[Field::City], Treatment::Hash), "", "no json"), "{}");
}

#[test]
fn with_everything_left_out_nothing_of_a_person_stays_and_what_is_fiscal_does() {
    let privacy = policy(&Field::ALL, Treatment::LeaveOut);
    for (name, given, expected) in [
        (
            "",
            r#"{"customer_city":"Recife","customer_state":"PE"}"#,
            r#"{"customer_city":null,"customer_state":"PE"}"#,
        ),
        (
            "",
            r#"{"access_key":"3526","invoice_number":"9","value":"1.00"}"#,
            r#"{"access_key":"3526","invoice_number":"9","value":"1.00"}"#,
        ),
        (
            "",
            r#"{"pickup_point":{"name":"Loja","city":"Recife"}}"#,
            r#"{"pickup_point":{"name":"Loja","city":"Recife"}}"#,
        ),
        (
            "",
            r#"{"recipient":"Ana","title":"Pix","recipient_street":"Rua A"}"#,
            r#"{"recipient":null,"title":"Pix","recipient_street":null}"#,
        ),
        (
            "items",
            r#"{"name":"Caneca","title":"Caneca","notes":"Ana"}"#,
            r#"{"name":"Caneca","title":"Caneca","notes":null}"#,
        ),
        (
            "occurrence",
            r#"{"data":{"title":"Queixa","status":"open","occurrence_id":5}}"#,
            r#"{"data":{"title":null,"status":"open","occurrence_id":5}}"#,
        ),
        (
            "conversation",
            r#"{"body":"oi","reason":"troca","order_number":"1"}"#,
            r#"{"body":null,"reason":null,"order_number":"1"}"#,
        ),
    ] {
        assert_eq!(protected(&privacy, name, given), expected);
    }
    let person = Person::default();
    let column =
        |table: &str, column: &str, text: &str| person.protect_column(&privacy, table, column, text.into());
    for (table, name, text, expected) in [
        ("", "customer_id", "7", None),
        ("", "customer_city", "Recife", None),
        ("", "customer_state", "PE", Some("PE")),
        ("", "carrier_name", "Correios", Some("Correios")),
        ("", "status", "paid", Some("paid")),
        ("conversation", "title", "Queixa", None),
        ("conversation", "sender_type", "customer", Some("customer")),
        ("", "title", "Pix", Some("Pix")),
    ] {
        assert_eq!(column(table, name, text).as_deref(), expected, "{table} {name}");
    }
}

#[test]
fn a_policy_for_messages_is_none_for_notes() {
    let given = r#"{"body":"oi","reason":"troca","title":"Ajuda"}"#;
    let messages = policy(&[Field::Messages], Treatment::LeaveOut);
    let notes = policy(&[Field::Notes], Treatment::LeaveOut);
    assert_eq!(protected(&messages, "conversation", given), r#"{"body":null,"reason":null,"title":null}"#);
    assert_eq!(protected(&notes, "conversation", given), given);
    assert_eq!(protected(&notes, "", r#"{"reason":"troca"}"#), r#"{"reason":null}"#);
    assert_eq!(protected(&messages, "", r#"{"reason":"troca"}"#), r#"{"reason":"troca"}"#);
}

#[test]
fn a_kept_text_that_names_what_is_not_kept_is_treated_like_it() {
    let given = r#"{"customer":{"name":"Ana Lima","phone":"11912345678"},"notes":"para Ana Lima","x":"ligar (11) 91234-5678","y":"z"}"#;
    let name = protected(&policy(&[Field::Name], Treatment::LeaveOut), "", given);
    assert_eq!(
        name,
        r#"{"customer":{"name":null,"phone":"11912345678"},"notes":null,"x":"ligar (11) 91234-5678","y":"z"}"#
    );
    let phone = protected(&policy(&[Field::Phone], Treatment::LeaveOut), "", given);
    assert_eq!(
        phone,
        r#"{"customer":{"name":"Ana Lima","phone":null},"notes":"para Ana Lima","x":null,"y":"z"}"#
    );
}

#[test]
fn equal_people_stay_equal_under_a_hash_however_they_are_written_and_are_found_by_it() {
    let privacy = policy(&Field::ALL, Treatment::Hash);
    let of =
        |json: &str| -> serde_json::Value { serde_json::from_str(&protected(&privacy, "", json)).unwrap() };
    let one = of(
        r#"{"customer":{"id":7,"cpf":"529.982.247-25","email":"A@b.example","phone":"+55 11 91234-5678","name":"Ana Lima"}}"#,
    );
    let other = of(
        r#"{"customer":{"id":"7","cpf":"52998224725","email":"a@B.example","phone":"11912345678","name":" ANA LIMA"}}"#,
    );
    assert_eq!(one, other);
    let third = of(
        r#"{"customer":{"id":8,"cpf":"52998224726","email":"c@b.example","phone":"11912345679","name":"Rui Lima"}}"#,
    );
    for field in ["id", "cpf", "email", "phone", "name"] {
        assert_ne!(one["customer"][field], third["customer"][field], "{field}");
        assert!(fingerprint_in(one["customer"][field].as_str().unwrap()).is_some(), "{field}");
    }
    assert_eq!(of(&one.to_string()), one, "what is hashed is not hashed again");
    let column = Person::default().protect_column(&privacy, "", "customer_id", "7".into());
    assert_eq!(column.as_deref(), one["customer"]["id"].as_str(), "column and object agree");
    let stored = Person::of(&one.to_string());
    for typed in ["7", "529.982.247-25", "a@b.example"] {
        let known = Identifier::of_text(typed).into_iter().find(|typed| {
            let hashed = typed.hashed("key");
            stored.identifiers().contains(&hashed) && hashed.fingerprint("key") == typed.fingerprint("key")
        });
        assert!(known.is_some(), "{typed}");
    }
    let guest = of(r#"{"customer":{"id":0,"cpf":"000.000.000-00"}}"#);
    assert_eq!(guest["customer"], json!({"id": "0", "cpf": "000.000.000-00"}), "guests are many");
    let left_out = policy(&Field::ALL, Treatment::LeaveOut);
    assert!(!protected(&left_out, "", &one.to_string()).contains("hash:"), "a stricter policy takes it");
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let name = prop::sample::select(vec![
        "customer",
        "name",
        "items",
        "notes",
        "address",
        "street",
        "store",
        "city",
        "x",
        "recipient_phone",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[ -~]{0,12}".prop_map(Into::into),
        Just(NAME.into()),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec((name.clone(), inner), 0..4).prop_map(|members| {
                serde_json::Value::Object(members.into_iter().map(|(n, v)| (n.to_owned(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_redacted_has_nothing_left_to_take(value in any_json()) {
        let mut person = Person::of(&value.to_string());
        person.add(Person::of(&json!({"customer": {"name": NAME}}).to_string()));
        let once = person.redact("", &value.to_string());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok());
        prop_assert!(!person.is_in("", &once), "{once}");
        prop_assert!(!once.contains(NAME), "{once}");
        prop_assert_eq!(person.redact("", &once), once);
    }

    #[test]
    fn what_a_policy_left_out_has_nothing_left_to_take(value in any_json()) {
        let mut person = Person::of(&value.to_string());
        person.add(Person::of(&json!({"customer": {"name": NAME}}).to_string()));
        let privacy = policy(&Field::ALL, Treatment::LeaveOut);
        let once = person.protect(&privacy, "", &value.to_string());
        prop_assert!(!person.is_in("", &once) && !once.contains(NAME), "{once}");
        prop_assert_eq!(person.protect(&privacy, "", &once), once);
        let kept = person.protect(&Privacy::default(), "", &value.to_string());
        prop_assert_eq!(kept, value.to_string(), "a policy that keeps all changes nothing");
        let hash = policy(&Field::ALL, Treatment::Hash);
        let once = person.protect(&hash, "", &value.to_string());
        prop_assert!(!once.contains(NAME), "{once}");
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"([{}\[\]",:0-9a]|name|é){0,40}"#) {
        let person = Person::of(&text);
        let out = person.redact("", &text);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
    }
}
