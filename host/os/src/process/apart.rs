//! How a process is set apart from this one: signals that are meant for one group do not reach the other, and it has no
//! terminal on which it could wait for a person.

use std::fs::File;
use std::sync::LazyLock;

use process_wrap::tokio::{CommandWrap, ProcessGroup, ProcessSession};

/// Whether this process has a terminal, which its children then have too unless they begin a session of their own.
static HAS_TERMINAL: LazyLock<bool> = LazyLock::new(|| File::open("/dev/tty").is_ok());

/// Sets the process apart that is to be started. Where there is no terminal, a group is as good as a session, and can be
/// started without a copy of this process's tables of memory: that copy would take longer than all the rest.
pub(super) fn set_apart(wrap: &mut CommandWrap) -> &mut CommandWrap {
    if *HAS_TERMINAL { wrap.wrap(ProcessSession) } else { wrap.wrap(ProcessGroup::leader()) }
}
