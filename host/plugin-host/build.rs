//! Lists the components in plugins/prebuilt, so that each file there is part of the program.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "Cargo passes paths to a build script in the environment")]
    let variable = |name: &str| env::var_os(name).ok_or_else(|| io::Error::other(format!("{name} is not set")));
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../plugins/prebuilt").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "wasm"));
    files.sort();
    let component = |file: &PathBuf| {
        let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        format!("({id:?}, include_bytes!({:?})), ", file.display().to_string())
    };
    let list: String = files.iter().map(component).collect();
    fs::write(Path::new(&variable("OUT_DIR")?).join("components.rs"), format!("&[{list}]"))
}
