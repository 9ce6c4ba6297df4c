//! The terms under which a file of the plugin folder is taken: who has to vouch for it before it is compiled, and what it
//! may then turn out to ask for. The same terms decide whether a version that was good before still is.

use std::collections::BTreeSet;
use std::path::Path;

use agentbay_domain::{Description, Grant, PluginId, PluginLimits, Sha256Sum, Signer, Trust, Wasi};
use bytes::Bytes;

use super::engine::Engine;
use super::error::LoadError;
use super::load::{File, LoadedPlugin};
use super::reader::{Found, Reader, Wanted};
use super::signature::verify;

/// What is said of plugins.
#[derive(Default, PartialEq)]
pub(super) struct Said {
    pub(super) trust: Trust,
    pub(super) limits: PluginLimits,
}

/// The terms for one file.
pub(super) struct Terms<'a> {
    trust: &'a Trust,
    all: &'a PluginLimits,
    /// What is said of the plugin that the file is named after.
    named: Option<(&'a PluginId, &'a Grant)>,
}

/// Loads a file to look at it, wherever it lies: with the limits that it would have, and without anybody who vouches.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_to_look_at(
    engine: &Engine,
    path: &Path,
    trust: &Trust,
    all: &PluginLimits,
) -> Result<LoadedPlugin, LoadError> {
    let terms = Terms::of(trust, all, path);
    let wanted = Wanted { path, limits: terms.limits(), signature: false };
    load_unsigned(engine, path, Reader::new().read(wanted).await?, &terms).await
}

/// Loads what is to become a file of this name, as [`load_to_look_at`] does.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_bytes_to_look_at(
    engine: &Engine,
    path: &Path,
    bytes: impl Into<Bytes>,
    trust: &Trust,
    all: &PluginLimits,
) -> Result<LoadedPlugin, LoadError> {
    load_unsigned(engine, path, Found::of(bytes.into()), &Terms::of(trust, all, path)).await
}

async fn load_unsigned(
    engine: &Engine,
    path: &Path,
    found: Found,
    terms: &Terms<'_>,
) -> Result<LoadedPlugin, LoadError> {
    LoadedPlugin::load(engine, File::found(path, found, None), terms.limits(), terms.wasi()).await
}

/// Loads a file that is to be added. Nobody has pinned it yet, but where signatures are asked for it needs one.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_to_add(
    engine: &Engine,
    path: &Path,
    signers: &[Signer],
    limits: &PluginLimits,
    wasi: Wasi,
) -> Result<LoadedPlugin, LoadError> {
    let trust = Trust { signers: signers.to_vec(), ..Trust::default() };
    let wanted = Wanted { path, limits, signature: !signers.is_empty() };
    let found = Reader::new().read(wanted).await?;
    let signer = Terms::of(&trust, limits, path).vouch(&found)?;
    LoadedPlugin::load(engine, File::found(path, found, signer), limits, wasi).await
}

impl Said {
    /// The terms for a file of this name.
    pub(super) fn terms(&self, path: &Path) -> Terms<'_> {
        Terms::of(&self.trust, &self.limits, path)
    }

    /// Whether a file needs a signature.
    pub(super) fn asks_for_signatures(&self) -> bool {
        !self.trust.signers.is_empty()
    }
}

impl<'a> Terms<'a> {
    /// The terms for a file of this name.
    pub(super) fn of(trust: &'a Trust, all: &'a PluginLimits, path: &Path) -> Self {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        Self { trust, all, named: stem.and_then(|stem| trust.grant_for_file(stem)) }
    }

    /// What it may use while it is loaded.
    pub(super) fn limits(&self) -> &'a PluginLimits {
        self.named.map_or(self.all, |(_, grant)| &grant.limits)
    }

    /// What happens to its imports of WASI.
    pub(super) fn wasi(&self) -> Wasi {
        self.named.map(|(_, grant)| grant.wasi).unwrap_or_default()
    }

    /// Looks whether somebody vouches for these bytes, and says who signed them. Nothing is made of them before that.
    ///
    /// # Errors
    /// A pin or a signature is asked for, and there is none, or none that holds.
    pub(super) fn vouch(&self, found: &Found) -> Result<Option<Signer>, LoadError> {
        self.ask_for_a_pin(found.sha256)?;
        if self.trust.signers.is_empty() {
            return Ok(None);
        }
        let signature = found.signature.as_deref().ok_or(LoadError::Unsigned)?;
        let mut refused = None;
        for signer in &self.trust.signers {
            match verify(signer, &found.bytes, signature) {
                Ok(()) => return Ok(Some(signer.clone())),
                Err(reason) => refused = Some(reason),
            }
        }
        Err(refused.map_or(LoadError::Unsigned, LoadError::Signature))
    }

    /// Looks whether a plugin asks for no more than it may. `built_in` is what the plugin says of itself whose place it
    /// takes.
    ///
    /// # Errors
    /// It asks for more, or is not the one that was vouched for.
    pub(super) fn admit(&self, plugin: &LoadedPlugin, built_in: Option<&Description>) -> Result<(), LoadError> {
        let (id, description) = (plugin.id(), plugin.description());
        if let Some((named, _)) = self.named
            && named != id
        {
            return Err(LoadError::OtherName { named: named.clone(), id: id.clone() });
        }
        self.ask_for_a_pin(plugin.sha256())?;
        if !self.trust.signers.is_empty() && !plugin.signer().is_some_and(|by| self.trust.signers.contains(by)) {
            return Err(LoadError::Unsigned);
        }
        let grant = self.trust.grants.get(id);
        if let Some(pinned) = grant.and_then(|grant| grant.sha256)
            && pinned != plugin.sha256()
        {
            return Err(LoadError::OtherThanPinned { id: id.clone(), found: plugin.sha256(), pinned });
        }
        let wasi = grant.map(|grant| grant.wasi).unwrap_or_default();
        if wasi == Wasi::Refuse && !plugin.traps().is_empty() {
            return Err(LoadError::Wasi(plugin.traps().join(", ")));
        }
        let more = |what, asked: &[String], granted: Option<&BTreeSet<String>>| {
            let more = asked.iter().find(|asked| granted.is_some_and(|granted| !granted.contains(*asked)));
            more.map_or(Ok(()), |more| Err(LoadError::NotGranted { id: id.clone(), what, more: more.clone() }))
        };
        let of_built_in: Option<BTreeSet<String>> = built_in.map(|of| of.programs.iter().cloned().collect());
        let programs = grant.and_then(|grant| grant.programs.as_ref()).or(of_built_in.as_ref());
        more("the program", &description.programs, programs)?;
        let keep = description.home.as_ref().map(|home| home.keep.as_slice()).unwrap_or_default();
        more("the file of the CLI's home", keep, grant.and_then(|grant| grant.home.as_ref()))
    }

    fn ask_for_a_pin(&self, sha256: Sha256Sum) -> Result<(), LoadError> {
        if self.trust.require_pin && !self.trust.is_pinned(sha256) {
            return Err(LoadError::Unpinned(sha256));
        }
        Ok(())
    }
}
