//! The entries of the file system that a watched path depends on: every folder and every symbolic link on it. If one of them is
//! replaced, the path leads elsewhere.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{Watched, is_of_a_plugin};

/// A path with more links is a loop, as for the operating system.
const MOST_LINKS: usize = 40;

/// The most links of a plugin folder that are followed. Changes behind others are found by the next reload.
const MOST_LINKED: usize = 1000;

/// The entries that the watched paths depend on now.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dependencies {
    /// Each entry, by the real path of its folder and its name.
    entries: BTreeSet<PathBuf>,
    /// The real paths of the plugin folders.
    folders: BTreeSet<PathBuf>,
}

impl Dependencies {
    /// Follows all links. Opens no file.
    pub(super) fn of(watched: &Watched) -> Self {
        let mut found = Self::default();
        for folder in &watched.folders {
            let entries = entries(folder);
            found.folders.extend(entries.last().cloned());
            found.entries.extend(entries);
            found.entries.extend(linked(folder).take(MOST_LINKED).flat_map(|link| self::entries(&link)));
        }
        found.entries.extend(watched.files.iter().flat_map(|file| entries(file)));
        found
    }

    /// The folders in which something can change, from the top down, without the root.
    pub(super) fn to_watch(&self) -> BTreeSet<PathBuf> {
        let parents = self.entries.iter().filter_map(|entry| entry.parent());
        let folders = parents.chain(self.folders.iter().map(PathBuf::as_path));
        folders.filter(|folder| folder.parent().is_some()).map(Path::to_owned).collect()
    }

    /// Returns whether a change of this path can change a watched file.
    pub(super) fn include(&self, path: &Path) -> bool {
        let is_plugin = || path.parent().is_some_and(|folder| self.folders.contains(folder)) && is_of_a_plugin(path);
        self.entries.contains(path) || is_plugin()
    }
}

/// The links to components in a plugin folder.
fn linked(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.map(|entry| entry.path()).filter(|path| is_of_a_plugin(path))
}

/// The entries on a path, from the top down and link by link. The last one is its target, whether that exists or not.
fn entries(path: &Path) -> Vec<PathBuf> {
    let (mut entries, mut links) = (Vec::new(), 0);
    let mut at = PathBuf::from("/");
    let mut rest: VecDeque<OsString> = parts(path).collect();
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        let entry = at.join(part);
        entries.push(entry.clone());
        match fs::read_link(&entry) {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    rest.push_front(part);
                }
            }
            Ok(_) | Err(_) => at = entry,
        }
    }
    entries
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn dependencies(folder: &str, file: &str) -> Dependencies {
        Dependencies::of(&Watched { folders: vec![folder.into()], files: vec![file.into()] })
    }

    #[test]
    fn every_folder_on_a_path_is_watched_from_the_top_down() {
        let folders: Vec<_> = dependencies("/no-a/plugins", "/no-b/proxy.toml").to_watch().into_iter().collect();
        assert_eq!(folders, ["/no-a", "/no-a/plugins", "/no-b"].map(PathBuf::from));
    }

    #[test]
    fn neighbours_are_ignored() {
        let dependencies = dependencies("/no-a/p", "/no-b/proxy.toml");
        let included = ["/no-a", "/no-a/p", "/no-a/p/x.wasm", "/no-a/p/x.wasm.minisig", "/no-b", "/no-b/proxy.toml"];
        let others = ["/no-a/x", "/no-a/p/log", "/no-a/p-2/x.wasm", "/no-b/x.toml", "/no-c"];
        assert!(included.iter().all(|path| dependencies.include(Path::new(path))));
        assert!(!others.iter().any(|path| dependencies.include(Path::new(path))));
    }

    #[test]
    fn every_link_on_a_path_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        fs::create_dir_all(dir.join("cfg/..one")).unwrap();
        fs::create_dir_all(dir.join("deep/store")).unwrap();
        fs::write(dir.join("cfg/..one/proxy.toml"), "").unwrap();
        fs::write(dir.join("deep/store/x.wasm"), "").unwrap();
        symlink("..one", dir.join("cfg/..data")).unwrap();
        symlink("..data/proxy.toml", dir.join("cfg/proxy.toml")).unwrap();
        fs::create_dir(dir.join("plugins")).unwrap();
        symlink("../deep/../deep/store/x.wasm", dir.join("plugins/x.wasm")).unwrap();
        symlink(dir.join("plugins"), dir.join("linked")).unwrap();
        let watched = Watched { folders: vec![dir.join("linked")], files: vec![dir.join("cfg/proxy.toml")] };
        let dependencies = Dependencies::of(&watched);
        let included = [
            "cfg/proxy.toml",
            "cfg/..data",
            "cfg/..one",
            "cfg/..one/proxy.toml",
            "linked",
            "plugins",
            "plugins/new.wasm",
            "deep",
            "deep/store",
            "deep/store/x.wasm",
        ];
        for path in included {
            assert!(dependencies.include(&dir.join(path)), "{path}");
        }
        for path in ["cfg/other", "cfg/..one/other", "deep/store/y.wasm", "deep/other", "other"] {
            assert!(!dependencies.include(&dir.join(path)), "{path}");
        }
        let folders = dependencies.to_watch();
        for folder in ["cfg", "cfg/..one", "plugins", "deep", "deep/store"] {
            assert!(folders.contains(&dir.join(folder)), "{folder}");
        }
        assert!(!folders.contains(&dir.join("linked")), "one folder is not watched under two names");
    }

    #[test]
    fn links_in_a_circle_end() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        for (from, to) in [("a", "b"), ("b", "a"), ("c", "c/c/c")] {
            symlink(to, dir.join(from)).unwrap();
        }
        for name in ["a", "c"] {
            assert!(entries(&dir.join(name)).len() < 1000, "{name}");
        }
    }
}
