//! The map of the host's crates, compared with Cargo and the checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::markdown::{Document, checkout};

/// The crates below `host/` and those of them that each uses besides `domain`.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// A crate's folder by its package.
fn folder(package: &str) -> Option<&str> {
    if package == "agentbay" { Some(package) } else { package.strip_prefix("agentbay-") }
}

#[expect(clippy::disallowed_methods, reason = "the test asks Cargo")]
fn of_cargo() -> Arrows {
    let args = ["metadata", "--format-version", "1", "--no-deps", "--offline", "--locked"];
    let output = Command::new(env!("CARGO")).args(args).current_dir(checkout()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_of_host = |package: &&Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.strip_prefix(checkout().join("host")).is_ok()
    };
    let arrows = |package: &Value| {
        let used = package["dependencies"].as_array().unwrap().iter();
        let used = used.filter(|used| used["kind"].is_null() && !used["path"].is_null());
        let used = used.filter_map(|used| folder(used["name"].as_str().unwrap())).filter(|used| *used != "domain");
        (folder(package["name"].as_str().unwrap()).unwrap().to_owned(), used.map(str::to_owned).collect())
    };
    metadata["packages"].as_array().unwrap().iter().filter(is_of_host).map(arrows).collect()
}

/// The backquoted words of a text.
fn words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The cells of each row of the tables below a heading, without the head.
fn rows<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let below = text.split(&format!("# {heading}\n")).nth(1).expect("the heading").split("\n#").next().unwrap();
    let rows = below.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" |").map(str::trim).collect()).collect()
}

#[test]
fn the_map_of_the_crates_draws_the_arrows_that_cargo_holds() {
    let text = Document::read("host/README.md").text;
    let drawn: Arrows = rows(&text, "The host")
        .into_iter()
        .map(|row| (words(row[0])[0].to_owned(), words(row[2]).into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(drawn, of_cargo());
}

#[test]
fn the_map_leads_to_files_that_exist() {
    let text = Document::read("host/README.md").text;
    let rows = ["Where is …", "Where do I add …"].map(|heading| rows(&text, heading)).concat();
    let named: Vec<&str> = rows.iter().flat_map(|row| words(row[1])).filter(|word| word.contains('/')).collect();
    assert!(named.len() > 20, "{named:?}");
    let is_lost = |name: &&&str| !name.contains("NAME") && !checkout().join("host").join(name).exists();
    assert_eq!(named.iter().filter(is_lost).collect::<Vec<_>>(), Vec::<&&str>::new());
}
