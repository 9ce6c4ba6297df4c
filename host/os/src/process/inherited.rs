//! The host's variables that a CLI inherits: an allow-list. It excludes the variables by which CLIs mark the processes that
//! they start as part of their session: the host may have been started in such a session, but its runs do not belong to it.

use std::ffi::OsStr;

use agentbay_domain::{EnvSetting, Environment};

/// Variables that a program needs to find its user, files, network and language.
const SYSTEM: [&str; 26] = [
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

/// Prefixes of the variables of a vendor's service: keys, addresses, projects. Users set these; CLIs do not set them for
/// their children, except for those in `SESSION`.
const SERVICES: [&str; 8] = ["LC_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "DASHSCOPE_", "ZAI_", "XAI_", "OPENROUTER_"];

/// A socket of the session that the host was started in.
const SESSION: [&str; 1] = ["ANTHROPIC_UNIX_SOCKET"];

/// The only variables with a CLI's own prefix (`CLAUDE_`, `CODEX_`, `GEMINI_`, `QWEN_`, `OPENCODE_`, `COPILOT_`) that are
/// inherited: those that its documentation asks users to set. All others are assumed to belong to a session.
const SETTINGS: [&str; 37] = [
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CODEX_API_KEY",
    "CODEX_CA_CERTIFICATE",
    "CODEX_HOME",
    "GEMINI_API_KEY",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GEMINI_CLI_TRUST_WORKSPACE",
    "GEMINI_MODEL",
    "GEMINI_SANDBOX",
    "GEMINI_SYSTEM_MD",
    "QWEN_CODE_SUPPRESS_YOLO_WARNING",
    "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
    "QWEN_CODE_SYSTEM_SETTINGS_PATH",
    "QWEN_HOME",
    "QWEN_MODEL",
    "QWEN_SANDBOX",
    "QWEN_TLS_INSECURE",
    "OPENCODE_API_KEY",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_PERMISSION",
    "COPILOT_AUTO_UPDATE",
    "COPILOT_GITHUB_TOKEN",
    "COPILOT_HOME",
    "COPILOT_MODEL",
];

/// Prefixes of such variables.
const SETTING_PREFIXES: [&str; 6] = [
    "CLAUDE_CODE_DISABLE_",
    "CLAUDE_CODE_ENABLE_",
    "GEMINI_TELEMETRY_",
    "OPENCODE_DISABLE_",
    "OPENCODE_EXPERIMENTAL_",
    "COPILOT_PROVIDER_",
];

/// Variables with which a CLI logs in to another service. They are inherited together, by the CLI whose documentation names
/// them, or not at all: with the switch but without its credentials, the CLI would log in as another user or fail.
#[derive(Debug)]
struct Login {
    /// The driver of that CLI.
    driver: &'static str,
    /// The variable that users set to a true value to enable it; without a switch the credentials are always inherited.
    switch: Option<&'static str>,
    /// Variables that belong to the switch: names, or prefixes that end in `_`.
    credentials: &'static [&'static str],
}

const LOGINS: [Login; 5] = [
    Login {
        driver: "claude",
        switch: Some("CLAUDE_CODE_USE_BEDROCK"),
        credentials: &["AWS_", "CLAUDE_CODE_SKIP_BEDROCK_AUTH"],
    },
    Login {
        driver: "claude",
        switch: Some("CLAUDE_CODE_USE_VERTEX"),
        credentials: &[
            "CLOUD_ML_REGION",
            "CLOUDSDK_",
            "GCLOUD_PROJECT",
            "VERTEX_REGION_",
            "CLAUDE_CODE_SKIP_VERTEX_AUTH",
        ],
    },
    Login {
        driver: "claude",
        switch: Some("CLAUDE_CODE_USE_FOUNDRY"),
        credentials: &["AZURE_", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH"],
    },
    Login { driver: "gemini", switch: Some("GOOGLE_GENAI_USE_VERTEXAI"), credentials: &["CLOUDSDK_"] },
    Login { driver: "copilot", switch: None, credentials: &["GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"] },
];

/// Whether every CLI inherits a variable of the host.
pub(super) fn is_always_inherited(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let service = begins(&SERVICES) && !SESSION.contains(&name);
        SYSTEM.contains(&name) || service || SETTINGS.contains(&name) || begins(&SETTING_PREFIXES)
    })
}

/// Whether the CLI of this driver inherits a variable of the host because it logs in with it, given the `env` settings of
/// its model.
pub(super) fn is_inherited_for_login(
    name: &OsStr,
    driver: &str,
    settings: &[(String, EnvSetting)],
    env: &Environment,
) -> bool {
    let Some(name) = name.to_str() else { return false };
    LOGINS.iter().filter(|login| login.driver == driver).any(|login| {
        let is_on = login.switch.is_none_or(|switch| is_on(switch, settings, env));
        is_on && (login.switch == Some(name) || login.credentials.iter().any(|known| is_one_of(name, known)))
    })
}

/// Remarks on the switches that are set: the credentials that are passed with them, or that they are not passed.
pub fn login_remarks(
    driver: &str,
    knows_its_cli: bool,
    settings: &[(String, EnvSetting)],
    env: &Environment,
) -> Vec<String> {
    let on = LOGINS.iter().filter_map(|login| {
        let switch = login.switch.filter(|switch| is_on(switch, settings, env))?;
        let named =
            login.credentials.iter().map(|known| known.to_string() + if known.ends_with('_') { "*" } else { "" });
        let credentials = named.collect::<Vec<_>>().join(", ");
        if login.driver == driver {
            return Some(format!("{switch} is set and passed to the CLI with {credentials}"));
        }
        let is_always_passed =
            is_always_inherited(OsStr::new(switch)) || settings.iter().any(|(name, _)| name == switch);
        (!knows_its_cli && !is_always_passed).then(|| {
            format!(
                "{switch} is set and not passed to the CLI: if the CLI needs it, add it and its credentials \
                 ({credentials}) to `env` of the model"
            )
        })
    });
    on.collect()
}

/// Whether a switch is on. The settings of the model override the environment.
fn is_on(switch: &str, settings: &[(String, EnvSetting)], env: &Environment) -> bool {
    let inherited = || env.get(switch).and_then(OsStr::to_str);
    let value = match settings.iter().rev().find(|(name, _)| name == switch) {
        Some((_, EnvSetting::Set(value))) => Some(value.as_str()),
        Some((_, EnvSetting::Remove)) => None,
        Some((_, EnvSetting::Pass)) | None => inherited(),
    };
    value.is_some_and(|value| !["", "0", "false", "no", "off"].contains(&value.to_ascii_lowercase().as_str()))
}

fn is_one_of(name: &str, known: &str) -> bool {
    if known.ends_with('_') { name.starts_with(known) } else { name == known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(name: &str) -> bool {
        is_always_inherited(OsStr::new(name))
    }

    #[test]
    fn settings_of_the_clis_are_inherited_and_session_variables_are_not() {
        for name in [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CODEX_HOME",
            "GEMINI_API_KEY",
            "OPENCODE_PERMISSION",
            "COPILOT_PROVIDER_BASE_URL",
            "LC_ALL",
        ] {
            assert!(all(name), "{name}");
        }
        for name in [
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_REMOTE",
            "CLAUDE_PID",
            "ANTHROPIC_UNIX_SOCKET",
            "CODEX_SANDBOX",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "CODEX_THREAD_ID",
            "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
            "GEMINI_CLI",
            "GEMINI_CLI_IDE_AUTH_TOKEN",
            "GEMINI_CLI_IDE_SERVER_PORT",
            "QWEN_CODE",
            "QWEN_CODE_IDE_SERVER_PORT",
            "OPENCODE",
            "OPENCODE_SERVER_PASSWORD",
            "OPENCODE_CALLER",
            "COPILOT_AGENT_SESSION_ID",
            // It would override `permission`.
            "COPILOT_ALLOW_ALL",
            "GH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(!all(name), "{name}");
        }
    }

    #[test]
    fn a_switch_and_its_credentials_are_passed_together_or_not_at_all() {
        let host = |switch: &str| -> Environment {
            let pairs = [("CLAUDE_CODE_USE_BEDROCK", switch), ("AWS_PROFILE", "p"), ("GH_TOKEN", "g")];
            Environment::from_pairs(pairs)
        };
        let passed = |driver: &str, settings: &[(String, EnvSetting)], switch: &str| {
            let names = ["CLAUDE_CODE_USE_BEDROCK", "AWS_PROFILE", "GH_TOKEN"];
            names.map(|name| is_inherited_for_login(OsStr::new(name), driver, settings, &host(switch)))
        };
        let setting = |value| [("CLAUDE_CODE_USE_BEDROCK".to_owned(), value)];
        assert_eq!(passed("claude", &[], "1"), [true, true, false]);
        for off in ["", "0", "false", "FALSE"] {
            assert_eq!(passed("claude", &[], off), [false; 3], "{off}");
        }
        assert_eq!(passed("claude", &setting(EnvSetting::Remove), "1"), [false; 3]);
        assert_eq!(passed("claude", &setting(EnvSetting::Set("1".to_owned())), "0"), [true, true, false]);
        assert_eq!(passed("copilot", &[], "1"), [false, false, true]);
        assert_eq!(passed("codex", &[], "1"), [false; 3]);
    }
}
