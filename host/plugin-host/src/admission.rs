//! Admission of files of the plugin folder: pin and signature checks before compiling, grant checks after. The same rules
//! decide whether a version that was admitted before still is.

use std::collections::BTreeSet;
use std::path::Path;

use agentbay_domain::{Description, Grant, PluginId, PluginLimits, Sha256Sum, Signer, Trust, Wasi};
use bytes::Bytes;

use super::engine::Engine;
use super::error::LoadError;
use super::load::{File, LoadedPlugin};
use super::reader::{ComponentFile, ReadRequest, Reader};
use super::signature::verify;

/// The settings that decide on admission.
#[derive(Default, PartialEq)]
pub(super) struct AdmissionRules {
    pub(super) trust: Trust,
    pub(super) limits: PluginLimits,
}

/// The rules for one file.
pub(super) struct Admission<'a> {
    trust: &'a Trust,
    all: &'a PluginLimits,
    /// The grant of the plugin that the file is named after.
    named: Option<(&'a PluginId, &'a Grant)>,
}

/// Loads a file from any folder for inspection: with the limits that it would have, without checks of pin and signature.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_to_inspect(
    engine: &Engine,
    path: &Path,
    trust: &Trust,
    all: &PluginLimits,
) -> Result<LoadedPlugin, LoadError> {
    let admission = Admission::of(trust, all, path);
    let request = ReadRequest { path, limits: admission.limits(), signature: false };
    load_unverified(engine, path, Reader::new().read(request).await?, &admission).await
}

/// The same for bytes that will be written to a file of this name.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_bytes_to_inspect(
    engine: &Engine,
    path: &Path,
    bytes: impl Into<Bytes>,
    trust: &Trust,
    all: &PluginLimits,
) -> Result<LoadedPlugin, LoadError> {
    load_unverified(engine, path, ComponentFile::of(bytes.into()), &Admission::of(trust, all, path)).await
}

async fn load_unverified(
    engine: &Engine,
    path: &Path,
    found: ComponentFile,
    admission: &Admission<'_>,
) -> Result<LoadedPlugin, LoadError> {
    LoadedPlugin::load(engine, File::found(path, found, None), admission.limits(), admission.wasi()).await
}

/// Loads a file to install. It is not pinned yet, but needs a signature if signatures are required.
///
/// # Errors
/// See [`LoadError`].
pub async fn load_to_install(
    engine: &Engine,
    path: &Path,
    signers: &[Signer],
    limits: &PluginLimits,
    wasi: Wasi,
) -> Result<LoadedPlugin, LoadError> {
    let trust = Trust { signers: signers.to_vec(), ..Trust::default() };
    let request = ReadRequest { path, limits, signature: !signers.is_empty() };
    let found = Reader::new().read(request).await?;
    let signer = Admission::of(&trust, limits, path).verify_provenance(&found)?;
    LoadedPlugin::load(engine, File::found(path, found, signer), limits, wasi).await
}

impl AdmissionRules {
    /// The rules for a file of this name.
    pub(super) fn admission(&self, path: &Path) -> Admission<'_> {
        Admission::of(&self.trust, &self.limits, path)
    }

    /// Whether a file needs a signature.
    pub(super) fn requires_signatures(&self) -> bool {
        !self.trust.signers.is_empty()
    }
}

impl<'a> Admission<'a> {
    /// The rules for a file of this name.
    pub(super) fn of(trust: &'a Trust, all: &'a PluginLimits, path: &Path) -> Self {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        Self { trust, all, named: stem.and_then(|stem| trust.grant_for_file(stem)) }
    }

    /// Its limits while it is loaded.
    pub(super) fn limits(&self) -> &'a PluginLimits {
        self.named.map_or(self.all, |(_, grant)| &grant.limits)
    }

    /// The treatment of its WASI imports.
    pub(super) fn wasi(&self) -> Wasi {
        self.named.map(|(_, grant)| grant.wasi).unwrap_or_default()
    }

    /// Verifies pin and signature of these bytes, before they are used, and returns the signer.
    ///
    /// # Errors
    /// A pin or a signature is required and missing or not valid.
    pub(super) fn verify_provenance(&self, found: &ComponentFile) -> Result<Option<Signer>, LoadError> {
        self.check_pin(found.sha256)?;
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

    /// Checks that a plugin requires no more than it is granted. `built_in` is the description of the embedded plugin that it
    /// replaces.
    ///
    /// # Errors
    /// It requires more, or its pin, signature or name does not match.
    pub(super) fn check_grant(&self, plugin: &LoadedPlugin, built_in: Option<&Description>) -> Result<(), LoadError> {
        let (id, description) = (plugin.id(), plugin.description());
        if let Some((named, _)) = self.named
            && named != id
        {
            return Err(LoadError::NameMismatch { named: named.clone(), id: id.clone() });
        }
        self.check_pin(plugin.sha256())?;
        if !self.trust.signers.is_empty() && !plugin.signer().is_some_and(|by| self.trust.signers.contains(by)) {
            return Err(LoadError::Unsigned);
        }
        let grant = self.trust.grants.get(id);
        if let Some(pinned) = grant.and_then(|grant| grant.sha256)
            && pinned != plugin.sha256()
        {
            return Err(LoadError::PinMismatch { id: id.clone(), found: plugin.sha256(), pinned });
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
        more("the file of the CLI's home", keep, grant.and_then(|grant| grant.home_files.as_ref()))
    }

    fn check_pin(&self, sha256: Sha256Sum) -> Result<(), LoadError> {
        if self.trust.require_pin && !self.trust.is_pinned(sha256) {
            return Err(LoadError::Unpinned(sha256));
        }
        Ok(())
    }
}
