//! `plugin add`: what a component asks for; once that is granted, its table in proxy.toml and its file in the plugin folder.

mod settings_file;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agentbay_config::{ConfigError, InlineLimits, NewGrant, Overrides, Source};
use agentbay_domain::{Grant, Wasi};
use agentbay_os::files::atomic_write;
use agentbay_plugin_kit::{KitError, Subject, required_grant};

use self::settings_file::{EditError, write_grant};

/// Why a component is not installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The configuration has faults.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The server would refuse it, or its command lines are wrong.
    #[error(transparent)]
    Plugin(#[from] KitError),
    /// The grant cannot be written into proxy.toml.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The component cannot be read, or copied into the plugin folder.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

impl InstallError {
    fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}

/// The component to install, and its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallOptions {
    /// The component.
    pub file: PathBuf,
    /// How imports of WASI are handled.
    pub wasi: Wasi,
    /// Limits of its own.
    pub limits: Option<InlineLimits>,
}

/// An inspected component that can be installed. `Display` prints what it asks for.
#[derive(Debug)]
pub struct InstallPlan {
    file: PathBuf,
    title: String,
    grant: NewGrant,
    signer: Option<String>,
    imports: Vec<String>,
    /// The grant that it has now.
    before: Option<Grant>,
    /// Its file in the plugin folder.
    target: PathBuf,
}

impl InstallPlan {
    /// Inspects a component. Nothing is written.
    ///
    /// # Errors
    /// See [`InstallError`].
    pub async fn new(source: &Source, options: InstallOptions) -> Result<Self, InstallError> {
        let InstallOptions { file, wasi, limits: written } = options;
        let config = agentbay_config::load(source, &Overrides::default())?;
        let all = config.limits.plugin;
        let own = written.as_ref().map_or(Ok(all), |written| agentbay_config::plugin_limits(written, all))?;
        let subject = Subject::load_to_add(&config, &file, own, wasi).await?;
        let grant = NewGrant { limits: written, ..required_grant(&subject, &file).await? };
        let (id, description) = (&grant.id, subject.plugin.description());
        Ok(Self {
            title: format!(
                "{id} {}: {} (contract {})",
                description.version,
                description.name,
                subject.plugin.contract()
            ),
            signer: subject.plugin.signer().map(ToString::to_string),
            imports: subject.plugin.traps().to_vec(),
            before: config.trust.grants.get(id).cloned(),
            target: config.plugins.dir.join(format!("{id}.wasm")),
            file,
            grant,
        })
    }

    /// Grants what it asks for, and copies it into the plugin folder. Returns the two files that were written.
    ///
    /// # Errors
    /// A file cannot be written. The grant is written first: without it the component would be refused.
    pub fn install(&self, source: &Source) -> Result<[PathBuf; 2], InstallError> {
        let settings = write_grant(source, &self.grant)?;
        let signature = |component: &Path| component.with_extension("wasm.minisig");
        if self.signer.is_some() {
            copy(&signature(&self.file), &signature(&self.target))
                .map_err(InstallError::file(signature(&self.target)))?;
        }
        copy(&self.file, &self.target).map_err(InstallError::file(&self.target))?;
        Ok([settings, self.target.clone()])
    }
}

/// Copies a file in one step: no reader sees half of it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.parent().ok_or(io::ErrorKind::NotFound)?)?;
    atomic_write(to, &fs::read(from)?)
}

impl fmt::Display for InstallPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, grant, signer, imports, before, .. } = self;
        writeln!(f, "{title}")?;
        let known = |granted: fn(&Grant) -> &Option<BTreeSet<String>>| {
            before.as_ref().and_then(|grant| granted(grant).as_ref())
        };
        writeln!(f, "  starts the programs     {}", words(&grant.programs, known(|grant| &grant.programs)))?;
        writeln!(f, "  sets the variables      {}", words(&grant.env, known(|grant| &grant.env)))?;
        writeln!(f, "  shares files of a home  {}", words(&grant.home_files, known(|grant| &grant.home_files)))?;
        if !imports.is_empty() {
            writeln!(f, "  imports, which trap     {}", imports.join(", "))?;
        }
        if let Some(signer) = signer {
            writeln!(f, "  is signed by            {signer}")?;
        }
        write!(f, "  SHA-256                 {}", grant.sha256)
    }
}

/// The words that are asked for; new ones are marked if there is a grant.
fn words(asked: &BTreeSet<String>, before: Option<&BTreeSet<String>>) -> String {
    let word = |word: &String| match before {
        Some(before) if !before.contains(word) => format!("{word} (new)"),
        Some(_) | None => word.clone(),
    };
    if asked.is_empty() { "none".to_owned() } else { asked.iter().map(word).collect::<Vec<_>>().join(", ") }
}
