//! `plugin add`: what a component asks for, and once that is granted, its table in proxy.toml and its place in the plugin
//! folder.

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

/// Why a component is not added.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The configuration has faults.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The host would not take it, or its command lines are wrong.
    #[error(transparent)]
    Plugin(#[from] KitError),
    /// The grant cannot be written into proxy.toml.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The component cannot be read, or put into the plugin folder.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl InstallError {
    fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}

/// The component that is to be added, and on which terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// Its file.
    pub file: PathBuf,
    /// Imports of WASI may trap.
    pub wasi: Wasi,
    /// Limits of its own.
    pub limits: Option<InlineLimits>,
}

/// A component that was looked at and may be added.
#[derive(Debug)]
pub struct Candidate {
    file: PathBuf,
    title: String,
    grant: NewGrant,
    signer: Option<String>,
    imports: Vec<String>,
    /// What was granted before.
    before: Option<Grant>,
    /// Where it is put.
    place: PathBuf,
}

impl Candidate {
    /// Looks at a component. Nothing is written.
    ///
    /// # Errors
    /// The host would not take it, or its command lines are wrong. See [`InstallError`].
    pub async fn look_at(source: &Source, addition: Addition) -> Result<Self, InstallError> {
        let Addition { file, wasi, limits: written } = addition;
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
            place: config.plugins.dir.join(format!("{id}.wasm")),
            file,
            grant,
        })
    }

    /// Grants what it asks for, and puts it into the plugin folder. Gives the two files that were written.
    ///
    /// # Errors
    /// One of them cannot be written. The table comes first: without it the component would ask in vain.
    pub fn add(&self, source: &Source) -> Result<[PathBuf; 2], InstallError> {
        let settings = write_grant(source, &self.grant)?;
        let signature = |component: &Path| component.with_extension("wasm.minisig");
        if self.signer.is_some() {
            put(&signature(&self.file), &signature(&self.place)).map_err(InstallError::file(signature(&self.place)))?;
        }
        put(&self.file, &self.place).map_err(InstallError::file(&self.place))?;
        Ok([settings, self.place.clone()])
    }
}

/// Copies a file in one step: nobody sees half of it.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.parent().ok_or(io::ErrorKind::NotFound)?)?;
    atomic_write(to, &fs::read(from)?)
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, grant, signer, imports, before, .. } = self;
        writeln!(f, "{title}")?;
        let of = |granted: fn(&Grant) -> &Option<BTreeSet<String>>| {
            before.as_ref().and_then(|grant| granted(grant).as_ref())
        };
        writeln!(f, "  starts the programs     {}", words(&grant.programs, of(|grant| &grant.programs)))?;
        writeln!(f, "  sets the variables      {}", words(&grant.env, of(|grant| &grant.env)))?;
        writeln!(f, "  shares files of a home  {}", words(&grant.home, of(|grant| &grant.home)))?;
        if !imports.is_empty() {
            writeln!(f, "  imports, which trap     {}", imports.join(", "))?;
        }
        if let Some(signer) = signer {
            writeln!(f, "  is signed by            {signer}")?;
        }
        write!(f, "  SHA-256                 {}", grant.sha256)
    }
}

/// What is asked for, and what of it was not granted before.
fn words(asked: &BTreeSet<String>, before: Option<&BTreeSet<String>>) -> String {
    let word = |word: &String| match before {
        Some(before) if !before.contains(word) => format!("{word} (new)"),
        Some(_) | None => word.clone(),
    };
    if asked.is_empty() { "none".to_owned() } else { asked.iter().map(word).collect::<Vec<_>>().join(", ") }
}
