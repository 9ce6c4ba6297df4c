//! Facts about the machine that processes run on.

use sysinfo::System;

/// The host name of the machine, if it has one.
pub fn host_name() -> Option<String> {
    System::host_name().ok()
}
