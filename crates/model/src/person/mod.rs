//! A person in the objects of the marketplace: which members are a person's data, and the same object without them.
//!
//! The API document shows of a buyer `id` and `name` only ("Fields beyond id and name: not shown"), so the members are
//! recognized by their names in both languages, and by the values that stand elsewhere in the same order. City and
//! state stay, and so do amounts, lines, and the keys and numbers of fiscal documents.

mod identifier;
mod words;

#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

pub use self::identifier::Identifier;
use self::words::{
    ADDRESSES, BUSINESSES, CITIES, FREE_TEXTS, GOODS, KEPT, NOTES, OF_ADDRESS, OTHERS, PARTS, PEOPLE,
    PREFIXES, REPORTS, STREETS, TITLES,
};
use crate::privacy::{Field, Privacy, Treatment, fingerprint_in};

/// Levels of nesting that are searched. Below them everything is taken.
const DEPTH: u8 = 48;
/// Characters of the shortest document, a CPF, and of the shortest telephone number that is looked for.
const SHORTEST_DOCUMENT: usize = 11;
const SHORTEST_PHONE: usize = 10;

/// A person, as orders tell of one.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Person {
    identifiers: BTreeSet<Identifier>,
    /// Names and streets, in small letters.
    words: BTreeSet<(String, Field)>,
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
        for Taken { parent, name, text } in Self::default().search(None, "", json).taken {
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
        self.search(None, name, json).out
    }

    /// Returns an object as the policy lets it be kept: of the person that it tells of, and of this one.
    pub fn protect(&self, privacy: &Privacy, name: &str, json: &str) -> String {
        self.search(Some(privacy), name, json).out
    }

    /// Returns the text of a column as the policy lets it be kept. `table` is the name under which objects of its table
    /// are read.
    pub fn protect_column(
        &self,
        privacy: &Privacy,
        table: &str,
        column: &str,
        text: String,
    ) -> Option<String> {
        let (table, column) = (plain(table), plain(column));
        let place = Place { parent: &table, name: &column, within: Within::Open.enter(&table) };
        match self.treatment(Some(privacy), place, &text) {
            Treatment::Keep => Some(text),
            Treatment::Hash => Some(place.hashed(privacy, &text)),
            Treatment::LeaveOut => None,
        }
    }

    /// Returns an object without the person as [`Person::redact`] does, `None` if it would take nothing.
    pub fn redacted(&self, name: &str, json: &str) -> Option<String> {
        let search = self.search(None, name, json);
        (!search.taken.is_empty()).then_some(search.out)
    }

    /// Tells whether [`Person::redact`] would take anything.
    pub fn is_in(&self, name: &str, json: &str) -> bool {
        !self.search(None, name, json).taken.is_empty()
    }

    /// Tells whether the text of a column goes: because of the column's name, or because it names the person.
    pub fn takes(&self, column: &str, text: &str) -> bool {
        Within::Open.takes(&plain(column)) || self.is_named_in(text)
    }

    /// Tells whether a text names the person.
    pub fn is_named_in(&self, text: &str) -> bool {
        !self.fields_in(text).is_empty()
    }

    /// Returns what of the person a text has. Most texts are looked through for nobody, or are too short for what is
    /// known: they cost no copy.
    fn fields_in(&self, text: &str) -> Vec<Field> {
        let mut fields = Vec::new();
        let of_kind = |is_kind: fn(&Identifier) -> bool| self.identifiers.iter().any(is_kind);
        if !self.words.is_empty() || of_kind(|known| matches!(known, Identifier::Email(_))) {
            let small = text.to_lowercase();
            let words = self.words.iter().filter(|(word, _)| small.contains(word.as_str()));
            fields.extend(words.map(|(_, field)| *field));
            let is_in =
                |known: &Identifier| matches!(known, Identifier::Email(address) if small.contains(address));
            fields.extend(self.identifiers.iter().any(is_in).then_some(Field::Email));
        }
        if text.len() >= SHORTEST_DOCUMENT && of_kind(|known| matches!(known, Identifier::Document(_))) {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/' | '\\');
            let is_theirs =
                |id: String| self.identifiers.contains(&Identifier::Document(id.to_ascii_uppercase()));
            fields.extend(runs(text, is_part).any(is_theirs).then_some(Field::Document));
        }
        if text.len() >= SHORTEST_PHONE && !self.phones.is_empty() {
            let is_part = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '(' | ')' | '-' | '+' | '.');
            // A country's code may stand before a number; a key of 44 digits is no telephone number.
            let calls =
                |run: String| self.phones.iter().any(|p| run.ends_with(p) && run.len() <= p.len() + 4);
            fields.extend(runs(text, is_part).any(calls).then_some(Field::Phone));
        }
        fields
    }

    /// Returns what becomes of a text or number; without a policy a person's are left out.
    fn treatment(&self, privacy: Option<&Privacy>, place: Place<'_>, text: &str) -> Treatment {
        // An empty text stays, as `null` would: so what is redacted once is not redacted again.
        if text.is_empty() {
            return Treatment::Keep;
        }
        let Some(policy) = privacy.map(Privacy::policy) else {
            let is_theirs = place.within.takes(place.name) || self.is_named_in(text);
            return if is_theirs { Treatment::LeaveOut } else { Treatment::Keep };
        };
        let own = place.field().map(|field| policy.of(field)).unwrap_or_default();
        match own {
            Treatment::LeaveOut => own,
            _ => self
                .fields_in(text)
                .into_iter()
                .map(|field| policy.of(field))
                .chain([own])
                .max()
                .unwrap_or(own),
        }
    }

    fn search<'p>(&'p self, privacy: Option<&'p Privacy>, name: &str, json: &str) -> Search<'p> {
        let out = String::with_capacity(json.len());
        let mut search = Search { person: self, privacy, out, taken: Vec::new() };
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
        let is_hashed = fingerprint_in(text).is_some();
        if (text.contains('@') || is_hashed) && name.contains("mail") {
            self.identifiers.insert(Identifier::Email(text.to_lowercase()));
        } else if is_of(&["cpf", "cnpj", "document", "tax"]) {
            self.identifiers.extend(document(text).filter(|_| is_buyers).map(Identifier::Document));
        } else if name == "customerid" || (name == "id" && ["customer", "buyer"].contains(&parent)) {
            self.identifiers.insert(Identifier::Customer(text.to_owned()));
        } else if is_of(&["phone", "telefone", "celular", "whatsapp", "mobile"]) {
            let digits = phone(text);
            self.phones.extend((digits.len() >= 10 && !is_hashed).then_some(digits));
        } else if name.ends_with("name")
            || name.ends_with("nome")
            || PEOPLE.contains(&name)
            || is_street(name)
        {
            // One short word would be found in too much.
            let is_telling = text.chars().count() >= 6 && text.contains(' ');
            let field = if is_street(name) { Field::Address } else { Field::Name };
            self.words.extend(is_telling.then(|| (text.to_lowercase(), field)));
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

/// Returns the runs of such characters in a text, without punctuation.
fn runs(text: &str, is_part: impl Fn(char) -> bool) -> impl Iterator<Item = String> {
    let runs = text.split(move |c: char| !is_part(c));
    runs.map(|run| run.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
}

/// Returns the digits of a telephone number, without the code of the country, which not everybody writes.
fn phone(text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    match digits.strip_prefix("55").filter(|rest| rest.len() >= 10) {
        Some(rest) => rest.to_owned(),
        None => digits,
    }
}

/// Returns a CPF or CNPJ without punctuation; `None` for a text of another length. A hashed one is one too.
fn document(text: &str) -> Option<String> {
    if fingerprint_in(text).is_some() {
        return Some(text.to_owned());
    }
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
    /// A conversation, or an occurrence.
    Report,
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
            _ if REPORTS.contains(&name) => Self::Report,
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
            Self::Open | Self::Report => {
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

    /// Tells whether a text of this name is a person's city.
    fn has_city(self, name: &str) -> bool {
        let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        match self {
            Self::Business | Self::Goods => false,
            Self::Open | Self::Report | Self::Person | Self::Address => CITIES.contains(&rest),
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

impl Place<'_> {
    /// Returns the field that a text or number here is, if it is a person's.
    fn field(&self) -> Option<Field> {
        let Self { name, within, .. } = *self;
        if within.has_city(name) {
            return Some(Field::City);
        }
        if within == Within::Report && TITLES.contains(&name) {
            return Some(Field::Messages);
        }
        within.takes(name).then(|| self.kind())
    }

    /// Returns the field of a person's text or number.
    fn kind(&self) -> Field {
        let Self { name, within, .. } = *self;
        let is_of = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        if name.contains("mail") {
            Field::Email
        } else if is_of(&["cpf", "cnpj", "document", "tax"]) {
            Field::Document
        } else if is_of(&["phone", "fone", "celular", "whatsapp", "mobile"]) {
            Field::Phone
        } else if ["name", "nome", "nomecompleto"].iter().any(|end| rest.ends_with(end)) {
            Field::Name
        } else if NOTES.contains(&name) || FREE_TEXTS.contains(&name) {
            let is_said = within == Within::Report || ["body", "mensagem", "message"].contains(&name);
            if is_said { Field::Messages } else { Field::Notes }
        } else if OF_ADDRESS.contains(&rest) || ADDRESSES.contains(&rest) || ADDRESSES.contains(&name) {
            Field::Address
        } else if ["id", "uid", "uuid"].contains(&rest) {
            Field::CustomerId
        } else if rest.is_empty() || PEOPLE.contains(&name) {
            Field::Name
        } else {
            Field::Other
        }
    }

    /// Returns the fingerprint that stands in place of a text. Equal values have equal ones, however they are written.
    /// An identifier of no one person stays, such as an id of zero: its fingerprint would look like a person's.
    fn hashed(&self, privacy: &Privacy, text: &str) -> String {
        if fingerprint_in(text).is_some() {
            return text.to_owned();
        }
        let small = text.trim().to_lowercase();
        let identifier = match self.field() {
            Some(Field::CustomerId) => Some(Identifier::Customer(text.trim().to_owned())),
            Some(Field::Document) => document(text).map(Identifier::Document),
            Some(Field::Email) => Some(Identifier::Email(small.clone())),
            _ => None,
        };
        let canonical = match &identifier {
            Some(known @ Identifier::Email(_)) => Some(known.canonical()),
            Some(known) if known.is_of_one_person() => Some(known.canonical()),
            Some(_) => None,
            None if self.field() == Some(Field::Phone) => Some(format!("phone:{}", phone(text))),
            None => Some(format!("text:{small}")),
        };
        canonical.map_or_else(|| text.to_owned(), |canonical| privacy.replacement(&canonical))
    }
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
    /// Without a policy everything of the person is taken.
    privacy: Option<&'p Privacy>,
    out: String,
    taken: Vec<Taken>,
}

impl Search<'_> {
    fn write(&mut self, place: Place<'_>, json: &str, depth: u8) {
        let json = json.trim_ascii();
        match json.as_bytes().first() {
            // It may contain anything.
            Some(b'{' | b'[') if depth == 0 => {
                let treatment = self.privacy.map_or(Treatment::LeaveOut, |all| all.policy().strictest());
                self.write_treated(place, treatment, json, json);
            }
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
        let is_address = matches!(place.within, Within::Open | Within::Report | Within::Goods)
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
        let treatment = self.person.treatment(self.privacy, place, text);
        self.write_treated(place, treatment, text, json);
    }

    fn write_treated(&mut self, place: Place<'_>, treatment: Treatment, text: &str, json: &str) {
        match (treatment, self.privacy) {
            (Treatment::Keep, _) => self.out.push_str(json),
            (Treatment::Hash, Some(privacy)) => {
                let hashed = place.hashed(privacy, text);
                self.out.push_str(&serde_json::Value::from(hashed).to_string());
            }
            (Treatment::Hash, None) | (Treatment::LeaveOut, _) => self.take(place, text),
        }
    }

    fn take(&mut self, place: Place<'_>, text: &str) {
        let (parent, name) = (place.parent.to_owned(), place.name.to_owned());
        self.taken.push(Taken { parent, name, text: text.to_owned() });
        self.out.push_str("null");
    }

    /// Takes a text that no parser reads, unless everything is kept.
    fn take_broken(&mut self, place: Place<'_>, text: &str) {
        if self.privacy.is_some_and(|privacy| privacy.policy().keeps_all()) {
            return self.out.push_str(text);
        }
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
