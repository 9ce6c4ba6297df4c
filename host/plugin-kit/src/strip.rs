//! Removes the custom sections of a component and of its modules, which only people and tools read. All other sections are
//! copied byte for byte.

use std::mem;

use wasm_encoder::{ComponentSection, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

/// Metadata that registries show: author, licence and the like.
const REGISTRY_METADATA: [&str; 7] =
    ["authors", "description", "homepage", "licenses", "revision", "source", "version"];

/// Prefix of the compiler's optimisation hints.
const HINTS: &str = "metadata.code.";

/// Removes function names, debugging data and the like from a component. Registry metadata and compiler hints are kept.
///
/// # Errors
/// The bytes are not a valid component.
pub(super) fn stripped(component: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    // The enclosing parts, each with the section number of the part inside it that is being written.
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
            // A function's code, which was copied with its section.
            (_, None) => {}
        }
    }
    Ok(part)
}

fn stays(custom: &str) -> bool {
    custom.starts_with(HINTS) || REGISTRY_METADATA.contains(&custom)
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

    /// A component with a module and a nested component that has a module too.
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
    fn custom_sections_are_removed_at_every_level_except_hints_and_registry_metadata() {
        assert_eq!(stripped(&component(&ALL)).unwrap(), component(&KEPT));
        assert_eq!(stripped(&component(&KEPT)).unwrap(), component(&KEPT));
    }

    #[test]
    fn bytes_that_are_not_a_component_are_an_error() {
        let whole = component(&ALL);
        for broken in [&whole[..whole.len() - 1], b"text", b""] {
            assert!(stripped(broken).is_err());
        }
    }
}
