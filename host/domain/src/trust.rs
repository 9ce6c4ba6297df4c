//! Trust in external plugins: which are loaded, and what each of them may use.

use std::collections::{BTreeMap, BTreeSet};

use super::{PluginId, PluginLimits, Sha256Sum, Signer};

/// Which external plugins are loaded, and what each of them may use. Built-in plugins are trusted like the program
/// itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// Only components with a pinned hash are loaded.
    pub require_pin: bool,
    /// A component needs a valid signature of one of these. If empty, no signature is needed.
    pub signers: Vec<Signer>,
    /// Grants for individual plugins.
    pub grants: BTreeMap<PluginId, Grant>,
}

/// The settings of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// The programs that it may declare and start. Default: those of the built-in plugin that it replaces.
    pub programs: Option<BTreeSet<String>>,
    /// The variables that its plans may set or remove. Default: none; for a built-in plugin, any.
    pub env: Option<BTreeSet<String>>,
    /// The files of the CLI's home that it may declare as shared. Default: any.
    pub home_files: Option<BTreeSet<String>>,
    /// The required hash of its component.
    pub sha256: Option<Sha256Sum>,
    /// How WASI imports are handled.
    pub wasi: Wasi,
    /// Its limits.
    pub limits: PluginLimits,
}

/// How WASI imports are handled, which the toolchains of some languages leave in every component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wasi {
    /// A component with such imports is refused.
    #[default]
    Refuse,
    /// They are not implemented: a call traps.
    Trap,
}

/// The authority of a plugin's plans.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Authority {
    /// The programs that may be started even if the model's `program` does not name them.
    pub programs: BTreeSet<String>,
    /// The variables that may be set or removed. Some are always refused.
    pub variables: VariableGrant,
}

/// The variables that a plugin's plans may set or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableGrant {
    /// Any: the plugin is built in, and its grant does not restrict them.
    Any,
    /// Only the granted ones.
    Only(BTreeSet<String>),
}

impl Default for VariableGrant {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl VariableGrant {
    /// The variables of a plugin with this grant.
    pub fn from_grant(grant: Option<&Grant>, is_built_in: bool) -> Self {
        match grant.and_then(|grant| grant.env.clone()) {
            None if is_built_in => Self::Any,
            named => Self::Only(named.unwrap_or_default()),
        }
    }

    /// Returns whether this variable may be set or removed.
    pub fn allows(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

impl Trust {
    /// Returns the grant for a plugin file, by its name: `NAME.wasm` or `NAME-VERSION.wasm`.
    pub fn grant_for_file(&self, stem: &str) -> Option<(&PluginId, &Grant)> {
        let matching = self.grants.iter().filter(|(id, _)| id.matches_file_stem(stem));
        matching.max_by_key(|(id, _)| id.as_str().len())
    }

    /// The limits of a plugin; `all` are the limits of plugins without a grant.
    pub fn limits_of(&self, id: &PluginId, all: PluginLimits) -> PluginLimits {
        self.grants.get(id).map_or(all, |grant| grant.limits)
    }

    /// Returns whether a grant pins this hash.
    pub fn is_pinned(&self, sha256: Sha256Sum) -> bool {
        self.grants.values().any(|grant| grant.sha256 == Some(sha256))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_grant_only_built_in_plugins_may_set_variables() {
        let grant = Grant { env: Some(["X".to_owned()].into()), ..Grant::default() };
        for (grant, is_built_in, covered) in [
            (None, false, [false, false]),
            (Some(Grant::default()), false, [false, false]),
            (Some(grant.clone()), false, [true, false]),
            (Some(grant), true, [true, false]),
            (None, true, [true, true]),
            (Some(Grant::default()), true, [true, true]),
        ] {
            let granted = VariableGrant::from_grant(grant.as_ref(), is_built_in);
            assert_eq!(["X", "x"].map(|name| granted.allows(name)), covered, "{grant:?} {is_built_in}");
        }
    }

    #[test]
    fn a_file_belongs_to_the_grant_with_the_longest_matching_name() {
        let grants = ["my", "my-cli"].map(|id| (PluginId::try_from(id.to_owned()).unwrap(), Grant::default()));
        let trust = Trust { grants: grants.into(), ..Trust::default() };
        let named = |stem: &str| trust.grant_for_file(stem).map(|(id, _)| id.as_str());
        let stems = ["my", "my-1.0", "my-cli", "my-cli-1.0", "mycli", "other"];
        assert_eq!(stems.map(named), [Some("my"), Some("my"), Some("my-cli"), Some("my-cli"), None, None]);
    }
}
