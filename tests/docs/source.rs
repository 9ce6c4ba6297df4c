//! Names in the source text of the host that the program does not list: string literals, routes, codes, error messages.

use std::fs;
use std::path::{Path, PathBuf};

use super::markdown::checkout;

/// A source file.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    fn read(path: &Path) -> Self {
        Self { path: path.display().to_string(), text: fs::read_to_string(path).unwrap() }
    }
}

/// The source files of all crates of the host.
pub(super) fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    add(&checkout().join("host"), &mut sources);
    assert!(sources.len() > 100, "the host has {} files", sources.len());
    sources
}

fn add(folder: &Path, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(Source::read(&path));
        }
    }
}

/// The examples in comments that Cargo would run: blocks of Rust that are not marked as ignored.
fn examples(source: &str) -> Vec<&str> {
    let comments = source.lines().map(str::trim_start).filter_map(|line| line.strip_prefix("//"));
    let fences = comments.filter_map(|comment| comment.trim_start_matches(['/', '!']).trim().strip_prefix("```"));
    fences.step_by(2).filter(|language| !["text", "ignore"].contains(language)).collect()
}

/// The string literals of a file, as the program has them.
pub(super) fn literals(source: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (before, found) = rest.split_at(at);
        let after = &found[1..];
        rest = if found.starts_with("//") {
            found.find('\n').map_or("", |end| &found[end..])
        } else if found.starts_with('\'') {
            // A character, or the name of a lifetime.
            ["\"'", "\\\"'", "\\''", "/'"].iter().find_map(|c| after.strip_prefix(c)).unwrap_or(after)
        } else if found.starts_with('/') {
            after
        } else if before.trim_end_matches('#').ends_with('r') {
            let hashes = before.len() - before.trim_end_matches('#').len();
            let closing = format!("\"{}", "#".repeat(hashes));
            let (literal, after) = after.split_once(&closing).unwrap_or((after, ""));
            literals.push(literal.to_owned());
            after
        } else {
            let (literal, after) = literal(after);
            literals.push(literal);
            after
        };
    }
    literals
}

/// The literal at the beginning of a text, and the text after it.
fn literal(text: &str) -> (String, &str) {
    let mut literal = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return (literal, rest.as_str()),
            '\\' => match rest.next() {
                Some('n') => literal.push('\n'),
                // The line continues.
                Some('\n') => rest = rest.as_str().trim_start().chars(),
                Some(escaped) => literal.push(escaped),
                None => {}
            },
            c => literal.push(c),
        }
    }
    (literal, "")
}

/// The routes, as `GET /path`.
pub(super) fn routes(source: &str) -> Vec<String> {
    let calls = source.split(".route(").skip(1);
    calls
        .flat_map(|call| {
            let call = call.split("\n        .").next().unwrap();
            let path = literals(call).into_iter().next().unwrap_or_default().replace("{*", "{");
            let methods = ["get", "post", "put", "patch", "delete"];
            let takes = |method: &&str| {
                call.match_indices(&format!("{method}(")).any(|(at, _)| {
                    !call[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
                })
            };
            let taken: Vec<&str> = methods.into_iter().filter(takes).collect();
            taken.into_iter().map(move |method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
        })
        .collect()
}

/// The argument after a status in a call: the `code` or `type` of an error.
pub(super) fn codes(source: &str) -> Vec<String> {
    let calls = source.split("StatusCode::").skip(1);
    let code = |call: &str| {
        let after = call.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == '_');
        let code = after.strip_prefix(',')?.trim_start().strip_prefix('"')?.split('"').next()?;
        code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_').then(|| code.to_owned())
    };
    calls.filter_map(code).collect()
}

/// The messages of the errors that a file defines.
pub(super) fn messages(source: &str) -> Vec<String> {
    let attributes = source.split("#[error(").skip(1).filter(|attribute| !attribute.starts_with("transparent"));
    attributes.filter_map(|attribute| literals(attribute).into_iter().next()).collect()
}

#[test]
fn names_are_found_in_source() {
    let source = r##"
// "no" in a comment
fn f<'a>() -> char { '"' }
const A: &str = "x-a";
#[error("it is \"so\" and \
         so")]
#[error(transparent)]
Router::new().route("/a/{*id}", get(one).delete(two::get_rid))
        .route("/b", post(three))
        .layer(get(x));
refused(StatusCode::BAD_REQUEST, "bad_one", None, StatusCode::OK);
refused(
    StatusCode::NOT_FOUND,
    "no_one",
);
const R: &str = r#"raw "x""#;
"##;
    let text = literals(source);
    assert_eq!(text, ["x-a", "it is \"so\" and so", "/a/{*id}", "/b", "bad_one", "no_one", "raw \"x\""]);
    assert_eq!(routes(source), ["GET /a/{id}", "DELETE /a/{id}", "POST /b"]);
    assert_eq!(codes(source), ["bad_one", "no_one"]);
    assert_eq!(messages(source), ["it is \"so\" and so"]);
}

/// The folders with a manifest below a folder.
fn crates(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(checkout().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("Cargo.toml").is_file()).collect()
}

#[test]
fn a_target_that_cargo_does_not_test_has_no_tests() {
    let mut untested = Vec::new();
    for path in [crates("host"), crates("plugins")].concat() {
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let is_off = |target: &str| {
            manifest.split("\n[").any(|part| part.starts_with(target) && part.contains("\ntest = false"))
        };
        if is_off("lib]") {
            add(&path.join("src"), &mut untested);
        }
        if is_off("[bin]]") {
            untested.push(Source::read(&path.join("src/main.rs")));
        }
    }
    assert!(untested.len() > 30, "only {} files are in such targets", untested.len());
    let found: Vec<&String> =
        untested.iter().filter(|source| source.text.contains("#[test]")).map(|source| &source.path).collect();
    assert!(found.is_empty(), "the manifests set `test = false`: move the tests of {found:?} to the folder `tests`");
}

#[test]
fn no_comment_has_an_example_since_cargo_runs_none() {
    assert_eq!(examples("//! ```text\n//! ```\n    /// ```\n    /// f();\n    /// ```\n/// ```ignore\n/// ```"), [""]);
    let mut all = sources();
    add(&checkout().join("plugins"), &mut all);
    let found: Vec<&String> =
        all.iter().filter(|source| !examples(&source.text).is_empty()).map(|source| &source.path).collect();
    assert!(found.is_empty(), "the manifests set `doctest = false`: move the examples of {found:?} to tests");
}
