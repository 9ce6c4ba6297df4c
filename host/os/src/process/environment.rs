//! The environment of a CLI: some of the host's variables (chosen in `inherited`), fixed ones that keep it from drawing,
//! then those of the plan and of the model's configuration.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use agentbay_domain::{EnvSetting, Environment};

use super::inherited::{is_always_inherited, is_inherited_for_login};

/// Set for every run: no colours, no drawing, no questions.
const FIXED: [(&str, &str); 3] = [("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")];

/// The environment variables of a process to start.
#[derive(Clone, PartialEq, Eq)]
pub struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// No variables.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The host's variables that every CLI inherits, and the fixed ones.
    pub fn base(env: &Environment) -> Self {
        let inherited = env.iter().filter(|(name, _)| is_always_inherited(name));
        let mut variables: BTreeMap<_, _> =
            inherited.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        variables.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
        Self(variables)
    }

    /// The same, and the variables with which the CLI of this driver logs in, given the `env` settings of its model.
    pub fn for_driver(driver: &str, settings: &[(String, EnvSetting)], env: &Environment) -> Self {
        let Self(mut variables) = Self::base(env);
        let of_login = env.iter().filter(|(name, _)| is_inherited_for_login(name, driver, settings, env));
        variables.extend(of_login.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self(variables)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Sets and removes the variables of a plan.
    pub fn plan(&mut self, env: &[(String, Option<String>)]) {
        for (name, value) in env {
            match value {
                Some(value) => self.0.insert(name.into(), value.into()),
                None => self.0.remove(OsStr::new(name)),
            };
        }
    }

    /// Applies the `env` settings of the model, which override everything else.
    pub fn configure(&mut self, settings: &[(String, EnvSetting)], env: &Environment) {
        for (name, setting) in settings {
            let value = match setting {
                EnvSetting::Set(value) => Some(OsStr::new(value)),
                EnvSetting::Pass => env.get(name),
                EnvSetting::Remove => None,
            };
            match value {
                Some(value) => self.0.insert(name.into(), value.to_owned()),
                None => self.0.remove(OsStr::new(name)),
            };
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// All variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        Variables(pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect())
    }

    fn env(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_pairs(pairs.iter().copied())
    }

    #[test]
    fn a_cli_inherits_few_variables_of_the_host_and_a_dumb_terminal() {
        let pairs = [
            ("HOME", "/h"),
            ("TERM", "xterm"),
            ("SECRET", "s"),
            ("LC_ALL", "C"),
            ("GIT_DIR", "/x"),
            ("LD_PRELOAD", "y"),
        ];
        let expected = [("HOME", "/h"), ("LC_ALL", "C"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")];
        assert_eq!(Variables::base(&env(&pairs)), variables(&expected));
    }

    #[test]
    fn no_value_is_ever_shown() {
        let env = env(&[("OPENAI_API_KEY", "secret")]);
        assert_eq!(format!("{env:?}"), r#"{"OPENAI_API_KEY"}"#);
        let shown = format!("{:?}", Variables::base(&env));
        assert_eq!(shown, r#"{"CI", "NO_COLOR", "OPENAI_API_KEY", "TERM"}"#);
    }

    #[test]
    fn a_plan_can_remove_a_fixed_variable() {
        let mut made = Variables::base(&env(&[]));
        made.plan(&[("CI".to_owned(), None), ("X".to_owned(), Some("1".to_owned()))]);
        assert_eq!(made, variables(&[("TERM", "dumb"), ("NO_COLOR", "1"), ("X", "1")]));
    }

    #[test]
    fn the_configuration_overrides_the_plan() {
        let mut made = Variables::base(&env(&[]));
        made.plan(&[("X".to_owned(), Some("plan".to_owned()))]);
        let settings = [
            ("X".to_owned(), EnvSetting::Set("mine".to_owned())),
            ("TOKEN".to_owned(), EnvSetting::Pass),
            ("MISSING".to_owned(), EnvSetting::Pass),
            ("CI".to_owned(), EnvSetting::Remove),
        ];
        made.configure(&settings, &env(&[("TOKEN", "t")]));
        assert_eq!(made, variables(&[("TERM", "dumb"), ("NO_COLOR", "1"), ("X", "mine"), ("TOKEN", "t")]));
    }
}
