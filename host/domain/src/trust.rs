//! Which plugins from outside are taken, and what each of them may ask for.

use std::collections::{BTreeMap, BTreeSet};

use super::{PluginId, PluginLimits, Sha256Sum, Signer};

/// Which plugins from outside are taken, and what each of them may ask for. Those that are part of the program are
/// trusted as the program is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// Only a component whose hash is written down is taken.
    pub require_pin: bool,
    /// Whose signature a component needs, of any one of them; without any, it needs none.
    pub signers: Vec<Signer>,
    /// What is said of single plugins.
    pub grants: BTreeMap<PluginId, Grant>,
}

/// What is said of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grant {
    /// The programs that it may declare and have started; if nothing is said, those of the built-in plugin whose place it
    /// takes.
    pub programs: Option<BTreeSet<String>>,
    /// The variables that its plans may set or take away; if nothing is said, none, but for a built-in plugin.
    pub env: Option<BTreeSet<String>>,
    /// The files of the CLI's home that it may declare to be shared; if nothing is said, any.
    pub home: Option<BTreeSet<String>>,
    /// The hash that its component must have.
    pub sha256: Option<Sha256Sum>,
    /// What happens to imports of WASI.
    pub wasi: Wasi,
    /// What it may use.
    pub limits: PluginLimits,
}

/// What happens to imports of WASI, which the toolchains of some languages leave in every component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wasi {
    /// A component that has any is not taken.
    #[default]
    Refuse,
    /// There is nothing behind them: a call traps.
    Trap,
}

/// What the plans of a plugin may do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Authority {
    /// The programs that may be started without being named by the model's `program`.
    pub programs: BTreeSet<String>,
    /// The variables that may be set or taken away, apart from those that never may.
    pub variables: Granted,
}

/// Which variables the plans of a plugin may set or take away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// Whichever it wants: it is built in, and nothing else is said of it.
    Own,
    /// Those that somebody named.
    Only(BTreeSet<String>),
}

impl Default for Granted {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl Granted {
    /// What a grant comes to, if there is one.
    pub fn by(grant: Option<&Grant>, is_built_in: bool) -> Self {
        match grant.and_then(|grant| grant.env.clone()) {
            None if is_built_in => Self::Own,
            named => Self::Only(named.unwrap_or_default()),
        }
    }

    /// Whether this one may be set or taken away.
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::Own => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

impl Trust {
    /// What is said of the plugin that a file holds, by its name: `NAME.wasm` or `NAME-VERSION.wasm`.
    pub fn of_file(&self, stem: &str) -> Option<(&PluginId, &Grant)> {
        let fitting = self.grants.iter().filter(|(id, _)| id.names(stem));
        fitting.max_by_key(|(id, _)| id.as_str().len())
    }

    /// What a plugin may use, where `all` is what is said of all plugins.
    pub fn limits_of(&self, id: &PluginId, all: PluginLimits) -> PluginLimits {
        self.grants.get(id).map_or(all, |grant| grant.limits)
    }

    /// Whether anybody has written down this hash.
    pub fn is_pinned(&self, sha256: Sha256Sum) -> bool {
        self.grants.values().any(|grant| grant.sha256 == Some(sha256))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_grant_only_what_is_built_in_sets_variables() {
        let grant = Grant { env: Some(["X".to_owned()].into()), ..Grant::default() };
        for (grant, is_built_in, covered) in [
            (None, false, [false, false]),
            (Some(Grant::default()), false, [false, false]),
            (Some(grant.clone()), false, [true, false]),
            (Some(grant), true, [true, false]),
            (None, true, [true, true]),
            (Some(Grant::default()), true, [true, true]),
        ] {
            let granted = Granted::by(grant.as_ref(), is_built_in);
            assert_eq!(["X", "x"].map(|name| granted.covers(name)), covered, "{grant:?} {is_built_in}");
        }
    }

    #[test]
    fn a_file_is_known_by_the_longest_name_that_begins_its_own() {
        let grants = ["my", "my-cli"].map(|id| (PluginId::try_from(id.to_owned()).unwrap(), Grant::default()));
        let trust = Trust { grants: grants.into(), ..Trust::default() };
        let named = |stem: &str| trust.of_file(stem).map(|(id, _)| id.as_str());
        let stems = ["my", "my-1.0", "my-cli", "my-cli-1.0", "mycli", "other"];
        assert_eq!(stems.map(named), [Some("my"), Some("my"), Some("my-cli"), Some("my-cli"), None, None]);
    }
}
