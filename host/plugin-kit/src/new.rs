//! `plugin new`: writes a plugin project that builds as it is.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agentbay_domain::PluginId;
use agentbay_plugin_host::embedded_ids;

use super::error::KitError;
use super::template::{Language, ProjectFile, project};

/// The project to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The plugin's id.
    pub name: PluginId,
    /// The language.
    pub language: Language,
    /// The target folder.
    pub dir: PathBuf,
}

impl Project {
    /// Writes the project into its folder, which is created if needed. Existing files are never touched.
    ///
    /// # Errors
    /// The name is an embedded plugin's, the folder is not empty, or a file cannot be written.
    pub fn write(&self) -> Result<(), KitError> {
        if embedded_ids().any(|id| id == self.name.as_str()) {
            return Err(KitError::NameTaken { name: self.name.clone() });
        }
        let files = project(&self.name, self.language)
            .ok_or_else(|| KitError::NoTemplate { language: self.language.folder() })?;
        fs::create_dir_all(&self.dir).map_err(KitError::file(&self.dir))?;
        let mut entries = fs::read_dir(&self.dir).map_err(KitError::file(&self.dir))?;
        if entries.next().is_some() {
            return Err(KitError::NotEmpty(self.dir.clone()));
        }
        files.iter().try_for_each(|file| {
            let path = self.dir.join(&file.path);
            put(&path, file).map_err(KitError::file(path))
        })
    }

    /// The commands to type next.
    pub fn next_steps(&self) -> String {
        let Self { name, dir, .. } = self;
        format!(
            "{} is a plugin project. Next:\n  cd {}\n  ./build\n  agentbay plugin check {name}.wasm fixtures\n  \
             agentbay plugin run {name}.wasm --program ./cli.sh --prompt hello\n  agentbay serve\n\
             Its README.md says what to change.",
            dir.display(),
            dir.display()
        )
    }
}

fn put(path: &Path, file: &ProjectFile) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, &file.content)?;
    if file.is_script() {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
