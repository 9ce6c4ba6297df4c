//! `plugin pack`: a component under the name and with the checksum that it is handed on with.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::AuthorError;
use super::needs::needs;
use super::subject::Subject;
use crate::config::{self, NewGrant, Overrides, Source};

/// A component that was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The component.
    pub file: PathBuf,
    /// Its checksum, as `sha256sum --check` reads it.
    pub checksum: PathBuf,
    /// What its users write into proxy.toml.
    pub grant: NewGrant,
}

/// Packs a component into a folder, which is made.
///
/// # Errors
/// The host would not take it, its command lines are wrong, its version cannot be a part of a file's name, or a file cannot
/// be written. See [`AuthorError`].
pub async fn pack(source: &Source, file: &Path, out: &Path) -> Result<Packed, AuthorError> {
    let config = config::load(source, &Overrides::default())?;
    let subject = Subject::load(&config, file).await?;
    let subject = subject.map_err(|reason| AuthorError::Refused { file: file.to_owned(), reason })?;
    let grant = needs(&subject, file).await?;
    let version = &subject.plugin.description().version;
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
    if version.is_empty() || !version.chars().all(fits) {
        return Err(AuthorError::Version { version: version.clone() });
    }
    let bytes = fs::read(file).map_err(AuthorError::file(file))?;
    fs::create_dir_all(out).map_err(AuthorError::file(out))?;
    let name = format!("{}-{version}.wasm", grant.id);
    let packed = out.join(&name);
    let checksum = out.join(format!("{name}.sha256"));
    fs::write(&packed, bytes).map_err(AuthorError::file(&packed))?;
    fs::write(&checksum, format!("{}  {name}\n", grant.sha256)).map_err(AuthorError::file(&checksum))?;
    Ok(Packed { file: packed, checksum, grant })
}
