//! The files of a new project, embedded in the binary: the common ones, those of a language, the contract, and for Rust the
//! SDK.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use agentbay_domain::PluginId;
use include_dir::{Dir, DirEntry, include_dir};

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plugins/templates");
static SDK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plugins/sdk/src");
const CONTRACT: &str = include_str!("../../../wit/agent.wit");

/// Placeholder for the plugin's id in a template.
const NAME: &str = "{{name}}";

/// The language of a plugin project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Rust, with the SDK.
    #[default]
    Rust,
    /// JavaScript.
    Js,
    /// Python.
    Python,
    /// C.
    C,
}

/// There is no template for this language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("choose `rust`, `js`, `python` or `c`; a plugin in any other language builds on wit/agent.wit")]
pub struct UnknownLanguage;

impl Language {
    /// The folder of the template.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Js => "js",
            Self::Python => "python",
            Self::C => "c",
        }
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(name: &str) -> Result<Self, UnknownLanguage> {
        let all = [Self::Rust, Self::Js, Self::Python, Self::C];
        all.into_iter().find(|language| language.folder() == name).ok_or(UnknownLanguage)
    }
}

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProjectFile {
    /// Path in the project.
    pub(super) path: PathBuf,
    pub(super) content: Vec<u8>,
}

impl ProjectFile {
    /// Whether the file is a script, which has to be executable.
    pub(super) fn is_script(&self) -> bool {
        self.content.starts_with(b"#!")
    }
}

/// The files of a project; `None` if the binary was built without the template of the language. The language's own files come
/// last, so that they replace common files with the same path.
pub(super) fn project(name: &PluginId, language: Language) -> Option<Vec<ProjectFile>> {
    let mut files = Vec::new();
    for folder in ["common", language.folder()] {
        add(TEMPLATES.get_dir(folder)?, Path::new(folder), Path::new(""), &mut files);
    }
    for file in &mut files {
        if let Ok(text) = std::str::from_utf8(&file.content) {
            file.content = text.replace(NAME, name.as_str()).into_bytes();
        }
    }
    files.push(ProjectFile { path: "wit/agent.wit".into(), content: CONTRACT.into() });
    if language == Language::Rust {
        add(&SDK, Path::new(""), Path::new("sdk/src"), &mut files);
    }
    Some(files)
}

fn add(dir: &Dir<'_>, below: &Path, to: &Path, files: &mut Vec<ProjectFile>) {
    for entry in dir.entries() {
        match entry {
            DirEntry::Dir(dir) => add(dir, below, to, files),
            DirEntry::File(file) => {
                let path = file.path().strip_prefix(below).unwrap_or(file.path());
                files.push(ProjectFile { path: to.join(path), content: file.contents().to_vec() });
            }
        }
    }
}
