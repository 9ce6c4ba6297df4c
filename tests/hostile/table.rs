//! The table of hostile plugins: each with the limit that has to stop it, and the expected answer.

use super::bomb::nest;
use super::component::{Contract, attempt, component, text};
use super::plans::leading_to;

/// A hostile plugin.
pub(super) struct Hostile {
    /// Its id, and that of its model.
    pub(super) name: &'static str,
    /// What it attempts.
    pub(super) attempt: String,
    pub(super) file: Vec<u8>,
    pub(super) stopped: Stopped,
}

impl Hostile {
    /// Whether the limit of a call's processor time has to stop it.
    pub(super) fn runs_out_of_time(&self) -> bool {
        matches!(self.stopped, AtLoad(CPU) | Failed(_, CPU) | Recorded(CPU))
    }
}

/// What has to stop a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It is refused at load, with a reason that contains these words.
    AtLoad(&'static str),
    /// Its run fails with this status and an error that contains these words.
    Failed(u16, &'static str),
    /// Its run answers, but a failure of the plugin is recorded with a reason that contains these words.
    Recorded(&'static str),
    /// Its run answers with this: it affects only itself.
    Harmless(&'static str),
}

use Stopped::{AtLoad, Failed, Harmless, Recorded};

const CPU: &str = "`limits.plugin_call_cpu`";
const TRAP: &str = "`unreachable` instruction executed";

/// Plugins with a text in `fixtures/hostile`.
const TEXTS: [(&str, Stopped); 35] = [
    ("loop-at-start", AtLoad(CPU)),
    ("loop-in-describe", AtLoad(CPU)),
    ("loop-in-prepare", Failed(500, CPU)),
    ("loop-in-begin", Failed(500, CPU)),
    ("loop-in-output", Failed(500, CPU)),
    ("loop-in-exit", Recorded(CPU)),
    ("trap-in-describe", AtLoad(TRAP)),
    ("trap-in-prepare", Failed(500, TRAP)),
    ("trap-in-constructor", Failed(500, TRAP)),
    ("trap-in-begin", Failed(500, TRAP)),
    ("trap-in-output", Failed(500, TRAP)),
    ("trap-in-mid-stream", Recorded(TRAP)),
    ("trap-in-exit", Recorded(TRAP)),
    ("large-memory", AtLoad("`limits.plugin_memory`")),
    ("memory-bomb", Failed(500, "`limits.plugin_memory`")),
    ("table-bomb", Failed(500, "`limits.plugin_memory`")),
    ("handle-bomb", Failed(500, "handle limit exceeded")),
    ("fill-memory", Failed(500, CPU)),
    ("deep-recursion", Failed(500, "call stack exhausted")),
    ("long-result", Failed(500, "`limits.plugin_result`")),
    ("million-events", Failed(500, "`transcript.output`")),
    ("many-events", Failed(500, "`limits.plugin_events`")),
    ("endless-text", Recorded("`limits.plugin_output`")),
    ("many-notices", Harmless("")),
    ("forged-done", Harmless("forged")),
    ("forged-session", Harmless("one\ntwo\n")),
    ("long-session", Harmless("one\ntwo\n")),
    ("undeclared-program", Failed(500, "asks for the program `sh`, which it does not declare")),
    ("ld-preload", Failed(500, "sets the variable `LD_PRELOAD`")),
    ("file-outside", Failed(500, "a file with the invalid name \"../x\"")),
    ("many-files", Failed(500, "the plan has 100000 files")),
    ("nul-in-argument", Failed(500, "a NUL byte in argument 1")),
    ("long-arguments", Failed(400, "argument 1 of the CLI")),
    ("gigabytes-of-arguments", Failed(500, "`limits.plugin_result`")),
    ("long-name", AtLoad("a name of 1048576 bytes")),
];

/// All of them.
pub(super) fn all() -> Vec<Hostile> {
    let ours = Contract::ours();
    let of_text = |(name, stopped)| {
        let file = component(name, &text(name), &ours);
        Hostile { name, attempt: attempt(name), file, stopped }
    };
    TEXTS.map(of_text).into_iter().chain(made()).chain(leading()).collect()
}

/// Plugins that are hostile by their format.
fn made() -> Vec<Hostile> {
    let ours = Contract::ours();
    let made = |name, attempt: &str, stopped, file| Hostile { name, attempt: attempt.to_owned(), file, stopped };
    let good = component("good", "", &ours);
    let importing = Contract::ours().with("world cli-agent {", "world cli-agent {\n  import spy: func();");
    let spy = "(import \"$root\" \"spy\" (func $spy))";
    let other = Contract::ours().with("partial: bool", "partial: char");
    let memories = "(memory 1)\n\n".repeat(70);
    let tables = "(table 1 funcref)\n\n".repeat(70);
    let parts = AtLoad("`limits.plugin_instances`");
    vec![
        made(
            "compile-bomb",
            "is short, and needs gigabytes to compile",
            AtLoad("`limits.plugin_compile_memory`"),
            component("compile-bomb", &nest(1000, 1000), &ours),
        ),
        made(
            "many-instances",
            "has seventy modules",
            parts,
            with_instances(&component("many-instances", "", &ours), 70),
        ),
        made("many-memories", "has seventy memories", parts, component("many-memories", &memories, &ours)),
        made("many-tables", "has seventy tables", parts, component("many-tables", &tables, &ours)),
        made(
            "an-import",
            "imports a function of the host",
            AtLoad("imports `spy`"),
            component("an-import", spy, &importing),
        ),
        made(
            "other-types",
            "exports the contract with different types",
            AtLoad("exports the contract with different types"),
            component("other-types", "", &other),
        ),
        made(
            "other-version",
            "was built against contract 9.9.0",
            AtLoad("was built against contract 9.9.0, and this agentbay supports 0.1: agentbay must be updated"),
            component("other-version", "", &Contract::of_version("9.9.0")),
        ),
        made(
            "truncated",
            "is half a file",
            AtLoad("is not a valid WebAssembly component"),
            good[..good.len() / 2].to_vec(),
        ),
        made(
            "random",
            "is a file of random bytes",
            AtLoad("is not a valid WebAssembly component"),
            random(100_000, &[]),
        ),
        made(
            "random-body",
            "is random after the header of a component",
            AtLoad("is not a valid WebAssembly component"),
            random(100_000, &good[..8]),
        ),
        made("empty", "is an empty file", AtLoad("is not a valid WebAssembly component"), Vec::new()),
    ]
}

/// Plugins whose plans set a variable that leads the program to the plugin's files or servers.
fn leading() -> impl Iterator<Item = Hostile> {
    let lines = [
        ("home", "HOME", "sets the variable `HOME`, which a plugin may not"),
        ("settings", "XDG_CONFIG_HOME", "sets the variable `XDG_CONFIG_HOME`, which a plugin may not"),
        ("bun-options", "BUN_OPTIONS", "sets the variable `BUN_OPTIONS`, which a plugin may not"),
        ("npm-settings", "NPM_CONFIG_USERCONFIG", "sets the variable `NPM_CONFIG_USERCONFIG`, which a plugin may not"),
        ("java-options", "JDK_JAVA_OPTIONS", "sets the variable `JDK_JAVA_OPTIONS`, which a plugin may not"),
        ("openssl-settings", "OPENSSL_CONF", "sets the variable `OPENSSL_CONF`, which a plugin may not"),
        ("base-url", "ANTHROPIC_BASE_URL", "sets the variable `ANTHROPIC_BASE_URL`, which a plugin may not"),
        ("proxy", "https_proxy", "sets the variable `https_proxy`, which a plugin may not"),
        ("not-granted", "CODEX_HOME", "sets the variable `CODEX_HOME`, which is not granted"),
    ];
    lines.into_iter().map(|(name, variable, words)| {
        let file = leading_to(name, variable, &[("file", "x")]);
        Hostile {
            name,
            attempt: format!("sets {variable} to the folder of its files"),
            file,
            stopped: Failed(500, words),
        }
    })
}

/// A component with another module, and `count` instances of it.
fn with_instances(component: &[u8], count: u8) -> Vec<u8> {
    const CORE_MODULE: u8 = 1;
    const CORE_INSTANCES: u8 = 2;
    let module = [&[CORE_MODULE, 8], &b"\0asm\x01\0\0\0"[..]].concat();
    let modules = sections(component).filter(|kind| *kind == CORE_MODULE).count();
    // Each: instantiate, the index of the module, no arguments.
    let instance = [0, u8::try_from(modules).unwrap(), 0];
    let instances = [&[count][..], &instance.repeat(count.into())].concat();
    let length = instances.len();
    let length = [u8::try_from(length % 128).unwrap() | 128, u8::try_from(length / 128).unwrap()];
    [component, &module, &[CORE_INSTANCES], &length, &instances].concat()
}

/// The kinds of the sections of a component.
fn sections(component: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let mut rest = &component[8..];
    std::iter::from_fn(move || {
        let (kind, mut after) = rest.split_first()?;
        let (mut length, mut shift) = (0, 0);
        while let Some((byte, behind)) = after.split_first() {
            length |= usize::from(byte & 127) << shift;
            (after, shift) = (behind, shift + 7);
            if byte & 128 == 0 {
                break;
            }
        }
        rest = &after[length..];
        Some(*kind)
    })
}

/// Pseudo-random bytes, always the same ones.
fn random(count: usize, head: &[u8]) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let rest = std::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        state.to_be_bytes()[0]
    });
    head.iter().copied().chain(rest.take(count)).collect()
}
