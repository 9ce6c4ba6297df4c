//! A plugin's description of itself, read when it is loaded.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::terminal_safe::is_deceptive;

/// A driver's name: lower-case letters, digits and dashes, starting with a letter, at most 40 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PluginId(String);

impl PluginId {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a file name without `.wasm` belongs to this plugin: `NAME` or `NAME-VERSION`.
    pub fn matches_file_stem(&self, stem: &str) -> bool {
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
            Err(DescriptionError::InvalidId(name.chars().take(MAX_TEXT_BYTES).collect()))
        }
    }
}

impl From<PluginId> for String {
    fn from(id: PluginId) -> Self {
        id.0
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the host splits the CLI's output before it passes it to the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Framing {
    /// Whole lines only.
    Lines,
    /// Text as it arrives, split only between characters and terminal escapes.
    Text,
}

/// The features that the CLI and its plugin support. The names are those of `flags features` in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Features {
    /// Text arrives while it is generated.
    pub partial: bool,
    /// Reasoning is reported.
    pub reasoning: bool,
    /// Tool calls are reported.
    pub tools: bool,
    /// A session can be resumed by its id.
    pub resume: bool,
    /// The CLI accepts system instructions separately from the prompt.
    pub system_prompt: bool,
    /// The answer can be constrained to a JSON Schema.
    pub output_schema: bool,
    /// The CLI accepts additional directories.
    pub extra_dirs: bool,
    /// The model can be chosen.
    pub model_choice: bool,
    /// The CLI can be prevented from changing anything.
    pub read_only: bool,
    /// One process can run many turns.
    pub many_turns: bool,
}

/// A model the CLI is known to offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedModel {
    /// The vendor's name for it.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// Its context window, in tokens.
    pub context_window: Option<u32>,
}

/// How to find an installed CLI and its version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Probe {
    /// Arguments that make the CLI print its version.
    pub version_args: Vec<String>,
    /// Prefixes of the versions that the plugin was tested with, separated by commas.
    pub tested_versions: String,
    /// How to install the CLI.
    pub install_hint: String,
    /// How to log in.
    pub login_hint: String,
}

/// How the CLI's home folder is moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Home {
    /// The environment variable that moves it.
    pub env: String,
    /// Files in it that contain the login.
    pub keep: Vec<String>,
}

/// A plugin's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The driver's name in the configuration.
    pub id: PluginId,
    /// Its display name.
    pub name: String,
    /// The plugin's own version.
    pub version: String,
    /// The programs it may start, as bare names. Empty if the model's configuration must name the program.
    pub programs: Vec<String>,
    /// How the host splits the CLI's output for it.
    pub framing: Framing,
    /// The features it supports.
    pub features: Features,
    /// Models the CLI is known to offer.
    pub models: Vec<OfferedModel>,
    /// How to find an installed CLI and its version.
    pub probe: Probe,
    /// How the CLI's home folder is moved, if it can be.
    pub home: Option<Home>,
}

/// A reason to refuse a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// The id cannot be used in a configuration.
    #[error(
        "invalid driver name {0:?}: use lower-case letters, digits and dashes, starting with a letter, at most 40 \
         characters"
    )]
    InvalidId(String),
    /// A program is not given by its bare name.
    #[error(
        "the plugin declares an invalid program name {0:?}: declare a bare name of printable ASCII, without a path"
    )]
    InvalidProgram(String),
    /// A text is too long.
    #[error("the plugin's description has {what} of {length} bytes: at most {MAX_TEXT_BYTES} are allowed")]
    TextTooLong {
        /// The purpose of the text.
        what: &'static str,
        /// Its length.
        length: usize,
    },
    /// A text has characters that control a terminal or are invisible on it.
    #[error("the plugin's description has control or invisible characters in {0}: remove them")]
    ControlCharacter(&'static str),
    /// A list is too long.
    #[error("the plugin's description has {length} {what}: at most {MAX_ENTRIES} are allowed")]
    TooManyEntries {
        /// The kind of the entries.
        what: &'static str,
        /// The number of entries.
        length: usize,
    },
}

/// A name, a hint or a version takes one line; this allows several.
const MAX_TEXT_BYTES: usize = 1000;

/// More models, programs or files than any CLI has.
const MAX_ENTRIES: usize = 500;

impl Description {
    /// Returns whether a plan may name this program. If the plugin declares none, the plan names none and the
    /// configuration chooses the program.
    pub fn declares(&self, program: &str) -> bool {
        match self.programs.as_slice() {
            [] => program.is_empty(),
            programs => programs.iter().any(|declared| declared == program),
        }
    }

    /// Validates the program names, which decide what may be started, and limits the other texts so that they can be
    /// stored and displayed.
    ///
    /// # Errors
    /// See [`DescriptionError`].
    pub fn validated(self) -> Result<Self, DescriptionError> {
        // A user who grants programs could mistake a lookalike name for another program.
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | '\\');
        let bare = |name: &str| !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(plain);
        if let Some(name) = self.programs.iter().find(|name| !bare(name)) {
            return Err(DescriptionError::InvalidProgram(name.chars().take(MAX_TEXT_BYTES).collect()));
        }
        let keep = self.home.as_ref().map_or(&[][..], |home| home.keep.as_slice());
        for (what, length) in [
            ("programs", self.programs.len()),
            ("models", self.models.len()),
            ("arguments", self.probe.version_args.len()),
            ("files of a home", keep.len()),
        ] {
            if length > MAX_ENTRIES {
                return Err(DescriptionError::TooManyEntries { what, length });
            }
        }
        self.texts().try_for_each(|(what, text)| check_text(what, text))?;
        Ok(self)
    }

    /// Every text and its purpose.
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

/// Checks that a text can be displayed in a list.
fn check_text(what: &'static str, text: &str) -> Result<(), DescriptionError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(DescriptionError::TextTooLong { what, length: text.len() });
    }
    // A hint may have several lines.
    if text.chars().any(|c| is_deceptive(c) && c != '\n') {
        Err(DescriptionError::ControlCharacter(what))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_name_has_only_lower_case_letters_digits_and_dashes() {
        for name in ["codex", "ax-glm", "a1"] {
            assert_eq!(PluginId::try_from(name.to_owned()).unwrap().as_str(), name);
        }
        for name in ["", "Codex", "1a", "-a", "a b", "a/b", "é", &"a".repeat(41)] {
            assert_eq!(PluginId::try_from(name.to_owned()), Err(DescriptionError::InvalidId(name.to_owned())));
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
    fn only_a_bare_program_name_is_accepted() {
        let declared = |program: &str| Description { programs: vec![program.to_owned()], ..description() }.validated();
        assert!(declared("codex").is_ok());
        for program in ["", "/bin/sh", "../sh", "-x", ".x", "a\0", "сodex", "a b", "a\u{202e}"] {
            assert_eq!(declared(program), Err(DescriptionError::InvalidProgram(program.to_owned())));
        }
    }

    #[test]
    fn texts_and_lists_are_limited_and_cannot_control_a_terminal() {
        let named = |name: String| Description { name, ..description() }.validated();
        assert!(named("x".repeat(1000)).is_ok());
        assert_eq!(named("x".repeat(1001)), Err(DescriptionError::TextTooLong { what: "a name", length: 1001 }));
        for name in ["\u{1b}[2J", "a\u{202e}b", "a\u{2028}b", "a\u{200b}b"] {
            assert_eq!(named(name.to_owned()), Err(DescriptionError::ControlCharacter("a name")));
        }
        let model = || OfferedModel { id: "m".to_owned(), name: String::new(), context_window: None };
        let offering = |count: usize| {
            let models = std::iter::repeat_with(model).take(count).collect();
            Description { models, ..description() }.validated()
        };
        assert!(offering(500).is_ok());
        assert_eq!(offering(501), Err(DescriptionError::TooManyEntries { what: "models", length: 501 }));
        let home = Some(Home { env: "H".to_owned(), keep: vec!["a\0".to_owned()] });
        let at_home = Description { home, ..description() }.validated();
        assert_eq!(at_home, Err(DescriptionError::ControlCharacter("a file of a home")));
    }
}
