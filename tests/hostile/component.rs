//! Builds hostile plugins from the texts in `fixtures/hostile`: core WebAssembly and the contract in wit/ become a component.

use std::fs;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::support::fixtures;

/// The contract, possibly with changes.
pub(super) struct Contract {
    version: &'static str,
    wit: String,
}

impl Contract {
    /// The unchanged contract.
    pub(super) fn ours() -> Self {
        let file = fixtures().parent().unwrap().join("wit/agent.wit");
        Self { version: "0.1.0", wit: fs::read_to_string(file).unwrap() }
    }

    /// The contract with another version.
    pub(super) fn of_version(version: &'static str) -> Self {
        Self { version, ..Self::ours() }.with("agentbay:plugin@0.1.0", &format!("agentbay:plugin@{version}"))
    }

    /// The contract with a text replaced.
    pub(super) fn with(self, text: &str, other: &str) -> Self {
        assert!(self.wit.contains(text), "the contract does not contain {text:?}");
        Self { wit: self.wit.replacen(text, other, 1), ..self }
    }
}

/// The text of a plugin in `fixtures/hostile`.
pub(super) fn text(name: &str) -> String {
    fs::read_to_string(fixtures().join("hostile").join(name).with_extension("wat")).unwrap()
}

/// What a plugin attempts, from the comment in its first line.
pub(super) fn attempt(name: &str) -> String {
    text(name).lines().next().and_then(|line| line.strip_prefix(";; ").map(str::to_owned)).expect("a comment")
}

/// The well-behaved plugin with these paragraphs replaced.
pub(super) fn component(id: &str, changes: &str, contract: &Contract) -> Vec<u8> {
    let core = core_module(id, changes, contract.version);
    let mut module = wat::parse_str(&core).unwrap_or_else(|error| panic!("{id}: {error}"));
    let mut resolve = Resolve::default();
    let package = resolve.push_str("agent.wit", &contract.wit).unwrap();
    let world = resolve.select_world(&[package], Some("cli-agent")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let encoded = ComponentEncoder::default().module(&module).and_then(|encoder| encoder.encode());
    encoded.unwrap_or_else(|error| panic!("{id}: {error:#}"))
}

fn core_module(id: &str, changes: &str, version: &str) -> String {
    let ours = text("plugin");
    let replaced: Vec<&str> = changes.split("\n\n").filter_map(head).collect();
    let kept = ours.split("\n\n").filter(|paragraph| head(paragraph).is_none_or(|head| !replaced.contains(&head)));
    // Imports must be first.
    let (imports, others): (Vec<&str>, Vec<&str>) =
        kept.chain(changes.split("\n\n")).partition(|paragraph| code(paragraph).starts_with("(import"));
    let module = format!("(module\n{}\n{}\n)", imports.join("\n"), others.join("\n\n"));
    module
        .replace("{interface}", &format!("agentbay:plugin/agent@{version}"))
        .replace("{id-length}", &id.len().to_string())
        .replace("{id}", id)
}

/// A paragraph without the comment before it.
fn code(paragraph: &str) -> &str {
    let comment: usize = paragraph.split_inclusive('\n').take_while(|line| line.starts_with(";;")).map(str::len).sum();
    paragraph[comment..].trim()
}

/// The name that a paragraph defines, such as `(func $begin`.
fn head(paragraph: &str) -> Option<&str> {
    let code = code(paragraph);
    let (kind, rest) = code.split_once(' ')?;
    let name = rest.strip_prefix('$')?.split([' ', '\n', ')']).next()?;
    Some(&code[..kind.len() + 2 + name.len()])
}
