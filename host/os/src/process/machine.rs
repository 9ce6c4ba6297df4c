//! The machine that processes run on.

use sysinfo::System;

/// The name that the machine has in its network, if it has one.
pub fn host_name() -> Option<String> {
    System::host_name().ok()
}
