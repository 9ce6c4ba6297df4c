//! Overrides of a repository's settings for the host's git calls. A process that can write files there can name commands in
//! the repository's settings: such a key gets the value of the user or the system, or one that starts nothing. So the user's
//! filters, such as LFS, still work, and filters of the repository do nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Settings of every call: nothing is started, asked or signed, and no file name keeps a file from being saved.
const ALWAYS: [(&str, &str); 13] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.protectHFS", "false"),
    ("core.protectNTFS", "false"),
    ("core.safecrlf", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("credential.interactive", "false"),
];

/// Keys that name a command, as `section.name` or `section.*.name` with any subsection, and the value that starts nothing.
const COMMANDS: [(&str, &str); 25] = [
    ("core.sshCommand", "ssh"),
    ("core.alternateRefsCommand", "true"),
    ("credential.helper", ""),
    ("credential.*.helper", ""),
    ("diff.external", ""),
    ("diff.*.command", ""),
    ("diff.*.textconv", ""),
    ("filter.*.clean", ""),
    ("filter.*.smudge", ""),
    ("filter.*.process", ""),
    ("filter.*.required", "false"),
    ("gpg.program", "false"),
    ("gpg.*.program", "false"),
    ("gpg.*.defaultKeyCommand", "false"),
    ("interactive.diffFilter", ""),
    ("merge.*.driver", "false"),
    ("sequence.editor", "false"),
    ("submodule.*.update", "none"),
    // The transport `ext` runs a command.
    ("protocol.allow", "user"),
    ("protocol.ext.allow", "never"),
    // LFS, started by the user's filter, reads the settings of the repository too.
    ("lfs.standaloneTransferAgent", ""),
    ("lfs.*.standaloneTransferAgent", ""),
    ("lfs.*.path", ""),
    ("lfs.*.clean", ""),
    ("lfs.*.smudge", ""),
];

/// Keys that name the server side of a fetch or push. The first setting wins, so that they cannot be overridden: if a
/// repository has one, nothing is fetched from this machine, where the command would be started.
const SERVERS: [&str; 2] = ["remote.*.uploadpack", "remote.*.receivepack"];

/// Variables that take precedence over settings: no editor, no pager, no question.
const VARIABLES: [(&str, &str); 4] =
    [("GIT_EDITOR", "false"), ("GIT_SEQUENCE_EDITOR", "false"), ("GIT_PAGER", "cat"), ("GIT_ASKPASS", "")];

/// Settings and variables that override those of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Overrides {
    /// Keys and values; later ones override earlier ones.
    settings: Vec<(Vec<u8>, Vec<u8>)>,
    /// Disable programs for `git://` connections by a variable: the first setting wins there.
    no_git_proxy: bool,
}

/// Settings by their origin.
#[derive(Debug, Default)]
struct ConfigList<'a> {
    /// Settings of the user or the system, in the order in which git reads them.
    user: Vec<(&'a [u8], &'a [u8])>,
    /// The keys that the repository sets.
    repository: BTreeSet<&'a [u8]>,
}

impl Overrides {
    /// The overrides for the settings that `git config --list --show-scope -z` lists.
    pub(super) fn for_config(listed: &[u8]) -> Self {
        let ConfigList { user, repository } = ConfigList::parse(listed);
        let mut settings = Vec::new();
        let last: BTreeMap<&[u8], &[u8]> = user.iter().copied().collect();
        for key in &repository {
            let Some((_, neutral)) = COMMANDS.iter().find(|(pattern, _)| matches_key(key, pattern)) else { continue };
            let value = last.get(key).copied().unwrap_or(neutral.as_bytes());
            settings.push((key.to_vec(), value.to_vec()));
        }
        if repository.contains(&b"protocol.allow"[..]) {
            // A setting for all transports would replace git's default for this one.
            let ext = last.get(&b"protocol.ext.allow"[..]).copied().unwrap_or(b"never");
            settings.push((b"protocol.ext.allow".to_vec(), ext.to_vec()));
        }
        if repository.iter().any(|key| SERVERS.iter().any(|pattern| matches_key(key, pattern))) {
            settings.push((b"protocol.file.allow".to_vec(), b"never".to_vec()));
        }
        let is_helper = |key: &[u8]| matches_key(key, "credential.helper") || matches_key(key, "credential.*.helper");
        if repository.iter().any(|key| is_helper(key)) {
            // All helpers are asked in order; an empty one clears those before it.
            settings.push((b"credential.helper".to_vec(), Vec::new()));
            let helpers = user.iter().filter(|(key, _)| is_helper(key));
            settings.extend(helpers.map(|(key, value)| (key.to_vec(), value.to_vec())));
        }
        // Hooks in settings are not disabled by `core.hooksPath`.
        let hooks = user.iter().map(|(key, _)| key).chain(&repository).filter(|key| matches_key(key, "hook.*.command"));
        let off = |key: &&[u8]| [key.strip_suffix(b"command").unwrap_or(key), b"enabled"].concat();
        settings.extend(hooks.map(off).map(|key| (key, b"false".to_vec())));
        let no_git_proxy = repository.iter().any(|key| matches_key(key, "core.gitProxy"));
        Self { settings, no_git_proxy }
    }

    /// The variables that pass them to git.
    pub(super) fn variables(&self) -> Vec<(OsString, OsString)> {
        let always = ALWAYS.iter().map(|(key, value)| (key.as_bytes(), value.as_bytes()));
        let these = self.settings.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        let mut count = 0;
        for (key, value) in always.chain(these) {
            variables.push((format!("GIT_CONFIG_KEY_{count}").into(), OsString::from_vec(key.to_vec())));
            variables.push((format!("GIT_CONFIG_VALUE_{count}").into(), OsString::from_vec(value.to_vec())));
            count += 1;
        }
        variables.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
        variables.extend(VARIABLES.map(|(name, value)| (name.into(), value.into())));
        if self.no_git_proxy {
            variables.push(("GIT_PROXY_COMMAND".into(), OsString::new()));
        }
        variables
    }
}

impl<'a> ConfigList<'a> {
    /// Each setting is a scope, then key and value separated by a line feed.
    fn parse(listed: &'a [u8]) -> Self {
        let mut fields = listed.split(|byte| *byte == 0);
        let mut parsed = Self::default();
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let (key, value) = match setting.iter().position(|byte| *byte == b'\n') {
                Some(at) => (&setting[..at], &setting[at + 1..]),
                None => (setting, &b"true"[..]),
            };
            match scope {
                b"system" | b"global" => parsed.user.push((key, value)),
                // Set by the host.
                b"command" => {}
                _ => {
                    parsed.repository.insert(key);
                }
            }
        }
        parsed
    }
}

/// Whether a key matches a pattern. Git lists section and name in lower case, and the subsection unchanged.
fn matches_key(key: &[u8], pattern: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('.').collect();
    let Some(first) = key.iter().position(|byte| *byte == b'.') else { return false };
    let last = key.iter().rposition(|byte| *byte == b'.').unwrap_or(first);
    let (section, name) = (&key[..first], &key[last + 1..]);
    let between = (first < last).then(|| &key[first + 1..last]);
    match pattern.as_slice() {
        [of, named] => between.is_none() && section == of.as_bytes() && name.eq_ignore_ascii_case(named.as_bytes()),
        [of, part, named] => {
            let is_part = between.is_some_and(|between| *part == "*" || between == part.as_bytes());
            is_part && section == of.as_bytes() && name.eq_ignore_ascii_case(named.as_bytes())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The overrides for these settings, each `scope key=value`.
    fn overrides(settings: &[&str]) -> Vec<(String, String)> {
        let listed: Vec<String> = settings
            .iter()
            .map(|setting| {
                let (scope, setting) = setting.split_once(' ').unwrap();
                format!("{scope}\0{}\0", setting.replacen('=', "\n", 1))
            })
            .collect();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let settings = Overrides::for_config(listed.concat().as_bytes()).settings;
        settings.into_iter().map(|(key, value)| (text(key), text(value))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn filters_of_the_repository_are_disabled_and_those_of_the_user_are_kept() {
        let settings = [
            "system filter.lfs.required=true",
            "global filter.lfs.clean=git-lfs clean",
            "global filter.mine.clean=mine",
            "local filter.lfs.clean=evil",
            "local filter.a.b/c d.smudge=evil",
            "worktree filter.a.b/c d.required",
            "local core.autocrlf=input",
            "command filter.x.clean=ours",
        ];
        let expected = [
            ("filter.a.b/c d.required", "false"),
            ("filter.a.b/c d.smudge", ""),
            ("filter.lfs.clean", "git-lfs clean"),
        ];
        assert_eq!(overrides(&settings), pairs(&expected));
    }

    #[test]
    fn credential_helpers_of_the_user_are_kept_in_order_and_those_of_the_repository_are_dropped() {
        let settings = [
            "system credential.helper=a",
            "global credential.https://x.helper=b",
            "local credential.https://x.helper=!evil",
        ];
        let expected = [
            ("credential.https://x.helper", "b"),
            ("credential.helper", ""),
            ("credential.helper", "a"),
            ("credential.https://x.helper", "b"),
        ];
        assert_eq!(overrides(&settings), pairs(&expected));
    }

    #[test]
    fn a_repository_that_names_an_uploadpack_command_cannot_fetch_from_this_machine() {
        assert_eq!(overrides(&["local remote.origin.uploadpack=evil"]), pairs(&[("protocol.file.allow", "never")]));
        assert_eq!(overrides(&["global remote.origin.uploadpack=mine"]), []);
    }

    #[test]
    fn hooks_in_settings_of_any_scope_are_disabled() {
        let settings = ["global hook.lint.command=lint", "local hook.evil.command=evil", "local core.gitproxy=evil"];
        assert_eq!(overrides(&settings), pairs(&[("hook.lint.enabled", "false"), ("hook.evil.enabled", "false")]));
        assert!(Overrides::for_config(b"local\0core.gitproxy\nevil\0").no_git_proxy);
    }
}
