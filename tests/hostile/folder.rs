//! Files of other kinds in the plugin folder: none blocks the scan, each is refused with its kind, and good plugins are used
//! all the same.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use minisign::KeyPair;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use super::bomb::nest;
use super::component::{Contract, component};
use super::{is_measured, known, line};
use crate::support::{ECHO, Machine, Proxy, built_plugin, fixtures, wait_for};

const PLAIN_FILES_ONLY: &str = ": only plain files are accepted";

pub(super) fn pipe(file: &Path) {
    mknodat(CWD, file, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}

fn reload(proxy: &Proxy) -> Value {
    let answer = proxy.reload();
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// The names of the refused files, with the reasons.
fn refused(known: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let name = |file: &Value| text(file).rsplit('/').next().unwrap().to_owned();
    let refused = known["refused"].as_array().unwrap().iter();
    refused.map(|refusal| (name(&refusal["file"]), text(&refusal["reason"]))).collect()
}

fn is_in_use(proxy: &Proxy, id: &str) -> bool {
    known(proxy)["data"].as_array().unwrap().iter().any(|plugin| plugin["id"] == id)
}

/// The source of the plugin of this id.
fn source(proxy: &Proxy, id: &str) -> String {
    let known = known(proxy);
    let plugin = known["data"].as_array().unwrap().iter().find(|plugin| plugin["id"] == id);
    plugin.map(|plugin| plugin["source"].as_str().unwrap().to_owned()).unwrap_or_default()
}

/// A plugin that takes minutes to compile. An unknown section makes each one different.
fn endless(number: u8) -> Vec<u8> {
    [component("endless", &nest(1500, 1500), &Contract::ours()), vec![0, 2, 1, number]].concat()
}

#[test]
fn nothing_in_the_folder_blocks_the_scan_and_each_file_is_refused_with_its_kind() {
    let machine = Machine::configured(ECHO);
    let good = machine.put_plugin("stranger.wasm", built_plugin("stranger.wasm"));
    let at = |name: &str| machine.plugin(name);
    pipe(&at("pipe.wasm"));
    symlink(at("pipe.wasm"), at("link-to-pipe.wasm")).unwrap();
    symlink("/dev/zero", at("device.wasm")).unwrap();
    symlink("/proc/self/environ", at("environment.wasm")).unwrap();
    symlink("/proc/kmsg", at("kernel.wasm")).unwrap();
    symlink(at("loop.wasm"), at("loop.wasm")).unwrap();
    symlink(at("nothing"), at("dangling.wasm")).unwrap();
    fs::create_dir(at("folder.wasm")).unwrap();
    let _listener = UnixListener::bind(at("socket.wasm")).unwrap();
    File::create(at("sparse.wasm")).unwrap().set_len(2 << 30).unwrap();
    fs::write(at("empty.wasm"), "").unwrap();
    fs::write(machine.path("secret"), "password").unwrap();
    symlink(machine.path("secret"), at("secret.wasm")).unwrap();
    // Signatures are not required here.
    pipe(&good.with_extension("wasm.minisig"));

    let proxy = machine.serve();
    let empty = "is not a valid WebAssembly component: it is empty";
    let expected = [
        ("dangling.wasm", "cannot be read: No such file or directory (os error 2)".to_owned()),
        ("device.wasm", format!("is a device{PLAIN_FILES_ONLY}")),
        ("empty.wasm", empty.to_owned()),
        ("environment.wasm", empty.to_owned()),
        ("folder.wasm", format!("is a folder{PLAIN_FILES_ONLY}")),
        ("kernel.wasm", empty.to_owned()),
        ("link-to-pipe.wasm", format!("is a named pipe{PLAIN_FILES_ONLY}")),
        ("loop.wasm", "cannot be read: Too many levels of symbolic links (os error 40)".to_owned()),
        ("pipe.wasm", format!("is a named pipe{PLAIN_FILES_ONLY}")),
        ("secret.wasm", "is not a valid WebAssembly component: it does not start like WebAssembly".to_owned()),
        ("socket.wasm", format!("is a socket{PLAIN_FILES_ONLY}")),
        (
            "sparse.wasm",
            "is larger than 33554432 bytes: raise `limits.plugin_file` in proxy.toml if that is intended".to_owned(),
        ),
    ];
    let expected = expected.map(|(file, reason)| (file.to_owned(), reason));
    assert_eq!((refused(&known(&proxy)), is_in_use(&proxy, "stranger")), (expected.to_vec(), true));
    if is_measured() {
        for (file, reason) in &expected {
            line(file, "is in the plugin folder and would block", reason, "", "", "", "held");
        }
    }
    assert_eq!(refused(&reload(&proxy)), expected);
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    assert!(proxy.stop().success());
}

#[test]
fn an_unreadable_signature_is_refused_where_it_is_required_and_blocks_nothing() {
    let keys = KeyPair::generate_unencrypted_keypair().unwrap();
    let machine = Machine::configured(&format!("[plugins]\nsigned_by = [\"{}\"]\n{ECHO}", keys.pk.to_base64()));
    let beside = machine.put_plugin("stranger.wasm", built_plugin("stranger.wasm")).with_extension("wasm.minisig");
    pipe(&beside);
    let proxy = machine.serve();
    let because = |reason: &str| {
        vec![("stranger.wasm".to_owned(), format!("has a signature file, NAME.wasm.minisig, that {reason}"))]
    };
    assert_eq!(refused(&known(&proxy)), because("is a named pipe: only plain files are accepted"));
    fs::remove_file(&beside).unwrap();
    fs::write(&beside, "x".repeat(9 * 1024)).unwrap();
    assert_eq!(refused(&reload(&proxy)), because("is larger than 8192 bytes"));
    fs::remove_file(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    assert_eq!(refused(&reload(&proxy)), because("is a folder: only plain files are accepted"));
}

#[test]
fn t2_25_a_file_that_is_not_a_component_is_refused_with_its_kind_and_the_built_in_plugin_stays_in_use() {
    let machine = Machine::configured(ECHO);
    let whole = built_plugin("loud-echo.wasm");
    machine.put_plugin("echo.wasm", b"\0asm\x01\0\0\0");
    machine.put_plugin("._echo.wasm", "AppleDouble junk");
    machine.put_plugin("half.wasm", &whole[..whole.len() / 2]);
    machine.put_plugin("note.txt", "text");
    let proxy = machine.serve();
    let [(echo, module), (half, cut)] = &refused(&known(&proxy))[..] else { panic!("{}", known(&proxy)) };
    assert_eq!([echo.as_str(), half], ["echo.wasm", "half.wasm"]);
    assert!(module.starts_with("is not a valid WebAssembly component: it is a core module"), "{module}");
    assert!(cut.starts_with("is not a valid WebAssembly component: "), "{cut}");
    assert_eq!((source(&proxy, "echo").as_str(), proxy.ask("echo", "hi").as_str()), ("embedded", "hi"));
}

#[test]
fn a_good_version_stays_in_use_when_its_folder_or_file_becomes_unreadable() {
    let machine = Machine::configured(ECHO);
    let file = machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    let folder = file.parent().unwrap();
    let (proxy, is_unprivileged) = machine.serve_unprivileged();
    assert_eq!(proxy.ask("echo", "hi"), "HI");
    if !is_unprivileged {
        return;
    }
    for (closed, mode, named) in [(folder, 0o644, "echo.wasm"), (folder, 0o000, "plugins"), (&file, 0o000, "echo.wasm")]
    {
        let open = fs::metadata(closed).unwrap().permissions();
        fs::set_permissions(closed, Permissions::from_mode(mode)).unwrap();
        let refused = refused(&reload(&proxy));
        fs::set_permissions(closed, open).unwrap();
        assert_eq!(refused, [(named.to_owned(), "cannot be read: Permission denied (os error 13)".to_owned())]);
        assert_eq!(proxy.ask("echo", "hi"), "HI");
        assert_eq!(reload(&proxy)["refused"], json!([]));
    }
}

#[test]
fn of_two_files_with_one_id_the_one_named_after_it_is_used_at_start_and_reload() {
    let machine = Machine::configured(ECHO);
    let right = machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    let proxy = machine.serve();
    let other = machine.put_plugin("zz.wasm", built_plugin("loud-echo.wasm"));
    let reason = format!(
        "has the id echo, and so has {}, which is used since it is named after the id: remove this file",
        right.display()
    );
    let expected = [("zz.wasm".to_owned(), reason)];
    assert_eq!(refused(&reload(&proxy)), expected);
    assert_eq!(proxy.ask("echo", "hi"), "HI");
    let started = machine.serve();
    assert_eq!((refused(&known(&started)), started.ask("echo", "hi")), (expected.to_vec(), "HI".to_owned()));

    // Neither is named after it.
    fs::rename(right, other.with_file_name("aa.wasm")).unwrap();
    let files = |refused: Vec<(String, String)>| refused.into_iter().map(|(file, _)| file).collect::<Vec<_>>();
    for (proxy, found) in [(&proxy, reload(&proxy)), (&started, reload(&started))] {
        assert_eq!(files(refused(&found)), ["aa.wasm", "zz.wasm"]);
        assert_eq!(proxy.ask("echo", "hi"), "hi");
    }
    let again = machine.serve();
    assert_eq!(
        (files(refused(&known(&again))), again.ask("echo", "hi")),
        (files(refused(&known(&proxy))), "hi".to_owned())
    );
}

#[test]
fn control_characters_in_file_names_are_escaped() {
    let machine = Machine::configured(ECHO);
    let file = machine.put_plugin("a\u{1b}[2J\n\u{202e}b.wasm", "junk");
    let shown = file.display().to_string().replace("\u{1b}[2J\n\u{202e}", "\\u{1b}[2J\\n\\u{202e}");
    let expected = format!("{shown}  is not a valid WebAssembly component: it does not start like WebAssembly");
    let run = machine.run(&["plugin", "list"]);
    assert_eq!(run.stdout.lines().last(), Some(expected.as_str()), "{run:?}");
    let proxy = machine.serve();
    assert_eq!(known(&proxy)["refused"][0]["file"], shown);
    let line = proxy.logged(&["plugin refused"]);
    assert!(!line.contains('\u{202e}') && line.contains("u{202e}b.wasm"), "{line}");
}

#[test]
fn files_that_wait_to_be_compiled_are_not_kept_in_memory() {
    const COUNT: u32 = 40;
    let machine = Machine::configured(&format!("{ECHO}[plugins.endless.limits]\ncompile_timeout = \"1h\"\n"));
    let proxy = machine.serve();
    // They occupy the compile slots for the whole test.
    for number in 0..2_u8 {
        machine.put_plugin(&format!("endless-{number}.wasm"), endless(number));
    }
    wait_for("them to be compiled", || known(&proxy)["loading"].as_array().unwrap().len() == 2);
    let before = proxy.resident();
    for number in 0..COUNT {
        // An empty component with an unknown section of 30 MiB.
        let head = [&b"\0asm\x0d\0\x01\0\0"[..], &[0x85, 0x80, 0x80, 0x0f, 4], &number.to_be_bytes()].concat();
        let file = machine.put_plugin(&format!(".{number}"), &head);
        File::options().write(true).open(&file).unwrap().set_len(8 + 5 + (15 << 21) + 5).unwrap();
        fs::rename(&file, machine.plugin(&format!("large-{number}.wasm"))).unwrap();
    }
    assert_eq!(reload(&proxy)["loading"].as_array().unwrap().len(), 2 + COUNT as usize);
    let grown = proxy.most_resident().saturating_sub(before) / 1024;
    assert!(grown < 400, "by {grown} MiB");
}

#[test]
fn a_good_plugin_does_not_wait_for_those_that_compile_slowly() {
    let limits = "[limits]\nplugin_compile_timeout = \"1h\"\nplugin_compile_memory = \"8 GiB\"\n";
    let machine = Machine::configured(&format!("[plugins]\nload_timeout = 0\n{ECHO}{limits}"));
    machine.put_plugin("echo.wasm", built_plugin("loud-echo.wasm"));
    let proxy = machine.serve();
    wait_for("the first version", || proxy.ask("echo", "hi") == "HI");
    for number in 0..8_u8 {
        machine.put_plugin(&format!("endless-{number}.wasm"), endless(number));
    }
    wait_for("them to be compiled", || known(&proxy)["loading"].as_array().unwrap().len() == 8);
    let quiet = fs::read(fixtures().parent().unwrap().join("plugins/prebuilt/echo.wasm")).unwrap();
    machine.put_plugin("echo.wasm", [quiet, vec![0, 2, 1, b'x']].concat());
    wait_for("the next version", || proxy.ask("echo", "hi") == "hi");
    assert_eq!(known(&proxy)["loading"].as_array().unwrap().len(), 8);
}

#[test]
fn files_that_change_their_kind_during_a_scan_block_nothing() {
    const ROUNDS: usize = 300;
    let machine = Machine::configured(ECHO);
    let file = machine.put_plugin("puppet.wasm", built_plugin("stranger.wasm"));
    let proxy = machine.serve();
    let [plain, other] = ["plain", "other"].map(|name| file.with_file_name(name));
    thread::scope(|scope| {
        let changing = scope.spawn(|| {
            for _ in 0..ROUNDS {
                pipe(&other);
                fs::rename(&other, &file).unwrap();
                symlink("/dev/zero", &other).unwrap();
                fs::rename(&other, &file).unwrap();
                fs::write(&plain, built_plugin("stranger.wasm")).unwrap();
                fs::rename(&plain, &file).unwrap();
            }
        });
        while !changing.is_finished() {
            reload(&proxy);
        }
    });
    wait_for("the plugin", || reload(&proxy)["refused"] == json!([]) && is_in_use(&proxy, "stranger"));
    assert!(proxy.stop().success());
}
