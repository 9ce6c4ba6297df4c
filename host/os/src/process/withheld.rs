//! The variables that no plan may set, even with a grant: each is a way around the grant of programs. `domain::trust` decides
//! which others a plan may set; the user's model configuration may set any.

/// Names in upper case. They are compared without case: npm and others read theirs in both cases.
const NAMES: [&str; 43] = [
    // Shells, and variables that programs read when they start others.
    "PATH",
    "SHELL",
    "ENV",
    "IFS",
    "PS4",
    "CDPATH",
    "PROMPT_COMMAND",
    "BASHOPTS",
    "SHELLOPTS",
    "ZDOTDIR",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "MAKEFLAGS",
    "MAKEFILES",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    // Where programs find their settings and code.
    "HOME",
    "GNUPGHOME",
    "NETRC",
    "WGETRC",
    "TERMINFO",
    "TERMINFO_DIRS",
    // The C library.
    "GCONV_PATH",
    "NLSPATH",
    "LOCPATH",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
    // Languages whose names have no prefix of their own.
    "CLASSPATH",
    "VIRTUAL_ENV",
    "GOFLAGS",
    "GOENV",
    "GOPATH",
    "GOROOT",
    "GOPROXY",
    "GOTOOLCHAIN",
    "CC",
    "CXX",
    // Keys of connections, and servers that replace the vendor's.
    "SSLKEYLOGFILE",
    "BASE_URL",
];

const PREFIXES: [&str; 61] = [
    // Loaders, shells, git and ssh.
    "LD_",
    "DYLD_",
    "GLIBC_",
    "MALLOC_",
    "BASH_",
    "XDG_",
    "GIT_",
    "SSH_",
    "SUDO_",
    // JavaScript.
    "NODE_",
    "BUN_",
    "DENO_",
    "NPM_",
    "PNPM_",
    "YARN_",
    "COREPACK_",
    "VOLTA_",
    "NVM_",
    "TS_NODE_",
    "TSX_",
    "ELECTRON_",
    // Python.
    "PYTHON",
    "PIP_",
    "PIPX_",
    "PIPENV_",
    "UV_",
    "POETRY_",
    "CONDA_",
    // Ruby, Perl, Lua, PHP.
    "RUBY",
    "GEM_",
    "BUNDLE_",
    "PERL",
    "LUA_",
    "PHP",
    "COMPOSER_",
    // Java and .NET.
    "JAVA_",
    "_JAVA_",
    "JDK_",
    "JRE_",
    "MAVEN_",
    "GRADLE_",
    "SBT_",
    "DOTNET_",
    "COMPLUS_",
    "CORECLR_",
    "COR_",
    "NUGET_",
    // Rust, Homebrew, and version managers.
    "CARGO_",
    "RUSTC",
    "RUSTUP_",
    "RUSTFLAGS",
    "RUSTDOC",
    "HOMEBREW_",
    "ASDF_",
    "MISE_",
    "DIRENV_",
    // Encryption.
    "SSL_",
    "OPENSSL_",
    "GNUTLS_",
    "CURL_",
    "REQUESTS_",
];

const SUFFIXES: [&str; 13] = [
    // Where a CLI sends its user's key.
    "_BASE_URL",
    "_BASEURL",
    "_API_BASE",
    "_API_URL",
    "_API_HOST",
    "_ENDPOINT",
    "_ENDPOINT_URL",
    "_PROXY",
    "_CA_BUNDLE",
    "_CA_CERTS",
    // Programs that are started.
    "_ASKPASS",
    "_PAGER",
    "_RSH",
];

/// Whether a plan must not set a variable, since it changes which code programs load or start, where they find their
/// settings, or which servers they use.
pub fn is_withheld(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str())
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_lead_to_code_settings_and_keys_are_withheld_in_any_case() {
        let loaders = "PATH LD_PRELOAD DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH BASH_ENV BASH_FUNC_x%% ZDOTDIR PS4 \
                       PROMPT_COMMAND VISUAL PAGER SSH_ASKPASS SUDO_ASKPASS GIT_SSH_COMMAND GIT_CONFIG_GLOBAL CVS_RSH";
        let homes = "HOME XDG_CONFIG_HOME XDG_DATA_DIRS CURL_HOME CARGO_HOME GNUPGHOME";
        let interpreters = "NODE_OPTIONS NODE_PATH BUN_OPTIONS DENO_DIR NPM_CONFIG_PREFIX npm_config_node_options \
                            YARN_RC_FILENAME PYTHONPATH PYTHONUSERBASE PYTHONBREAKPOINT PERL5DB PERLLIB PERL5OPT RUBYOPT \
                            LUA_INIT PHPRC JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS \
                            RUSTC_WRAPPER PIP_INDEX_URL UV_PYTHON";
        let keys = "HTTPS_PROXY https_proxy all_proxy NO_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS AWS_CA_BUNDLE SSLKEYLOGFILE \
                    OPENSSL_CONF OPENAI_BASE_URL ANTHROPIC_BASE_URL Openai_Base_Url OPENAI_API_BASE AZURE_OPENAI_ENDPOINT";
        for name in [loaders, homes, interpreters, keys].into_iter().flat_map(str::split_whitespace) {
            for name in [name.to_owned(), name.to_lowercase(), name.to_uppercase()] {
                assert!(is_withheld(&name), "{name}");
            }
        }
    }

    #[test]
    fn variables_that_the_built_in_plugins_set_are_not_withheld() {
        for name in [
            "CLAUDE_CODE_MAX_RETRIES",
            "CLAUDECODE",
            "DISABLE_TELEMETRY",
            "OPENCODE_PERMISSION",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            "CODEX_HOME",
            "RUST_LOG",
            "GOOGLE_API_KEY",
            "GITHUB_TOKEN",
            "TERM",
        ] {
            assert!(!is_withheld(name), "{name}");
        }
    }
}
