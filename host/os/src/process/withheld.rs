//! The variables that no plan sets, whatever its plugin was granted: each is a way around the grant of programs. Which
//! others a plan may set is for `domain::trust` to say, what a model's configuration sets for its user.

/// How the names are compared: npm and others read theirs in capitals and in small letters.
const NAMES: [&str; 43] = [
    // Shells, and what programs ask when they start others.
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
    // Where all programs look for settings and code.
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
    // Keys of connections, and servers that are talked to in place of the vendor's.
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
    // Rust, Homebrew, and tools that choose versions of others.
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

/// Whether a plan must not set a variable: it changes which code programs load or start, where they look for their
/// settings, or whom they talk to.
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
    fn ways_to_code_settings_and_keys_are_known_in_any_case() {
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
    fn what_the_plugins_of_the_program_set_is_not_among_them() {
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
