//! A problem in the format of the local API.

use espelho_model::text::Text;
use espelho_sync_engine::{Problem, Trouble};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct WireProblem {
    trouble: String,
    code: String,
    error: String,
    text: Text,
}

const TROUBLES: [(Trouble, &str); 6] = [
    (Trouble::Failure, "failure"),
    (Trouble::Authentication, "authentication"),
    (Trouble::Guard, "guard"),
    (Trouble::Held, "held"),
    (Trouble::Configuration, "configuration"),
    (Trouble::Stopped, "stopped"),
];

impl From<&Problem> for WireProblem {
    fn from(problem: &Problem) -> Self {
        let word =
            TROUBLES.iter().find(|(trouble, _)| *trouble == problem.trouble).map_or("failure", |(_, w)| w);
        let Problem { code, error, text, .. } = problem.clone();
        Self { trouble: word.to_owned(), code, error, text }
    }
}

impl From<WireProblem> for Problem {
    fn from(WireProblem { trouble, code, error, text }: WireProblem) -> Self {
        let known = TROUBLES.iter().find(|(_, word)| *word == trouble);
        Self { trouble: known.map_or(Trouble::Failure, |(trouble, _)| *trouble), code, error, text }
    }
}
