//! Builds the plugin of `fixtures/plugins/letter.wat`, which answers with one letter.

use std::fs;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::support::fixtures;

/// The component that answers with this letter.
pub(super) fn component(letter: char) -> Vec<u8> {
    let text = fs::read_to_string(fixtures().join("plugins/letter.wat")).unwrap();
    let mut module = wat::parse_str(text.replace("{letter}", &letter.to_string())).unwrap();
    let contract = fs::read_to_string(fixtures().parent().unwrap().join("wit/v0.1/agent.wit")).unwrap();
    let mut resolve = Resolve::default();
    let package = resolve.push_str("agent.wit", &contract).unwrap();
    let world = resolve.select_world(&[package], Some("cli-agent")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).and_then(|encoder| encoder.encode()).unwrap()
}
