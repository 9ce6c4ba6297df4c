//! Detaches a child from this process's session or group: signals for one group do not reach the other, and the child has no
//! terminal on which it could wait for a person.

use std::fs::File;
use std::sync::LazyLock;

use process_wrap::std::{CommandWrap, ProcessGroup, ProcessSession};

/// Whether this process has a terminal, which its children then have too unless they start their own session.
static HAS_TERMINAL: LazyLock<bool> = LazyLock::new(|| File::open("/dev/tty").is_ok());

/// Detaches the process to start. Without a terminal a group is as good as a session, and can be started without copying
/// the page tables of this process, which would take longer than everything else.
pub(super) fn detach(wrap: &mut CommandWrap) -> &mut CommandWrap {
    if *HAS_TERMINAL { wrap.wrap(ProcessSession) } else { wrap.wrap(ProcessGroup::leader()) }
}
