//! Keys that were renamed.

use super::super::renamed::RENAMED;
use super::Folder;

#[test]
fn every_renamed_key_is_a_fault_that_names_the_new_key() {
    for (section, old, new) in RENAMED {
        let section = section.replace("NAME", "x");
        let folder = Folder::with(&[("proxy.toml", &format!("[{section}]\n{old} = 1\n"))]);
        let expected = format!("proxy.toml:2: {section}.{old}: unknown key: it is called `{section}.{new}` now");
        assert_eq!(folder.faults(), [expected]);
    }
}

#[test]
fn a_renamed_key_of_a_model_or_of_the_limits_of_a_model_is_a_fault_that_names_the_new_key() {
    let text = "[models.x]\ndriver = \"echo\"\nrepo = \".\"\nrepo_runs = 2\nlimits = { unread = 1 }\n";
    let expected = [
        "proxy.toml:4: models.x.repo_runs: unknown key: it is called `models.x.max_repo_runs` now",
        "proxy.toml:5: models.x.limits.unread: unknown key: it is called `models.x.limits.answer_buffer` now",
    ];
    assert_eq!(Folder::with(&[("proxy.toml", text)]).faults(), expected);
}

#[test]
fn an_old_name_in_a_section_that_has_no_such_key_is_an_unknown_key() {
    let expected = "proxy.toml:2: server.linger: unknown key: the keys here are `allowed_hosts`, `allowed_origins`, `api_keys`, \
                    `listen`, `shutdown_timeout`";
    assert_eq!(Folder::with(&[("proxy.toml", "[server]\nlinger = 1\n")]).faults(), [expected]);
}
