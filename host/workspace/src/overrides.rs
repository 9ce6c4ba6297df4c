//! What the host's own git is told over the settings of the repository that it works in. Whoever can write a file there
//! can name commands in its settings: for such a key git gets the value that the user or the system has set, or one that
//! starts nothing. So a filter of the user, as that of LFS, goes on working, and one of the repository does nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// What holds in every call, whatever is set: nothing is started, nothing asked, nothing signed; and no name, whichever
/// way it is written, keeps a file from being saved.
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

/// Keys that name a command, in the form `section.*.name` or `section.name`, and the value that starts nothing. A variant
/// with a part in between stands for every such part.
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
    // What a transport of the name `ext` fetches from is a command.
    ("protocol.allow", "user"),
    ("protocol.ext.allow", "never"),
    // LFS, which is started by the user's filter, reads the settings of the repository too.
    ("lfs.standaloneTransferAgent", ""),
    ("lfs.*.standaloneTransferAgent", ""),
    ("lfs.*.path", ""),
    ("lfs.*.clean", ""),
    ("lfs.*.smudge", ""),
];

/// Keys that name what serves a fetch or a push. The first setting holds and not the last, so that nothing goes over them:
/// where a repository has one, nothing is fetched from this machine, where that would be started.
const SERVERS: [&str; 2] = ["remote.*.uploadpack", "remote.*.receivepack"];

/// Variables that go before what is set: no editor, no pager, no question.
const VARIABLES: [(&str, &str); 4] =
    [("GIT_EDITOR", "false"), ("GIT_SEQUENCE_EDITOR", "false"), ("GIT_PAGER", "cat"), ("GIT_ASKPASS", "")];

/// Settings and variables over those of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Overrides {
    /// Keys and values, the later ones over the earlier ones.
    settings: Vec<(Vec<u8>, Vec<u8>)>,
    /// No program makes the connections of `git://`: for it, the first setting holds and not the last.
    no_git_proxy: bool,
}

/// What is set, by whom.
#[derive(Debug, Default)]
struct Listed<'a> {
    /// By the user or the system, in the order in which it is read.
    user: Vec<(&'a [u8], &'a [u8])>,
    /// The keys that the repository sets.
    repository: BTreeSet<&'a [u8]>,
}

impl Overrides {
    /// What goes over the settings that `git config --list --show-scope -z` gives.
    pub(super) fn over(listed: &[u8]) -> Self {
        let Listed { user, repository } = Listed::parse(listed);
        let mut settings = Vec::new();
        let last: BTreeMap<&[u8], &[u8]> = user.iter().copied().collect();
        for key in &repository {
            let Some((_, neutral)) = COMMANDS.iter().find(|(pattern, _)| fits(key, pattern)) else { continue };
            let value = last.get(key).copied().unwrap_or(neutral.as_bytes());
            settings.push((key.to_vec(), value.to_vec()));
        }
        if repository.contains(&b"protocol.allow"[..]) {
            // What holds for all transports would go before what git does with this one by itself.
            let ext = last.get(&b"protocol.ext.allow"[..]).copied().unwrap_or(b"never");
            settings.push((b"protocol.ext.allow".to_vec(), ext.to_vec()));
        }
        if repository.iter().any(|key| SERVERS.iter().any(|pattern| fits(key, pattern))) {
            settings.push((b"protocol.file.allow".to_vec(), b"never".to_vec()));
        }
        let is_helper = |key: &[u8]| fits(key, "credential.helper") || fits(key, "credential.*.helper");
        if repository.iter().any(|key| is_helper(key)) {
            // All of them are asked, one after the other; an empty one takes away those before it.
            settings.push((b"credential.helper".to_vec(), Vec::new()));
            let helpers = user.iter().filter(|(key, _)| is_helper(key));
            settings.extend(helpers.map(|(key, value)| (key.to_vec(), value.to_vec())));
        }
        // Hooks that are settings are not found by their folder.
        let hooks = user.iter().map(|(key, _)| key).chain(&repository).filter(|key| fits(key, "hook.*.command"));
        let off = |key: &&[u8]| [key.strip_suffix(b"command").unwrap_or(key), b"enabled"].concat();
        settings.extend(hooks.map(off).map(|key| (key, b"false".to_vec())));
        let no_git_proxy = repository.iter().any(|key| fits(key, "core.gitProxy"));
        Self { settings, no_git_proxy }
    }

    /// The variables that tell git of them.
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

impl<'a> Listed<'a> {
    /// Each setting is a scope, then key and value with a line feed between them.
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
                // Those are the host's.
                b"command" => {}
                _ => {
                    parsed.repository.insert(key);
                }
            }
        }
        parsed
    }
}

/// Whether a key is one that the pattern means. Git lists section and name in lower case, and what is between them as it is.
fn fits(key: &[u8], pattern: &str) -> bool {
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

    /// What goes over these settings, each `scope key=value`.
    fn over(settings: &[&str]) -> Vec<(String, String)> {
        let listed: Vec<String> = settings
            .iter()
            .map(|setting| {
                let (scope, setting) = setting.split_once(' ').unwrap();
                format!("{scope}\0{}\0", setting.replacen('=', "\n", 1))
            })
            .collect();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let settings = Overrides::over(listed.concat().as_bytes()).settings;
        settings.into_iter().map(|(key, value)| (text(key), text(value))).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn a_filter_of_the_repository_does_nothing_and_that_of_the_user_goes_on() {
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
        assert_eq!(over(&settings), pairs(&expected));
    }

    #[test]
    fn helpers_of_the_user_are_asked_in_their_order_and_none_of_the_repository() {
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
        assert_eq!(over(&settings), pairs(&expected));
    }

    #[test]
    fn a_repository_that_names_what_serves_a_fetch_has_nothing_fetched_from_this_machine() {
        assert_eq!(over(&["local remote.origin.uploadpack=evil"]), pairs(&[("protocol.file.allow", "never")]));
        assert_eq!(over(&["global remote.origin.uploadpack=mine"]), []);
    }

    #[test]
    fn a_hook_that_is_a_setting_is_switched_off_whoever_set_it() {
        let settings = ["global hook.lint.command=lint", "local hook.evil.command=evil", "local core.gitproxy=evil"];
        assert_eq!(over(&settings), pairs(&[("hook.lint.enabled", "false"), ("hook.evil.enabled", "false")]));
        assert!(Overrides::over(b"local\0core.gitproxy\nevil\0").no_git_proxy);
    }
}
