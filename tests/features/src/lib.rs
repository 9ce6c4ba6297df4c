//! Holds no code: its dependencies do the work. Cargo unifies the features of a dependency over the selected packages, so that
//! `cargo test -p agentbay-runs` would compile wasmtime with other features than `--workspace`. The crates that contain wasmtime
//! have this one as a dev-dependency: it names what else of the workspace sets features. Nothing refers to it, so nothing of it is linked.
