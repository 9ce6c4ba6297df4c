//! Long transcripts of recorded runs, read by a plugin natively, as a library, and as a component in the plugin host.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use agentbay_domain::{PluginLimits, StreamName, Trust, Turn};
use agentbay_plugin_claude::Claude;
use agentbay_plugin_codex::Codex;
use agentbay_plugin_host::{
    CompileFuture, Compiler, Engine, Instance, LoadedPlugin, Transcript as Reader, load_bytes_to_inspect,
};
use agentbay_plugin_sdk::{Agent, StreamName as NativeName, Transcript as _, testing};
use anyhow::{Context, Result};
use bytes::Bytes;

/// Bytes of a piece of output, about as many as a pipe holds.
const PIECE: usize = 64 * 1024;

/// The plugins, each with its recorded run and its native reader.
pub(crate) const PARSERS: [Parser; 2] = [
    Parser { plugin: "claude", recording: "claude/markdown", native: events::<Claude> },
    Parser { plugin: "codex", recording: "codex/tool", native: events::<Codex> },
];

/// A plugin, and what it reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parser {
    /// Its id.
    pub(crate) plugin: &'static str,
    recording: &'static str,
    /// Reads pieces natively, and returns the number of events.
    pub(crate) native: fn(&[String]) -> usize,
}

/// A loaded component.
pub(crate) struct Component(LoadedPlugin);

/// Compiles in this process: a component of this project needs no other one.
#[derive(Debug)]
struct Here;

impl Compiler for Here {
    fn compile<'a>(&'a self, _component: Bytes, _limits: &'a PluginLimits) -> CompileFuture<'a> {
        Box::pin(async { Ok(()) })
    }
}

impl Parser {
    /// The recorded run but for its last event, repeated to at least this number of bytes, in pieces of whole lines.
    pub(crate) fn pieces(&self, fixtures: &Path, bytes: usize) -> Result<Vec<String>> {
        let file = fixtures.join(self.recording).join("stdout");
        let recorded = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let (lines, _last) = recorded.trim_end().rsplit_once('\n').context("the recorded run has one line")?;
        let piece = vec![lines; PIECE.div_ceil(lines.len())].join("\n");
        Ok(vec![piece.clone(); bytes.div_ceil(piece.len())])
    }

    /// The component of the plugin, as it is embedded in the program.
    pub(crate) async fn component(&self, engine: &Engine, prebuilt: &Path) -> Result<Component> {
        let file = prebuilt.join(format!("{}.wasm", self.plugin));
        let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
        let limits = PluginLimits::default();
        Ok(Component(load_bytes_to_inspect(engine, &file, bytes, &Trust::default(), &limits).await?))
    }
}

impl Component {
    /// A fresh instance.
    pub(crate) async fn instance(&self) -> Result<Instance> {
        Ok(self.0.instance(&PluginLimits::default()).await?)
    }

    /// The reader of a process, which has begun its turn.
    pub(crate) async fn reader(&self) -> Result<Reader> {
        let turn = Turn { prompt: "hello".into(), workdir: "/".into(), run_dir: "/".into(), ..Turn::default() };
        let mut reader = self.instance().await?.transcript(&turn).await?;
        reader.begin(&turn).await?;
        Ok(reader)
    }
}

/// Reads pieces, and returns the number of events.
pub(crate) async fn read(reader: &mut Reader, pieces: &[String]) -> Result<usize> {
    let mut events = 0;
    for piece in pieces {
        // A copy, as the host's own reader makes one of what it has decoded.
        events += reader.output(StreamName::Stdout, piece.clone()).await?.len();
    }
    Ok(events)
}

/// The engine of the program, with a folder for compiled code.
pub(crate) fn engine(cache: &Path) -> Result<Engine> {
    Ok(Engine::new(cache, Arc::new(Here), Arc::new(()))?)
}

fn events<A: Agent>(pieces: &[String]) -> usize {
    let turn = testing::turn("hello");
    let mut reader = A::Transcript::new(&turn);
    reader.begin(&turn);
    pieces.iter().map(|piece| reader.output(NativeName::Stdout, piece).len()).sum()
}
