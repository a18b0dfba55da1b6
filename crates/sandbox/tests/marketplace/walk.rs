//! A walk through every described operation with requests that fit the description, and with some that do not: whatever
//! comes, the answer is a described one and never a server error.

use crate::support::{Bench, contract, unlimited};
use reqwest::Method;
use serde_json::{Map, Value, json};

/// Requests of each kind for each operation.
const ROUNDS: usize = 25;

/// A small generator of numbers: the walk is the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// Something that hardly any field expects.
    fn oddity(&mut self) -> Value {
        self.pick(&[
            Value::Null,
            json!(true),
            json!(-1),
            json!(0),
            json!(1.5),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!(" "),
            json!("\u{0}\u{202e}é📦"),
            json!("2026-13-45T99:99:99Z"),
            json!("x".repeat(5000)),
            json!([]),
            json!([null, [[{}]]]),
            json!({}),
            json!({"": {"a": []}}),
        ])
    }
}

struct Walk {
    document: Value,
    dice: Dice,
    /// Identifiers that may lead somewhere.
    ids: Vec<String>,
}

impl Walk {
    fn resolved(&self, schema: &Value) -> Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.document.pointer(&reference[1..]).unwrap().clone(),
            None => schema.clone(),
        }
    }

    /// A value that the schema allows, as far as this walk understands schemas.
    fn fitting(&mut self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.dice.pick(values);
        }
        for of in ["anyOf", "oneOf", "allOf"] {
            if let Some(choices) = schema[of].as_array() {
                let choice = self.dice.pick(choices);
                return self.fitting(&choice);
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => self.dice.pick(kinds),
            kind => kind.clone(),
        };
        match kind.as_str().unwrap_or_default() {
            "integer" => json!(self.whole(&schema)),
            "number" => json!(self.whole(&schema) as f64 + 0.25),
            "boolean" => json!(self.dice.below(2) == 0),
            "array" => {
                let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
                let count = least + self.dice.below(3);
                (0..count).map(|_| self.fitting(&schema["items"])).collect()
            }
            "object" => self.object(&schema),
            "null" => Value::Null,
            _ => json!(self.text(&schema)),
        }
    }

    fn whole(&mut self, schema: &Value) -> i64 {
        let low = schema["minimum"].as_i64().unwrap_or(0);
        let high = schema["maximum"].as_i64().unwrap_or(1000).min(low + 40);
        low + self.dice.below((high - low + 1) as usize) as i64
    }

    fn text(&mut self, schema: &Value) -> String {
        if schema["format"] == "date" {
            return format!("2026-03-{:02}", 1 + self.dice.below(28));
        }
        let length = schema["minLength"].as_u64().unwrap_or(0) as usize + self.dice.below(12);
        let sample = "um texto de amostra com acentuação".chars().cycle().take(length).collect();
        let id = self.dice.pick(&self.ids);
        self.dice.pick(&[sample, id, "https://erp.example/ganchos".to_owned()])
    }

    fn object(&mut self, schema: &Value) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut fields = Map::new();
        for (name, field) in schema["properties"].as_object().cloned().unwrap_or_default() {
            if required.contains(&json!(name)) || self.dice.below(2) == 0 {
                fields.insert(name, self.fitting(&field));
            }
        }
        Value::Object(fields)
    }

    /// The path with its identifiers, and a query of some parameters. With oddities, every third value is odd.
    fn target(&mut self, template: &str, operation: &Value, is_odd: bool) -> String {
        let mut path = template.to_owned();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = self.resolved(parameter);
            let place = format!("{{{}}}", parameter["name"].as_str().unwrap());
            let id = match parameter["schema"]["type"] == "integer" && !is_odd {
                true => self.dice.pick(&["1", "101", "102", "103", "999"]).to_owned(),
                false => self.dice.pick(&self.ids),
            };
            path = path.replace(&place, &id);
        }
        let mut query = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = self.resolved(parameter);
            if parameter["in"] != "query" || self.dice.below(2) == 0 {
                continue;
            }
            let value = match is_odd && self.dice.below(3) == 0 {
                true => self.dice.oddity(),
                false => self.fitting(&parameter["schema"]),
            };
            query.push(format!("{}={}", parameter["name"].as_str().unwrap(), encoded(&value)));
        }
        format!("{path}?{}", query.join("&"))
    }

    fn body(&mut self, operation: &Value, is_odd: bool) -> Value {
        let schema = operation["requestBody"]["content"]["application/json"]["schema"].clone();
        let mut body = if schema.is_null() { Value::Null } else { self.fitting(&schema) };
        if is_odd && let Some(fields) = body.as_object_mut().filter(|fields| !fields.is_empty()) {
            let name = self.dice.pick(&fields.keys().cloned().collect::<Vec<_>>());
            fields.insert(name, self.dice.oddity());
        } else if is_odd {
            body = self.dice.oddity();
        }
        body
    }
}

/// A value as a part of a query string; lists are joined by commas.
fn encoded(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(encoded).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    };
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' | b'%' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

async fn identifiers(bench: &Bench) -> Vec<String> {
    let mut ids: Vec<String> = ["1", "101", "999999", "x", "0", "%F0%9F%93%A6", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]
        .map(str::to_owned)
        .into();
    for row in &bench.get("/api/v1/sellers/orders?limit=40").await.data().as_array().unwrap()[..] {
        ids.push(row["order_number"].as_str().unwrap().to_owned());
    }
    for row in &bench.get("/api/products?per_page=10").await.data().as_array().unwrap()[..] {
        ids.push(row["id"].as_str().unwrap().to_owned());
    }
    ids.push("ANU-1000001000000".to_owned());
    ids
}

#[tokio::test]
async fn whatever_comes_the_answer_is_a_described_one() {
    let mut bench = Bench::start(unlimited()).await;
    let document: Value = serde_json::from_str(espelho_sandbox::openapi()).unwrap();
    let mut walk = Walk { ids: identifiers(&bench).await, dice: Dice(7), document: document.clone() };
    let operations = document["paths"].as_object().unwrap().iter();
    for (template, methods) in operations {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            for round in 0..ROUNDS * 2 {
                let is_odd = round % 2 == 1;
                let path = walk.target(template, operation, is_odd);
                let body = walk.body(operation, is_odd);
                bench.hands.forward(60);
                let mut request =
                    bench.http.request(method.clone(), bench.url(&path)).bearer_auth(&bench.token);
                if method != Method::GET {
                    request = request.header("content-type", "application/json").body(body.to_string());
                }
                let reply = crate::support::Reply::read(request.send().await.unwrap()).await;
                assert!(reply.status < 500, "{method} {path} {body}: {}", reply.status);
                contract::check(method.as_str(), &path, reply.status, &reply.bytes);
            }
        }
        bench.token = bench.login().await;
    }
}
