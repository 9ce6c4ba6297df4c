//! What a plugin is for, as it describes itself when it is loaded.

use std::fmt;

use super::shown::is_deceptive;

/// A driver's name: lower-case letters, digits and dashes, beginning with a letter, 40 characters at the most.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PluginId(String);

impl PluginId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a file is named after it, by its name without `.wasm`: `NAME` or `NAME-VERSION`.
    pub fn names(&self, stem: &str) -> bool {
        stem.strip_prefix(self.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }
}

impl TryFrom<String> for PluginId {
    type Error = DescriptionError;

    fn try_from(name: String) -> Result<Self, DescriptionError> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(fits) && name.len() <= 40 {
            Ok(Self(name))
        } else {
            Err(DescriptionError::Id(name.chars().take(MOST_BYTES).collect()))
        }
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the host cuts the CLI's output before it reaches the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Whole lines only.
    Lines,
    /// What came, cut at the borders of characters and terminal escapes.
    Text,
}

/// What the CLI and its plugin can do. The names are those of `flags features` in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Features {
    /// Text comes while it is generated.
    pub partial: bool,
    /// Reasoning is told.
    pub reasoning: bool,
    /// Tool calls are told.
    pub tools: bool,
    /// A session can be resumed by its id.
    pub resume: bool,
    /// The CLI takes system instructions apart from the prompt.
    pub system_prompt: bool,
    /// The CLI can be held to a JSON Schema.
    pub output_schema: bool,
    /// The CLI takes further directories.
    pub extra_dirs: bool,
    /// The model can be chosen.
    pub model_choice: bool,
    /// The CLI can be kept from changing anything.
    pub read_only: bool,
    /// One process can run many turns.
    pub many_turns: bool,
}

/// A model the CLI is known to offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedModel {
    /// The vendor's name of it.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How many tokens it takes.
    pub context_window: Option<u32>,
}

/// How to find out about an installed CLI.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Probe {
    /// Arguments that make it print its version.
    pub version_args: Vec<String>,
    /// How the versions begin that the plugin was tested with, parted by commas.
    pub tested_versions: String,
    /// How to install the CLI.
    pub install_hint: String,
    /// How to log in.
    pub login_hint: String,
}

/// How the CLI's home folder is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The variable that moves it.
    pub env: String,
    /// Files in it that hold the login.
    pub keep: Vec<String>,
}

/// What a plugin is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The driver's name in the configuration.
    pub id: PluginId,
    /// Its name for people.
    pub name: String,
    /// The plugin's own version.
    pub version: String,
    /// The programs it may start, as bare names; none if the model's configuration must name the program.
    pub programs: Vec<String>,
    /// How it wants the output cut.
    pub framing: Framing,
    /// What it can do.
    pub features: Features,
    /// Models the CLI is known to offer.
    pub models: Vec<OfferedModel>,
    /// How to find out about an installed CLI.
    pub probe: Probe,
    /// How the CLI's home folder is moved, if it can be.
    pub home: Option<Home>,
}

/// Why a description is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// The id cannot stand in a configuration.
    #[error("{0:?} is no driver name: it takes lower-case letters, digits and dashes, a letter first, 40 at the most")]
    Id(String),
    /// A program is named by more than its bare name.
    #[error(
        "the plugin declares the program {0:?}: declare a bare name of ASCII letters, digits and signs, without a path"
    )]
    Program(String),
    /// A text is longer than anything that it could say.
    #[error("the plugin describes itself with {what} of {length} bytes: {MOST_BYTES} is the most")]
    Long {
        /// What the text is for.
        what: &'static str,
        /// Its length.
        length: usize,
    },
    /// A text has characters that a terminal obeys or hides.
    #[error("the plugin describes itself with control or invisible characters in {0}: leave them out")]
    Control(&'static str),
    /// A list is longer than any that could be meant.
    #[error("the plugin describes itself with {length} {what}: {MOST_ENTRIES} is the most")]
    Many {
        /// What is listed.
        what: &'static str,
        /// How many there are.
        length: usize,
    },
}

/// A name, a hint or a version is a line; this is several.
const MOST_BYTES: usize = 1000;

/// More than any CLI offers, of anything.
const MOST_ENTRIES: usize = 500;

impl Description {
    /// Whether a plan may name this program. A plugin that declares none leaves it to the configuration.
    pub fn declares(&self, program: &str) -> bool {
        match self.programs.as_slice() {
            [] => program.is_empty(),
            programs => programs.iter().any(|declared| declared == program),
        }
    }

    /// Checks what is acted on, the programs, and that all the rest can be kept and shown.
    ///
    /// # Errors
    /// See [`DescriptionError`].
    pub fn checked(self) -> Result<Self, DescriptionError> {
        // What looks like another program is taken for it by whoever grants it.
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | '\\');
        let bare = |name: &str| !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(plain);
        if let Some(name) = self.programs.iter().find(|name| !bare(name)) {
            return Err(DescriptionError::Program(name.chars().take(MOST_BYTES).collect()));
        }
        let keep = self.home.as_ref().map_or(&[][..], |home| home.keep.as_slice());
        for (what, length) in [
            ("programs", self.programs.len()),
            ("models", self.models.len()),
            ("arguments", self.probe.version_args.len()),
            ("files of a home", keep.len()),
        ] {
            if length > MOST_ENTRIES {
                return Err(DescriptionError::Many { what, length });
            }
        }
        self.texts().try_for_each(|(what, text)| line(what, text))?;
        Ok(self)
    }

    /// Every text, and what it is for.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { name, version, probe, home, .. } = self;
        let Probe { version_args, tested_versions, install_hint, login_hint } = probe;
        let single = [
            ("a name", name),
            ("a version", version),
            ("tested versions", tested_versions),
            ("an install hint", install_hint),
            ("a login hint", login_hint),
        ];
        let programs = self.programs.iter().map(|program| ("a program", program));
        let models = self.models.iter().flat_map(|model| [("a model", &model.id), ("a model", &model.name)]);
        let args = version_args.iter().map(|arg| ("an argument", arg));
        let homes = home.iter().map(|home| ("a variable", &home.env));
        let kept = home.iter().flat_map(|home| &home.keep).map(|file| ("a file of a home", file));
        let all = single.into_iter().chain(programs).chain(models).chain(args).chain(homes).chain(kept);
        all.map(|(what, text)| (what, text.as_str()))
    }
}

/// Whether a text fits into a line of a list.
fn line(what: &'static str, text: &str) -> Result<(), DescriptionError> {
    if text.len() > MOST_BYTES {
        return Err(DescriptionError::Long { what, length: text.len() });
    }
    // Hints may be of several lines.
    if text.chars().any(|c| is_deceptive(c) && c != '\n') { Err(DescriptionError::Control(what)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_name_is_plain() {
        for name in ["codex", "ax-glm", "a1"] {
            assert_eq!(PluginId::try_from(name.to_owned()).unwrap().as_str(), name);
        }
        for name in ["", "Codex", "1a", "-a", "a b", "a/b", "é", &"a".repeat(41)] {
            assert_eq!(PluginId::try_from(name.to_owned()), Err(DescriptionError::Id(name.to_owned())));
        }
    }

    fn description() -> Description {
        Description {
            id: PluginId("x".to_owned()),
            name: String::new(),
            version: String::new(),
            programs: vec![],
            framing: Framing::Lines,
            features: Features::default(),
            models: vec![],
            probe: Probe::default(),
            home: None,
        }
    }

    #[test]
    fn a_program_is_declared_by_its_bare_name() {
        let declared = |program: &str| Description { programs: vec![program.to_owned()], ..description() }.checked();
        assert!(declared("codex").is_ok());
        for program in ["", "/bin/sh", "../sh", "-x", ".x", "a\0", "сodex", "a b", "a\u{202e}"] {
            assert_eq!(declared(program), Err(DescriptionError::Program(program.to_owned())));
        }
    }

    #[test]
    fn what_is_kept_and_shown_has_an_end_and_cannot_order_a_terminal_about() {
        let named = |name: String| Description { name, ..description() }.checked();
        assert!(named("x".repeat(1000)).is_ok());
        assert_eq!(named("x".repeat(1001)), Err(DescriptionError::Long { what: "a name", length: 1001 }));
        for name in ["\u{1b}[2J", "a\u{202e}b", "a\u{2028}b", "a\u{200b}b"] {
            assert_eq!(named(name.to_owned()), Err(DescriptionError::Control("a name")));
        }
        let model = || OfferedModel { id: "m".to_owned(), name: String::new(), context_window: None };
        let offering = |count: usize| {
            let models = std::iter::repeat_with(model).take(count).collect();
            Description { models, ..description() }.checked()
        };
        assert!(offering(500).is_ok());
        assert_eq!(offering(501), Err(DescriptionError::Many { what: "models", length: 501 }));
        let home = Some(Home { env: "H".to_owned(), keep: vec!["a\0".to_owned()] });
        let at_home = Description { home, ..description() }.checked();
        assert_eq!(at_home, Err(DescriptionError::Control("a file of a home")));
    }
}
