//! A component without what only people and tools read in it: the custom sections, in its modules too. All other sections
//! stay as they are, byte for byte.

use std::mem;

use wasm_encoder::{ComponentSection, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

/// What a registry shows of a component: who made it, and on which terms it may be used.
const SAID_BY_ITS_AUTHOR: [&str; 7] =
    ["authors", "description", "homepage", "licenses", "revision", "source", "version"];

/// Hints for the compiler, by which code gets faster.
const HINTS: &str = "metadata.code.";

/// Takes names of functions, debugging data and the like out of a component. What its author says of it stays, and so do
/// hints for the compiler.
///
/// # Errors
/// It is no component.
pub(super) fn stripped(component: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    // What is around the part that is being written, each with the number of the section that the part will be in it.
    let mut around: Vec<(u8, Vec<u8>)> = Vec::new();
    let mut part = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        match (&payload, payload.as_section()) {
            (Payload::Version { range, .. }, _) => part.extend_from_slice(&component[range.clone()]),
            (Payload::ModuleSection { .. } | Payload::ComponentSection { .. }, Some((id, _))) => {
                around.push((id, mem::take(&mut part)));
            }
            (Payload::End(_), _) => {
                if let Some((id, outer)) = around.pop() {
                    let inner = mem::replace(&mut part, outer);
                    RawSection { id, data: &inner }.append_to_component(&mut part);
                }
            }
            (Payload::CustomSection(custom), _) if !stays(custom.name()) => {}
            (_, Some((id, range))) => {
                RawSection { id, data: &component[range] }.append_to_component(&mut part);
            }
            // A function's code: all of it came as one section.
            (_, None) => {}
        }
    }
    Ok(part)
}

fn stays(custom: &str) -> bool {
    custom.starts_with(HINTS) || SAID_BY_ITS_AUTHOR.contains(&custom)
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        CodeSection, Component, CustomSection, Function, FunctionSection, Instruction, Module, ModuleSection,
        NestedComponentSection, TypeSection,
    };

    use super::*;

    const KEPT: [&str; 2] = ["metadata.code.branch_hint", "licenses"];
    const ALL: [&str; 6] = ["name", "metadata.code.branch_hint", "licenses", "producers", ".debug_info", "anything"];

    fn custom(name: &str) -> CustomSection<'_> {
        CustomSection { name: name.into(), data: b"data".into() }
    }

    fn module(customs: &[&str]) -> Module {
        let (mut types, mut functions, mut code, mut body) =
            (TypeSection::new(), FunctionSection::new(), CodeSection::new(), Function::new([]));
        types.ty().function([], []);
        functions.function(0).function(0);
        body.instruction(&Instruction::End);
        code.function(&body).function(&body);
        let mut module = Module::new();
        module.section(&types).section(&functions);
        for name in customs {
            module.section(&custom(name));
        }
        module.section(&code);
        module
    }

    /// A component with a module, and with a component in it that has a module too.
    fn component(customs: &[&str]) -> Vec<u8> {
        let with = |nested: Option<&Component>| {
            let mut component = Component::new();
            component.section(&ModuleSection(&module(customs)));
            for name in customs {
                component.section(&custom(name));
            }
            if let Some(nested) = nested {
                component.section(&NestedComponentSection(nested));
            }
            component
        };
        with(Some(&with(None))).finish()
    }

    #[test]
    fn custom_sections_go_wherever_they_are_but_hints_and_the_words_of_the_author() {
        assert_eq!(stripped(&component(&ALL)).unwrap(), component(&KEPT));
        assert_eq!(stripped(&component(&KEPT)).unwrap(), component(&KEPT));
    }

    #[test]
    fn what_is_no_component_is_told() {
        let whole = component(&ALL);
        for broken in [&whole[..whole.len() - 1], b"text", b""] {
            assert!(stripped(broken).is_err());
        }
    }
}
