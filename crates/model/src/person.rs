//! A person in the objects of the marketplace: which members are a person's data, and the same object without them.
//!
//! The API document shows of a buyer `id` and `name` only ("Fields beyond id and name: not shown"), so the members are
//! recognized by their names in both languages, and by the values that stand elsewhere in the same order. City and
//! state stay, and so do amounts, lines, and the keys and numbers of fiscal documents.

use std::{borrow::Cow, collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Levels of nesting that are searched. Below them everything is taken.
const DEPTH: u8 = 48;

/// Objects about a person.
const PEOPLE: &[&str] = &[
    "buyer",
    "cliente",
    "client",
    "comprador",
    "consignee",
    "consumer",
    "consumidor",
    "contact",
    "contacts",
    "customer",
    "customers",
    "destinatario",
    "metadata",
    "payer",
    "pagador",
    "receiver",
    "recebedor",
    "recipient",
];
/// Objects of people who need not be the buyer: what is in them identifies nobody.
const OTHERS: &[&str] = &["client", "contact", "contacts", "metadata", "pagador", "payer"];
/// Addresses, which are a person's unless they are within a business.
const ADDRESSES: &[&str] = &[
    "address",
    "addresses",
    "billing",
    "billingaddress",
    "customeraddress",
    "deliveryaddress",
    "endereco",
    "enderecos",
    "enderecoentrega",
    "shippingaddress",
];
/// Objects about a business: the store, the carrier, the place where goods are picked up.
const BUSINESSES: &[&str] = &[
    "carrier",
    "company",
    "emitente",
    "emitter",
    "issuer",
    "origin",
    "physicalstore",
    "pickupaddress",
    "pickuplocation",
    "pickuppoint",
    "salesagent",
    "seller",
    "sender",
    "soldby",
    "store",
];
/// Objects about goods, which have names and descriptions of their own.
const GOODS: &[&str] = &["items", "itemspreview", "lines", "product", "products"];
/// Members of a person or an address that stay.
const KEPT: &[&str] = &[
    "city",
    "cidade",
    "country",
    "countrycode",
    "estado",
    "municipality",
    "municipio",
    "pais",
    "state",
    "statecode",
    "type",
    "uf",
];
/// Members of an address that is recognized by one of [`STREETS`].
const OF_ADDRESS: &[&str] = &[
    "bairro",
    "cep",
    "complement",
    "complemento",
    "district",
    "line1",
    "line2",
    "logradouro",
    "name",
    "neighborhood",
    "neighbourhood",
    "nome",
    "number",
    "numero",
    "postalcode",
    "postcode",
    "reference",
    "referencia",
    "rua",
    "street",
    "streetname",
    "streetnumber",
    "zip",
    "zipcode",
];
/// Members that make an object an address, whatever it is called.
const STREETS: &[&str] = &[
    "bairro",
    "cep",
    "logradouro",
    "neighborhood",
    "neighbourhood",
    "postalcode",
    "postcode",
    "rua",
    "street",
    "streetname",
    "zip",
    "zipcode",
];
/// Prefixes of loose members about a person: `customer_name`, `recipient_phone`.
const PREFIXES: &[&str] = &[
    "buyer",
    "client",
    "comprador",
    "consignee",
    "customer",
    "destinatario",
    "payer",
    "receiver",
    "recipient",
];
/// Parts of names of members that are a person's wherever they stand.
const PARTS: &[&str] = &["celular", "cpf", "email", "phone", "telefone", "whatsapp"];
/// Texts that people write.
const FREE_TEXTS: &[&str] = &[
    "authorname",
    "body",
    "description",
    "firstname",
    "fullname",
    "lastname",
    "nomecompleto",
    "reason",
    "xml",
];
/// Texts that people write, also about goods.
const NOTES: &[&str] = &[
    "comment",
    "comments",
    "giftmessage",
    "instructions",
    "message",
    "mensagem",
    "note",
    "notes",
    "observacao",
    "observacoes",
    "observation",
    "observations",
    "personalization",
    "remark",
    "remarks",
];

/// An identifier of a person, in the one form in which it is compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identifier {
    /// The marketplace's `customer_id`.
    Customer(String),
    /// A CPF or CNPJ: digits and capital letters alone.
    Document(String),
    /// An e-mail address in small letters.
    Email(String),
}

/// Logs must not show a person.
impl fmt::Debug for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Customer(_) => "Customer(…)",
            Self::Document(_) => "Document(…)",
            Self::Email(_) => "Email(…)",
        })
    }
}

impl Identifier {
    /// Returns what a text that an operator typed may identify.
    pub fn of_text(text: &str) -> Vec<Self> {
        let text = text.trim();
        let mut all = vec![Self::Customer(text.to_owned())];
        if text.contains('@') {
            all.push(Self::Email(text.to_lowercase()));
        }
        all.extend(document(text).map(Self::Document));
        all
    }

    /// Tells whether it stands for one person alone. An e-mail address may stand for many who have none, and so do an id of
    /// zero and a document of one repeated digit.
    pub fn is_of_one_person(&self) -> bool {
        match self {
            Self::Email(_) => false,
            Self::Customer(id) => id.bytes().any(|byte| byte != b'0' && byte != b'-'),
            Self::Document(id) => !id.bytes().all(|byte| id.starts_with(char::from(byte))),
        }
    }

    /// Returns the text of which a fingerprint is kept.
    pub fn canonical(&self) -> String {
        match self {
            Self::Customer(id) => format!("customer:{id}"),
            Self::Document(id) => format!("document:{id}"),
            Self::Email(address) => format!("email:{address}"),
        }
    }
}

/// A person, as orders tell of one.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Person {
    identifiers: BTreeSet<Identifier>,
    /// Names and streets, in small letters.
    words: BTreeSet<String>,
    /// The digits of telephone numbers.
    phones: BTreeSet<String>,
}

/// Logs must not show a person.
impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Person").finish_non_exhaustive()
    }
}

impl Person {
    /// Returns the person that an object of an order tells of.
    pub fn of(json: &str) -> Self {
        let mut person = Self::default();
        for Taken { parent, name, text } in Self::default().search("", json).taken {
            person.learn(&parent, &name, &text);
        }
        person
    }

    /// Adds what is known of the same person from elsewhere.
    pub fn add(&mut self, other: Self) {
        self.identifiers.extend(other.identifiers);
        self.words.extend(other.words);
        self.phones.extend(other.phones);
    }

    /// Adds an identifier.
    pub fn identify(&mut self, identifier: Identifier) {
        self.identifiers.insert(identifier);
    }

    /// Returns the identifiers.
    pub fn identifiers(&self) -> &BTreeSet<Identifier> {
        &self.identifiers
    }

    /// Returns an object without the person. `name` is the member or column that holds it; for a whole order it is
    /// empty. The other members stay as they are to the byte. A text that is no JSON becomes an empty object.
    pub fn redact(&self, name: &str, json: &str) -> String {
        self.search(name, json).out
    }

    /// Tells whether [`Person::redact`] would take anything.
    pub fn is_in(&self, name: &str, json: &str) -> bool {
        !self.search(name, json).taken.is_empty()
    }

    /// Tells whether the text of a column goes: because of the column's name, or because it names the person.
    pub fn takes(&self, column: &str, text: &str) -> bool {
        Within::Open.takes(&plain(column)) || self.is_named_in(text)
    }

    /// Tells whether a text names the person.
    pub fn is_named_in(&self, text: &str) -> bool {
        let small = text.to_lowercase();
        let is_in = |word: &String| small.contains(word.as_str());
        let emails = self.identifiers.iter().filter_map(|identifier| match identifier {
            Identifier::Email(address) => Some(address),
            _ => None,
        });
        if self.words.iter().any(is_in) || emails.into_iter().any(is_in) {
            return true;
        }
        let is_ours = |id: &str| self.identifiers.contains(&Identifier::Document(id.to_owned()));
        let parts = |is_part: fn(char) -> bool| {
            let runs = text.split(move |c: char| !is_part(c));
            runs.map(|run| run.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        };
        let documents = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/' | '\\');
        let numbers = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '(' | ')' | '-' | '+' | '.');
        // A country's code may stand before a number; a key of 44 digits is no telephone number.
        let calls = |run: &String| self.phones.iter().any(|p| run.ends_with(p) && run.len() <= p.len() + 4);
        parts(documents).any(|run| is_ours(&run.to_ascii_uppercase()))
            || parts(numbers).any(|run| calls(&run))
    }

    fn search(&self, name: &str, json: &str) -> Search<'_> {
        let mut search = Search { person: self, out: String::with_capacity(json.len()), taken: Vec::new() };
        let name = plain(name);
        let place = Place { parent: "", name: &name, within: Within::Open.enter(&name) };
        match serde_json::from_str::<&RawValue>(json) {
            Ok(json) => search.write(place, json.get(), DEPTH),
            Err(_) => search.take_broken(place, json),
        }
        search
    }

    fn learn(&mut self, parent: &str, name: &str, text: &str) {
        let text = text.trim();
        let is_buyers = !OTHERS.contains(&parent);
        let is_of = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if text.contains('@') && name.contains("mail") {
            self.identifiers.insert(Identifier::Email(text.to_lowercase()));
        } else if is_of(&["cpf", "cnpj", "document", "tax"]) {
            self.identifiers.extend(document(text).filter(|_| is_buyers).map(Identifier::Document));
        } else if name == "customerid" || (name == "id" && ["customer", "buyer"].contains(&parent)) {
            self.identifiers.insert(Identifier::Customer(text.to_owned()));
        } else if is_of(&["phone", "telefone", "celular", "whatsapp", "mobile"]) {
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            // Without the code of the country, which not everybody writes.
            let digits = digits.strip_prefix("55").filter(|rest| rest.len() >= 10).unwrap_or(&digits);
            self.phones.extend((digits.len() >= 10).then(|| digits.to_owned()));
        } else if name.ends_with("name")
            || name.ends_with("nome")
            || PEOPLE.contains(&name)
            || is_street(name)
        {
            // One short word would be found in too much.
            let is_telling = text.chars().count() >= 6 && text.contains(' ');
            self.words.extend(is_telling.then(|| text.to_lowercase()));
        }
    }
}

/// The order or the conversation that a delivery is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliverySubject {
    /// `data.order_number`.
    pub order: Option<String>,
    /// `data.conversation_id`.
    pub conversation: Option<String>,
}

impl DeliverySubject {
    /// Reads it from the body of a delivery; empty for a body that is no delivery.
    pub fn of(body: &[u8]) -> Self {
        let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| match &body["data"][name] {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        Self { order: text("order_number"), conversation: text("conversation_id") }
    }
}

/// Returns a CPF or CNPJ without punctuation; `None` for a text of another length.
fn document(text: &str) -> Option<String> {
    let is_punctuation = |c: char| matches!(c, '.' | '-' | '/' | ' ' | '\\');
    let id: String = text.chars().filter(|c| !is_punctuation(*c)).collect::<String>().to_ascii_uppercase();
    let is_cpf = id.len() == 11 && id.bytes().all(|byte| byte.is_ascii_digit());
    let is_cnpj = id.len() == 14
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && id.bytes().skip(12).all(|byte| byte.is_ascii_digit());
    (is_cpf || is_cnpj).then_some(id)
}

fn is_street(name: &str) -> bool {
    ["street", "streetname", "logradouro", "rua", "line1"].contains(&name)
}

/// Returns the name of a member as the lists above write it: `shippingAddress` and `shipping_address` are one.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The kind of object that a member stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// An order, or a part of one.
    Open,
    Person,
    Address,
    Goods,
    Business,
}

impl Within {
    /// Returns the kind of the object or list in a member of this one.
    fn enter(self, name: &str) -> Self {
        match self {
            Self::Person => Self::Person,
            _ if PEOPLE.contains(&name) => Self::Person,
            _ if BUSINESSES.contains(&name) => Self::Business,
            Self::Business => Self::Business,
            _ if ADDRESSES.contains(&name) => Self::Person,
            _ if GOODS.contains(&name) => Self::Goods,
            other => other,
        }
    }

    /// Tells whether a text or number of this name is a person's.
    fn takes(self, name: &str) -> bool {
        let is_loose = || {
            PARTS.iter().any(|part| name.contains(part))
                || PREFIXES.iter().any(|prefix| {
                    name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && !KEPT.contains(&rest))
                })
        };
        match self {
            Self::Person => !KEPT.contains(&name),
            Self::Address => OF_ADDRESS.contains(&name) || Self::Open.takes(name),
            Self::Open => {
                is_loose()
                    || NOTES.contains(&name)
                    || FREE_TEXTS.contains(&name)
                    || PEOPLE.contains(&name)
                    || ADDRESSES.contains(&name)
            }
            Self::Goods => is_loose() || NOTES.contains(&name),
            Self::Business => false,
        }
    }
}

/// The place of a value: the member that holds its object, its own name, and the kind of its object.
#[derive(Clone, Copy)]
struct Place<'n> {
    parent: &'n str,
    name: &'n str,
    within: Within,
}

/// A text or number that was taken.
struct Taken {
    parent: String,
    name: String,
    text: String,
}

/// One walk over an object.
struct Search<'p> {
    person: &'p Person,
    out: String,
    taken: Vec<Taken>,
}

impl Search<'_> {
    fn write(&mut self, place: Place<'_>, json: &str, depth: u8) {
        let json = json.trim_ascii();
        match json.as_bytes().first() {
            Some(b'{' | b'[') if depth == 0 => self.take(place, json),
            Some(b'{') => match serde_json::from_str::<Members<'_>>(json) {
                Ok(Members(members)) => self.write_object(place, &members, depth - 1),
                Err(_) => self.take_broken(place, json),
            },
            Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(json) {
                Ok(elements) => self.write_list(place, &elements, depth - 1),
                Err(_) => self.take_broken(place, json),
            },
            Some(b'"') => {
                let text = serde_json::from_str::<Cow<'_, str>>(json).unwrap_or(Cow::Borrowed(json));
                self.write_scalar(place, &text, json);
            }
            Some(b'0'..=b'9' | b'-') => self.write_scalar(place, json, json),
            // Neither `true` nor `null` tells of anybody.
            _ => self.out.push_str(json),
        }
    }

    fn write_object(&mut self, place: Place<'_>, members: &[(String, &RawValue)], depth: u8) {
        let names: Vec<String> = members.iter().map(|(name, _)| plain(name)).collect();
        let is_address = matches!(place.within, Within::Open | Within::Goods)
            && names.iter().any(|name| STREETS.contains(&name.as_str()));
        let within = if is_address { Within::Address } else { place.within };
        self.out.push('{');
        for (nth, ((name, value), plain)) in members.iter().zip(&names).enumerate() {
            self.out.push_str(if nth == 0 { "" } else { "," });
            self.out.push_str(&serde_json::Value::from(name.as_str()).to_string());
            self.out.push(':');
            let is_nested = matches!(value.get().as_bytes().first(), Some(b'{' | b'['));
            let within = if is_nested { within.enter(plain) } else { within };
            self.write(Place { parent: place.name, name: plain, within }, value.get(), depth);
        }
        self.out.push('}');
    }

    fn write_list(&mut self, place: Place<'_>, elements: &[&RawValue], depth: u8) {
        self.out.push('[');
        for (nth, element) in elements.iter().enumerate() {
            self.out.push_str(if nth == 0 { "" } else { "," });
            self.write(place, element.get(), depth);
        }
        self.out.push(']');
    }

    fn write_scalar(&mut self, place: Place<'_>, text: &str, json: &str) {
        // An empty text stays, as `null` would: so what is redacted once is not redacted again.
        match !text.is_empty() && (place.within.takes(place.name) || self.person.is_named_in(text)) {
            true => self.take(place, text),
            false => self.out.push_str(json),
        }
    }

    fn take(&mut self, place: Place<'_>, text: &str) {
        let (parent, name) = (place.parent.to_owned(), place.name.to_owned());
        self.taken.push(Taken { parent, name, text: text.to_owned() });
        self.out.push_str("null");
    }

    /// Takes a text that no parser reads.
    fn take_broken(&mut self, place: Place<'_>, text: &str) {
        self.take(place, text);
        let written = self.out.len() - "null".len();
        self.out.replace_range(written.., "{}");
    }
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        from.deserialize_map(InOrder).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

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
            person.takes("author_name", "Rui")
                && person.takes("body", "oi")
                && !person.takes("status", "paid")
        );
    }

    #[test]
    fn a_person_is_identified_in_one_form() {
        let order = r#"{"customer":{"id":7,"email":"A@B.example","document":"12.abc.345\/01de-35"},"customer_id":"7"}"#;
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
        let others = r#"{"metadata":{"cnpj":"11222333000181"},"payer":{"document":"11222333000181"},"client":{"id":5}}"#;
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
        fn no_text_makes_it_panic(text in r#"([{}\[\]",:0-9a]|name|é){0,40}"#) {
            let person = Person::of(&text);
            let out = person.redact("", &text);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok());
        }
    }
}
