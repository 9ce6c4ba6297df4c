//! The variables a CLI is started with: few of the host's, fixed ones that keep it from drawing, then what the plan and
//! the model's configuration say. Which of the host's these are is `passed`'s.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use agentbay_domain::{EnvSetting, Environment};

use super::passed::{goes_to_all, goes_with_login};

/// Set for every run: no colours, no drawing, no questions.
const FIXED: [(&str, &str); 3] = [("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")];

/// The variables of a process to be started.
#[derive(Clone, PartialEq, Eq)]
pub struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// None at all.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Those of the host's which every CLI gets, and the fixed ones.
    pub fn base(host: &Environment) -> Self {
        let host = host.iter().filter(|(name, _)| goes_to_all(name));
        let mut variables: BTreeMap<_, _> = host.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        variables.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
        Self(variables)
    }

    /// The same, and those with which the CLI of this driver logs in, whose model has these settings.
    pub fn for_driver(driver: &str, settings: &[(String, EnvSetting)], host: &Environment) -> Self {
        let Self(mut variables) = Self::base(host);
        let of_login = host.iter().filter(|(name, _)| goes_with_login(name, driver, settings, host));
        variables.extend(of_login.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self(variables)
    }

    /// Sets one.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Sets or takes away what a plan says.
    pub fn plan(&mut self, env: &[(String, Option<String>)]) {
        for (name, value) in env {
            match value {
                Some(value) => self.0.insert(name.into(), value.into()),
                None => self.0.remove(OsStr::new(name)),
            };
        }
    }

    /// Does what the model's configuration says: it has the last word.
    pub fn configure(&mut self, env: &[(String, EnvSetting)], host: &Environment) {
        for (name, setting) in env {
            let value = match setting {
                EnvSetting::Set(value) => Some(OsStr::new(value)),
                EnvSetting::Pass => host.get(name),
                EnvSetting::Remove => None,
            };
            match value {
                Some(value) => self.0.insert(name.into(), value.to_owned()),
                None => self.0.remove(OsStr::new(name)),
            };
        }
    }

    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// All of them, by name.
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

    fn host(pairs: &[(&str, &str)]) -> Environment {
        Environment::from_pairs(pairs.iter().copied())
    }

    #[test]
    fn a_cli_gets_few_of_the_hosts_variables_and_a_dumb_terminal() {
        let host = [
            ("HOME", "/h"),
            ("TERM", "xterm"),
            ("SECRET", "s"),
            ("LC_ALL", "C"),
            ("GIT_DIR", "/x"),
            ("LD_PRELOAD", "y"),
        ];
        let expected = [("HOME", "/h"), ("LC_ALL", "C"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")];
        assert_eq!(Variables::base(&self::host(&host)), variables(&expected));
    }

    #[test]
    fn no_value_is_ever_shown() {
        let host = host(&[("OPENAI_API_KEY", "secret")]);
        assert_eq!(format!("{host:?}"), r#"{"OPENAI_API_KEY"}"#);
        let shown = format!("{:?}", Variables::base(&host));
        assert_eq!(shown, r#"{"CI", "NO_COLOR", "OPENAI_API_KEY", "TERM"}"#);
    }

    #[test]
    fn a_plan_can_take_a_fixed_variable_away() {
        let mut made = Variables::base(&host(&[]));
        made.plan(&[("CI".to_owned(), None), ("X".to_owned(), Some("1".to_owned()))]);
        assert_eq!(made, variables(&[("TERM", "dumb"), ("NO_COLOR", "1"), ("X", "1")]));
    }

    #[test]
    fn the_configuration_has_the_last_word() {
        let mut made = Variables::base(&host(&[]));
        made.plan(&[("X".to_owned(), Some("plan".to_owned()))]);
        let settings = [
            ("X".to_owned(), EnvSetting::Set("mine".to_owned())),
            ("TOKEN".to_owned(), EnvSetting::Pass),
            ("MISSING".to_owned(), EnvSetting::Pass),
            ("CI".to_owned(), EnvSetting::Remove),
        ];
        made.configure(&settings, &host(&[("TOKEN", "t")]));
        assert_eq!(made, variables(&[("TERM", "dumb"), ("NO_COLOR", "1"), ("X", "mine"), ("TOKEN", "t")]));
    }
}
