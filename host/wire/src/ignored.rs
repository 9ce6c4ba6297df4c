//! The parameters of a request that have no effect, which the client receives in a header.

use crate::raw::{Kind, Raw, are_one_name};

/// The maximum number of names that are reported, and their maximum length. Clients send about twenty.
const MOST: usize = 32;
const LONGEST: usize = 64;

/// The keys of a body besides these, sorted. Null and what is empty asks for nothing; a name that a header cannot hold is
/// left out.
pub(crate) fn of(body: Raw<'_>, used: &[&str]) -> Vec<String> {
    of_all([(body, used)])
}

/// The same of several objects, each with its own keys.
pub(crate) fn of_all<'a>(objects: impl IntoIterator<Item = (Raw<'a>, &'a [&'a str])>) -> Vec<String> {
    let mut names: Vec<String> = objects.into_iter().flat_map(|(object, used)| names(object, used)).collect();
    names.sort();
    names.dedup();
    names.truncate(MOST);
    names
}

fn names<'a>(object: Raw<'a>, used: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let asks = |value: Raw<'_>| value.kind() != Kind::Null && !matches!(value.json(), "[]" | "{}" | "\"\"");
    let is_word = |name: &str| {
        (1..=LONGEST).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let is_used = |name: &str| used.iter().any(|used| are_one_name(used, name));
    let entries = object.entries().unwrap_or_default().into_iter();
    entries.filter(move |(name, value)| asks(*value) && is_word(name) && !is_used(name)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mend;

    fn ignored(body: &str) -> Vec<String> {
        of(mend::json(body.as_bytes()).unwrap().value(), &["model"])
    }

    #[test]
    fn names_are_sorted_and_those_that_ask_for_nothing_are_left_out() {
        let body =
            r#"{"top_p": 1, "model": "m", "seed": 0, "top_p": 2, "user": "", "tools": [], "a": null, "x\ny": 1}"#;
        assert_eq!(ignored(body), ["seed", "top_p"]);
    }

    #[test]
    fn the_list_is_bounded() {
        let fields: Vec<String> = (0..100).map(|at| format!("\"k{at:03}\": 1")).collect();
        let names = ignored(&format!("{{\"{}\": 1, {}}}", "k".repeat(LONGEST + 1), fields.join(", ")));
        assert_eq!((names.len(), names[0].as_str()), (MOST, "k000"));
    }
}
