//! Links of the documents: their targets in the checkout exist, and the book has each of its pages.

use std::path::{Component, Path, PathBuf};

use super::markdown::{Document, REPOSITORY, checkout, pages};

/// The documents outside of the book, beside README.
const OTHERS: [&str; 4] = ["CONTRIBUTING.md", "plugins/README.md", "plugins/generic/README.md", "wit/CHANGES.md"];

/// The file in the checkout that a link leads to, and the anchor in it; `None` if it leads elsewhere.
fn target(from: &Document, link: &str) -> Option<(PathBuf, String)> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = match (path.strip_prefix(REPOSITORY), path) {
        (Some(path), _) => PathBuf::from(path),
        (None, "") => PathBuf::from(&from.path),
        (None, path) if path.contains("://") => return None,
        (None, path) => normal(&Path::new(&from.path).parent().unwrap().join(path)),
    };
    Some((path, anchor.to_owned()))
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, component| {
        if component == Component::ParentDir {
            path.pop();
        } else {
            path.push(component);
        }
        path
    })
}

/// The fault of a link.
fn fault(from: &Document, link: &str) -> Option<String> {
    let (path, anchor) = target(from, link)?;
    if !checkout().join(&path).exists() {
        return Some(format!("{}: {link}: there is no such file", from.path));
    }
    if from.path.starts_with("docs/") && !link.contains("://") && !path.starts_with("docs/src") {
        return Some(format!("{}: {link}: the published book does not have that file: use {REPOSITORY}…", from.path));
    }
    if anchor.is_empty() || Document::read(path.to_str().unwrap()).anchors().contains(&anchor) {
        return None;
    }
    Some(format!("{}: {link}: there is no such heading", from.path))
}

fn faults(document: &Document) -> Vec<String> {
    document.links().iter().filter_map(|link| fault(document, link)).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut documents = pages();
    documents.extend(OTHERS.map(Document::read));
    let links: usize = documents.iter().map(|document| document.links().len()).sum();
    assert!(links > 100, "only {links} links were found");
    let faults: Vec<String> = documents.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_link_without_a_file_or_heading_is_found() {
    let text = "[a](nothing.md) [b](api.md#nothing) [c](../../README.md) [d](api.md#errors) [e](https://example.com/x)";
    let page = Document { path: "docs/src/metrics.md".to_owned(), text: text.to_owned() };
    let found: Vec<String> = faults(&page).iter().map(|fault| fault.split(": ").nth(1).unwrap().to_owned()).collect();
    assert_eq!(found, ["nothing.md", "api.md#nothing", "../../README.md"]);
}

#[test]
fn the_summary_names_every_page_once() {
    let mut pages: Vec<String> =
        pages().into_iter().filter_map(|page| page.path.strip_prefix("docs/src/").map(str::to_owned)).collect();
    pages.retain(|page| page != "SUMMARY.md");
    let mut named = Document::read("docs/src/SUMMARY.md").links();
    named.sort();
    assert_eq!(named, pages);
}

#[test]
fn readme_fits_into_a_hundred_and_twenty_lines() {
    let lines = Document::read("README.md").text.lines().count();
    assert!(lines <= 120, "{lines} lines: move something into docs/");
}

#[test]
fn the_installation_builds_the_crate_of_the_program() {
    let mut count = 0;
    for document in pages() {
        let installs = document.text.lines().filter(|line| line.contains("cargo install") && line.contains("--path "));
        for line in installs {
            let path = line.split("--path ").nth(1).unwrap().split(' ').next().unwrap().trim_start_matches("/src/");
            let manifest = std::fs::read_to_string(checkout().join(path).join("Cargo.toml"));
            let is_program = manifest.is_ok_and(|text| text.contains("\nname = \"agentbay\"\n"));
            assert!(is_program, "{}: {line:?} names a folder without the program", document.path);
            count += 1;
        }
    }
    assert!(count >= 2, "README and the container file install the program");
}
