//! `plugin pack`: a component under the name and with the checksum that it is handed on with.

use std::fs;
use std::path::{Path, PathBuf};

use agentbay_config::{Config, NewGrant, Overrides, Source};
use agentbay_plugin_host::LoadError;

use super::error::AuthorError;
use super::needs::needs;
use super::strip::stripped;
use super::subject::Subject;

/// The component that is to be packed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packing {
    /// Its file.
    pub file: PathBuf,
    /// The folder that it is put into, which is made.
    pub out: PathBuf,
    /// It is packed without what has no effect on how it runs.
    pub strip: bool,
}

/// A component that was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The component.
    pub file: PathBuf,
    /// Its checksum, as `sha256sum --check` reads it.
    pub checksum: PathBuf,
    /// What was stripped from it.
    pub stripped: Option<Stripped>,
    /// What its users write into proxy.toml.
    pub grant: NewGrant,
}

/// What was stripped from a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripped {
    /// How many bytes it had.
    pub had: usize,
    /// How many of them are left.
    pub left: usize,
}

/// Packs a component.
///
/// # Errors
/// The host would not take it, its command lines are wrong, its version cannot be a part of a file's name, it cannot be
/// stripped, or a file cannot be written. See [`AuthorError`].
pub async fn pack(source: &Source, packing: &Packing) -> Result<Packed, AuthorError> {
    let Packing { file, out, strip } = packing;
    let config = agentbay_config::load(source, &Overrides::default())?;
    let whole = fs::read(file).map_err(AuthorError::file(file))?;
    let subject = Subject::load_bytes(&config, file, whole.clone()).await?;
    let subject = subject.map_err(|reason| AuthorError::Refused { file: file.clone(), reason })?;
    let had = whole.len();
    let (subject, bytes) = if *strip { strip_off(&config, file, &subject, &whole).await? } else { (subject, whole) };
    let grant = needs(&subject, file).await?;
    let version = &subject.plugin.description().version;
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
    if version.is_empty() || !version.chars().all(fits) {
        return Err(AuthorError::Version { version: version.clone() });
    }
    fs::create_dir_all(out).map_err(AuthorError::file(out))?;
    let name = format!("{}-{version}.wasm", grant.id);
    let packed = out.join(&name);
    let checksum = out.join(format!("{name}.sha256"));
    fs::write(&packed, &bytes).map_err(AuthorError::file(&packed))?;
    fs::write(&checksum, format!("{}  {name}\n", grant.sha256)).map_err(AuthorError::file(&checksum))?;
    let stripped = strip.then_some(Stripped { had, left: bytes.len() });
    Ok(Packed { file: packed, checksum, stripped, grant })
}

/// What is left is loaded as the whole was, and has to be the same plugin.
async fn strip_off(
    config: &Config,
    file: &Path,
    whole: &Subject,
    bytes: &[u8],
) -> Result<(Subject, Vec<u8>), AuthorError> {
    let not_stripped = |reason: String| AuthorError::NotStripped { file: file.to_owned(), reason };
    let refused = |reason: LoadError| not_stripped(reason.to_string());
    let bytes = stripped(bytes).map_err(|invalid| not_stripped(format!("is no WebAssembly component: {invalid}")))?;
    let subject = Subject::load_bytes(config, file, bytes.clone()).await?.map_err(refused)?;
    if subject.plugin.description() != whole.plugin.description() {
        return Err(not_stripped("it describes itself in other words".to_owned()));
    }
    Ok((subject, bytes))
}
