//! Checks that the contract is stable: the frozen copy of each line under wit/ never changes, and the current wit/agent.wit is
//! either one of them or a new line. wit/CHANGES.md describes how a line is frozen.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::Sha256Sum;

use super::{contracts, number};

/// The frozen copies by line, each with its permanent hash.
const FROZEN: [(&str, &str); 1] = [("0.1", "f30a4f79a4e79d8b5fa610cb1ece6ee72dd9285111a83ce2867e3c02b80453f4")];

fn wit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

fn frozen(line: &str) -> Vec<u8> {
    fs::read(wit().join(format!("v{line}/agent.wit"))).unwrap()
}

#[test]
fn a_frozen_contract_never_changes() {
    for (line, sha256) in FROZEN {
        let now = Sha256Sum::of(&frozen(line)).to_string();
        assert_eq!(now, sha256, "wit/v{line} is frozen: plugins were built against it, so restore it");
    }
}

#[test]
fn every_frozen_contract_is_supported() {
    let mut kept = BTreeMap::new();
    for entry in fs::read_dir(wit()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(line) = name.strip_prefix('v') {
            kept.insert(number(line), line.to_owned());
        }
    }
    let kept: Vec<String> = kept.into_values().collect();
    assert_eq!(
        (kept.as_slice(), contracts().collect::<Vec<_>>()),
        (&FROZEN.map(|(line, _)| line.to_owned())[..], kept.iter().map(String::as_str).collect())
    );
}

#[test]
fn the_current_contract_is_frozen_or_a_new_line() {
    let text = fs::read_to_string(wit().join("agent.wit")).unwrap();
    let package = text.lines().find_map(|line| line.strip_prefix("package agentbay:plugin@"));
    let version = package.and_then(|rest| rest.strip_suffix(';')).expect("the package and its version");
    if let Some((line, _)) = FROZEN.iter().find(|(line, _)| number(line) == number(version)) {
        assert!(
            text.as_bytes() == frozen(line),
            "wit/agent.wit has version {version} and differs from the frozen wit/v{line}: give its package the \
             number of the next line, and freeze that as wit/CHANGES.md describes"
        );
    }
}
