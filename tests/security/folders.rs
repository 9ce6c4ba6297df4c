//! The program's own folders: one that another user can write to or read is not used.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use crate::support::{Machine, chat};

const SETTINGS: &str = "[plugins]\ncache = \"~/cache\"\n[models.m]\ndriver = \"claude\"\nrepo = \".\"\nretries = 0\n";

fn open(folder: &Path, mode: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

/// The message about a compile cache that was created like this.
fn refused(make: impl Fn(&Path)) -> (Option<i32>, String, String) {
    let machine = Machine::configured(SETTINGS);
    fs::create_dir(machine.path("home/cache")).unwrap();
    make(&machine.path("home/cache/wasm"));
    let run = machine.run(&["serve", "--listen", "127.0.0.1:0"]);
    (run.code, run.stdout, run.stderr.replace(&machine.name("home/cache/wasm"), "CACHE"))
}

#[test]
fn a_compile_cache_that_other_users_can_write_to_is_not_used() {
    let actual = |reason: &str| {
        let way_out = "`plugins.cache` in proxy.toml names another folder";
        (Some(1), String::new(), format!("cannot use the compile cache CACHE: {reason}; {way_out}\n"))
    };
    for mode in [0o777, 0o770, 0o755] {
        let made = refused(|cache| {
            fs::create_dir(cache).unwrap();
            open(cache, mode);
        });
        assert_eq!(made, actual("other users may open it: `chmod 700 CACHE`"), "{mode:o}");
    }
    let linked = refused(|cache| {
        fs::create_dir(cache.with_file_name("theirs")).unwrap();
        symlink("theirs", cache).unwrap();
    });
    assert_eq!(linked, actual("it is not a folder"));
    // Only root can create a folder of another user.
    if rustix::process::geteuid().is_root() {
        let theirs = refused(|cache| {
            fs::create_dir(cache).unwrap();
            open(cache, 0o700);
            chown(cache, Some(65534), None).unwrap();
        });
        assert_eq!(theirs, actual("it belongs to another user: choose another folder in proxy.toml"));
    }
}

#[test]
fn folders_for_the_status_and_for_files_of_runs_are_checked_before_they_are_used() {
    let machine = Machine::configured(SETTINGS);
    machine.script("claude", "cat > /dev/null");
    for name in ["servers", "runs"] {
        let folder = machine.path("home/cache").join(name);
        fs::create_dir_all(&folder).unwrap();
        open(&folder, 0o755);
    }
    let proxy = machine.serve();
    proxy.logged(&["WARN", "cannot write the status file", "other users may open it"]);
    // Claude Code receives the system message in a file.
    let mut body = chat("m", "hi");
    body["messages"].as_array_mut().unwrap().insert(0, serde_json::json!({"role": "system", "content": "be kind"}));
    let answer = proxy.complete(&body);
    let error = &answer.json()["error"];
    let runs = machine.name("home/cache/runs");
    let message = format!("cannot use the folder {runs}: other users may open it: `chmod 700 {runs}`");
    assert_eq!((answer.status, &error["code"], &error["message"]), (500, &"configuration".into(), &message.into()));
    assert_eq!(fs::read_dir(machine.path("home/cache/servers")).unwrap().count(), 0);
}
