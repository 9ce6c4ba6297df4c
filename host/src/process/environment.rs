//! The variables a CLI is started with: few of the host's, fixed ones that keep it from drawing, then what the plan and
//! the model's configuration say.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use crate::domain::EnvSetting;

/// What a program needs to find its user, its files, its network and its language.
const PASSED: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// The first letters of what the vendors' CLIs read their login and settings from.
const PASSED_PREFIXES: [&str; 14] = [
    "LC_",
    "OPENAI_",
    "CODEX_",
    "ANTHROPIC_",
    "CLAUDE_CODE_",
    "GEMINI_",
    "GOOGLE_",
    "QWEN_",
    "DASHSCOPE_",
    "OPENCODE_",
    "COPILOT_",
    "ZAI_",
    "XAI_",
    "OPENROUTER_",
];

/// What CLIs tell those that they start, so that these know where they are: a run of the host's is nobody's child.
const INSIDE: [&str; 6] = [
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "GEMINI_CLI",
    "QWEN_CODE",
];

/// Set for every run: no colours, no drawing, no questions.
const FIXED: [(&str, &str); 3] = [("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "true")];

/// Variables that change which code a program loads or runs, apart from those with the prefixes below.
const LOADING: [&str; 17] = [
    "PATH",
    "SHELL",
    "ENV",
    "BASH_ENV",
    "IFS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "GCONV_PATH",
    "EDITOR",
];

const LOADING_PREFIXES: [&str; 5] = ["LD_", "DYLD_", "GIT_", "BASH_FUNC_", "npm_config_"];

/// Whether a variable changes which code a program loads or runs, so that a plugin must not set it.
pub fn changes_loading(name: &str) -> bool {
    LOADING.contains(&name) || LOADING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The variables the host itself was started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostVariables(BTreeMap<OsString, OsString>);

impl HostVariables {
    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }
}

impl FromIterator<(OsString, OsString)> for HostVariables {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// The variables of a process to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    /// None at all.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// Those of the host's which every CLI gets, and the fixed ones.
    pub fn base(host: &HostVariables) -> Self {
        let passed = |name: &OsStr| {
            name.to_str().is_some_and(|name| {
                let known = PASSED.contains(&name) || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
                known && !INSIDE.contains(&name)
            })
        };
        let host = host.0.iter().filter(|(name, _)| passed(name));
        let mut variables: BTreeMap<_, _> = host.map(|(name, value)| (name.clone(), value.clone())).collect();
        variables.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
        Self(variables)
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
    pub fn configure(&mut self, env: &[(String, EnvSetting)], host: &HostVariables) {
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

    pub(super) fn iter(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        Variables(pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect())
    }

    fn host(pairs: &[(&str, &str)]) -> HostVariables {
        pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
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

    #[test]
    fn variables_that_load_code_are_known() {
        for name in ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PATH", "NODE_OPTIONS", "GIT_SSH_COMMAND", "BASH_ENV"] {
            assert!(changes_loading(name), "{name}");
        }
        for name in ["CODEX_HOME", "RUST_LOG", "GITHUB_TOKEN"] {
            assert!(!changes_loading(name), "{name}");
        }
    }
}
