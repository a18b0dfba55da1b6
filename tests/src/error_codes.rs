//! The error codes (`tests/errors.toml`): the pages `docs/ERRORS.md` and `docs/ERRORS.pt-BR.md`, which are made of them and of
//! the text catalogue, and the codes that the sources give.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use espelho_model::text::{Language, Locale, Text};

use crate::markdown::{item, paragraph};

/// The codes of one place, each with the messages that explain it.
type Codes = BTreeMap<String, Vec<String>>;

/// All codes, by the place where they are seen.
#[derive(Debug)]
pub struct ErrorCodes(BTreeMap<String, Codes>);

/// A code that a source gives, and the message beside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GivenCode {
    /// The code.
    pub code: String,
    /// The message, where it stands beside the code.
    pub text: Option<String>,
    /// The source.
    pub file: String,
}

/// A place where codes are seen: its name in the list, then heading and introduction in English and in Portuguese.
struct Place(&'static str, [&'static str; 2], [&'static str; 2]);

const PLACES: [Place; 11] = [
    Place(
        "rows",
        [
            "The ERP's rows",
            "`error_code` of `erp_stock`, `erp_prices` and `commands`; `espelho errors`, `v_errors`, `/erros`.",
        ],
        [
            "As linhas do ERP",
            "`error_code` de `erp_stock`, `erp_prices` e `commands`; `espelho errors`, `v_errors`, `/erros`.",
        ],
    ),
    Place(
        "marketplace",
        [
            "The marketplace and the way to it",
            "On rows of the ERP and on rows that could not be mirrored, in reports and in commands. A code in capitals is \
             the marketplace's own.",
        ],
        [
            "O marketplace e o caminho até ele",
            "Em linhas do ERP e em linhas que não puderam ser espelhadas, em relatórios e em comandos. Um código em \
             maiúsculas é do próprio marketplace.",
        ],
    ),
    Place(
        "mirror",
        [
            "Rows that could not be mirrored",
            "`code` of `sync_failures` and `label_files`; `espelho errors`, `v_errors`.",
        ],
        [
            "Linhas que não puderam ser espelhadas",
            "`code` de `sync_failures` e `label_files`; `espelho errors`, `v_errors`.",
        ],
    ),
    Place(
        "alarms",
        [
            "Alarms",
            "`espelho status`, the page, `/status`, `/readyz?verbose`, `espelho doctor`, `espelho_alarm{store,code}`, \
             `v_alarms`. [ALARMS.md](ALARMS.md) says when each is raised.",
        ],
        [
            "Alarmes",
            "`espelho status`, a página, `/status`, `/readyz?verbose`, `espelho doctor`, `espelho_alarm{store,code}`, \
             `v_alarms`. [ALARMS.md](ALARMS.md) diz quando cada um soa.",
        ],
    ),
    Place(
        "exit_1",
        ["Commands that end with 1: failed", "`errors[].code` with `--json`."],
        ["Comandos que terminam com 1: falhou", "`errors[].code` com `--json`."],
    ),
    Place(
        "exit_2",
        ["Commands that end with 2: bad usage or configuration", "`errors[].code` with `--json`."],
        ["Comandos que terminam com 2: uso ou configuração incorretos", "`errors[].code` com `--json`."],
    ),
    Place(
        "exit_3",
        [
            "Commands that end with 3: partial",
            "`error.code` with `--json`; otherwise the failed rows have codes of their own.",
        ],
        [
            "Comandos que terminam com 3: parcial",
            "`error.code` com `--json`; no mais, as linhas que falharam têm os seus códigos.",
        ],
    ),
    Place(
        "exit_4",
        ["Commands that end with 4: authentication", "`errors[].code` with `--json`."],
        ["Comandos que terminam com 4: autenticação", "`errors[].code` com `--json`."],
    ),
    Place(
        "exit_5",
        ["Commands that end with 5: refused by a guard", "`errors[].code` with `--json`."],
        ["Comandos que terminam com 5: recusado por uma guarda", "`errors[].code` com `--json`."],
    ),
    Place(
        "exit_6",
        ["Commands that end with 6: another instance holds the store", "`errors[].code` with `--json`."],
        ["Comandos que terminam com 6: outra instância está com a loja", "`errors[].code` com `--json`."],
    ),
    Place(
        "api",
        ["The HTTP API", "`code` of problem details and of the rows of a batch ([API.md](API.md))."],
        ["A API HTTP", "`code` dos problemas e das linhas de um lote ([API.md](API.md))."],
    ),
];

const INTRO: [&str; 2] = [
    "# Error codes

Every code that a row, an alarm, a command or the HTTP API can give: where it is seen, the cause, and the next step
(→). Codes are the same in all languages; ‹words› stand for what differs from case to case. Em português:
[ERRORS.pt-BR.md](ERRORS.pt-BR.md).

This page is made of `tests/errors.toml` and of the texts that espelho itself shows; `tests/run texts` holds it against
both and against the sources, and `ESPELHO_BLESS=1 tests/run texts` writes it anew.
",
    "# Códigos de erro

Todos os códigos que uma linha, um alarme, um comando ou a API HTTP pode dar: onde aparece, a causa e o próximo passo
(→). Os códigos são os mesmos em todas as línguas; ‹palavras› estão no lugar do que muda de caso para caso. In English:
[ERRORS.md](ERRORS.md).

Esta página é feita de `tests/errors.toml` e dos textos que o próprio espelho mostra; `tests/run texts` a confere com
ambos e com as fontes, e `ESPELHO_BLESS=1 tests/run texts` a escreve de novo.
",
];

impl ErrorCodes {
    /// Reads the list.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(root: &Path) -> Self {
        let text = fs::read_to_string(root.join("tests/errors.toml")).expect("the list of codes");
        Self(toml::from_str(&text).expect("the list of codes is TOML"))
    }

    /// Returns every fault of the list itself: places that the page does not have, messages that the catalogue lacks.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (place, codes) in &self.0 {
            if !PLACES.iter().any(|known| known.0 == place) {
                faults.push(format!("the page has no place {place}"));
            }
            for (code, texts) in codes {
                if texts.is_empty() {
                    faults.push(format!("{code} is not explained"));
                }
                let unknown = texts.iter().filter(|id| !Text::new((*id).clone()).is_known());
                faults.extend(unknown.map(|id| format!("{code}: the catalogue has no {id}")));
            }
        }
        faults
    }

    /// Returns whether a place has a code.
    pub fn has(&self, place: &str, code: &str) -> bool {
        self.0.get(place).is_some_and(|codes| codes.contains_key(code))
    }

    /// Returns the codes of one place.
    pub fn codes_of(&self, place: &str) -> impl Iterator<Item = &str> {
        self.0.get(place).into_iter().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// Returns all codes.
    pub fn codes(&self) -> BTreeSet<&str> {
        self.0.values().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    /// Returns the codes that sources give and the list does not have, or does not explain as they do.
    pub fn missing<'g>(&self, given: &'g [GivenCode]) -> Vec<&'g GivenCode> {
        let is_listed = |given: &&GivenCode| {
            let lists: Vec<&Vec<String>> =
                self.0.values().filter_map(|codes| codes.get(&given.code)).collect();
            let explains = |id: &String| lists.iter().any(|texts| texts.contains(id));
            !lists.is_empty() && given.text.as_ref().is_none_or(explains)
        };
        given.iter().filter(|given| !is_listed(given)).collect()
    }

    /// Returns a page.
    pub fn page(&self, language: Language) -> String {
        let at = usize::from(language == Language::Portuguese);
        let mut page = INTRO[at].to_owned();
        for place in &PLACES {
            let Some(codes) = self.0.get(place.0) else { continue };
            let [heading, introduction] = [place.1, place.2][at];
            // Writing to a String cannot fail.
            let _ = write!(page, "\n## {heading}\n\n{}\n\n", paragraph(introduction));
            for (code, texts) in codes {
                page.push_str(&item(0, &format!("**`{}`**", shown(code, language))));
                let words = texts.iter().map(|id| item(1, &explained(id, language)));
                page.extend(words);
            }
        }
        page
    }
}

/// A code that stands for several.
fn shown(code: &str, language: Language) -> String {
    let portuguese = language == Language::Portuguese;
    match code {
        "UPPER_CASE" if portuguese => "CÓDIGO_DO_MARKETPLACE".to_owned(),
        "UPPER_CASE" => "CODE_OF_THE_MARKETPLACE".to_owned(),
        other => other.to_owned(),
    }
}

/// The arguments that are command lines, as `model::next_step` makes them.
const COMMAND_LINES: [(&str, &str); 7] = [
    ("release_one", "espelho release {$row} --store {$store}"),
    ("release_all", "espelho release --all --code {$code} --store {$store}"),
    ("retry_one", "espelho retry {$row} --store {$store}"),
    ("ignore_one", "espelho ignore {$row} --store {$store}"),
    ("ignore_all", "espelho ignore --all --state held --code {$code} --store {$store}"),
    ("see_all", "espelho errors --all --code {$code} --store {$store}"),
    ("see_one", "espelho explain {$row} --store {$store}"),
];

/// The cause and the next step of a message, in one line.
fn explained(id: &str, language: Language) -> String {
    let commands = COMMAND_LINES.iter().map(|(name, line)| (*name, (*line).to_owned()));
    let text = commands.fold(Text::new(id.to_owned()), |text, (name, line)| text.with(name, line));
    let locale = Locale::of(language);
    let cause = plain(&text.message(locale));
    match text.next(locale).map(|next| plain(&next)).filter(|next| !next.is_empty()) {
        Some(next) => format!("{cause} → {next}"),
        None => cause,
    }
}

/// A message without its arguments, as Markdown: the catalogue shows a missing argument as `{$name}`.
fn plain(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    let mut rest = words.as_str();
    while let Some((before, after)) = rest.split_once("{$") {
        let (name, tail) = after.split_once('}').unwrap_or((after, ""));
        let _ = write!(text, "{before}‹{name}›");
        rest = tail;
    }
    text.push_str(rest);
    text.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_").replace('|', "\\|")
}

/// The text directly before a code, without blanks.
const BEFORE: [&str; 12] = [
    "Message::new(",
    "Refusal::new(",
    "doubtful(",
    "bad_request(",
    "unprocessable(",
    "bad(column,",
    "note_failure(entity,",
    "failure(key,",
    "failure(key_of(kept),",
    "Handled::Malformed,",
    "Handled::Foreign,",
    "intents-needs-yes\", rows = count),",
];

/// Returns the codes that the sources of the product give.
///
/// # Panics
/// When a source cannot be read.
pub fn given_codes(root: &Path) -> Vec<GivenCode> {
    let mut given = BTreeSet::new();
    let mut folders: Vec<_> = ["api-client", "store", "sync-engine", "daemon"]
        .map(|name| root.join("crates").join(name).join("src"))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && !name.contains("/tests/") {
                let source = fs::read_to_string(&path).expect("a source");
                given.extend(codes_in(source.split("#[cfg(test)]").next().unwrap_or_default(), &name));
            }
        }
    }
    given.into_iter().collect()
}

/// Returns the codes that one source gives.
pub fn codes_in(source: &str, file: &str) -> Vec<GivenCode> {
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).fold(
        String::new(),
        |mut all, line| {
            all.push_str(line);
            all.push('\n');
            all
        },
    );
    let mut given = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find('"').map(|found| at + found) {
        let Some(end) = code[start + 1..].find('"').map(|found| start + 1 + found) else { break };
        let (before, word, after) = (code[..start].trim_end(), &code[start + 1..end], &code[end + 1..]);
        let is_code = word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if is_code && (BEFORE.iter().any(|head| before.ends_with(head)) || follows_a_kind(before)) {
            given.push(GivenCode {
                code: word.to_owned(),
                text: message_after(after),
                file: file.to_owned(),
            });
        }
        // Not after the end: a quote within a string ends nothing.
        at = start + 1;
    }
    for after in code.split("error_code = '").skip(1) {
        let word = after.split('\'').next().unwrap_or_default();
        given.push(GivenCode { code: word.to_owned(), text: None, file: file.to_owned() });
    }
    given
}

/// Tells whether the kind or the status of a problem stands just before its code: `Trouble::Failure,`.
fn follows_a_kind(before: &str) -> bool {
    let Some(kind) = before.strip_suffix(',') else { return false };
    let path = kind
        .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == ':' || c == '_'))
        .next()
        .unwrap_or_default();
    ["Trouble::", "StatusCode::"].iter().any(|head| path.starts_with(head))
}

/// The message that stands directly after a code: `, text!("id"`.
fn message_after(after: &str) -> Option<String> {
    let after = after.strip_prefix(".into()").or_else(|| after.strip_prefix(".to_owned()")).unwrap_or(after);
    let after = after.strip_prefix(',')?.trim_start();
    let after = after.strip_prefix("&error,").map_or(after, str::trim_start);
    let id = after.strip_prefix("text!(")?.trim_start().strip_prefix('"')?;
    id.split('"').next().map(str::to_owned)
}
