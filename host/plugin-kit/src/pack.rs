//! `plugin pack`: writes a component under its distribution name, with its checksum.

use std::fs;
use std::path::{Path, PathBuf};

use agentbay_config::{Config, NewGrant, Overrides, Source};
use agentbay_plugin_host::LoadError;

use super::error::KitError;
use super::required_grant::required_grant;
use super::strip::stripped;
use super::subject::Subject;

/// Options of `plugin pack`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackOptions {
    /// The component.
    pub file: PathBuf,
    /// The target folder, which is created if needed.
    pub out: PathBuf,
    /// Leave out what has no effect on execution.
    pub strip: bool,
}

/// A component that was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The component.
    pub file: PathBuf,
    /// The checksum, in the format of `sha256sum --check`.
    pub checksum: PathBuf,
    /// The sizes, if the component was stripped.
    pub stripped: Option<Stripped>,
    /// The grant for the users' proxy.toml.
    pub grant: NewGrant,
}

/// Sizes of a stripped component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stripped {
    /// Bytes before.
    pub had: usize,
    /// Bytes after.
    pub left: usize,
}

/// Packs a component.
///
/// # Errors
/// The host refuses the component, its command lines are wrong, its version cannot be part of a file name, it cannot be
/// stripped, or a file cannot be written. See [`KitError`].
pub async fn pack(source: &Source, options: &PackOptions) -> Result<Packed, KitError> {
    let PackOptions { file, out, strip } = options;
    let config = agentbay_config::load(source, &Overrides::default())?;
    let whole = fs::read(file).map_err(KitError::file(file))?;
    let subject = Subject::load_bytes(&config, file, whole.clone()).await?;
    let subject = subject.map_err(|reason| KitError::Refused { file: file.clone(), reason })?;
    let had = whole.len();
    let (subject, bytes) = if *strip { strip_off(&config, file, &subject, &whole).await? } else { (subject, whole) };
    let grant = required_grant(&subject, file).await?;
    let version = &subject.plugin.description().version;
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
    if version.is_empty() || !version.chars().all(fits) {
        return Err(KitError::Version { version: version.clone() });
    }
    fs::create_dir_all(out).map_err(KitError::file(out))?;
    let name = format!("{}-{version}.wasm", grant.id);
    let packed = out.join(&name);
    let checksum = out.join(format!("{name}.sha256"));
    fs::write(&packed, &bytes).map_err(KitError::file(&packed))?;
    fs::write(&checksum, format!("{}  {name}\n", grant.sha256)).map_err(KitError::file(&checksum))?;
    let stripped = strip.then_some(Stripped { had, left: bytes.len() });
    Ok(Packed { file: packed, checksum, stripped, grant })
}

/// Strips a component, loads the result and requires the same description.
async fn strip_off(
    config: &Config,
    file: &Path,
    whole: &Subject,
    bytes: &[u8],
) -> Result<(Subject, Vec<u8>), KitError> {
    let not_stripped = |reason: String| KitError::NotStripped { file: file.to_owned(), reason };
    let refused = |reason: LoadError| not_stripped(reason.to_string());
    let bytes =
        stripped(bytes).map_err(|invalid| not_stripped(format!("not a valid WebAssembly component: {invalid}")))?;
    let subject = Subject::load_bytes(config, file, bytes.clone()).await?.map_err(refused)?;
    if subject.plugin.description() != whole.plugin.description() {
        return Err(not_stripped("its description differs".to_owned()));
    }
    Ok((subject, bytes))
}
