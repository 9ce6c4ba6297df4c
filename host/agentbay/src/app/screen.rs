//! Output of the program while it works, for the person who started it. Its form is decided in `cli`.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;

use agentbay_runs::doctor::Examined;

/// Shows what the program is doing. The defaults show nothing.
pub trait Screen: Debug + Send + Sync {
    /// The work that is in progress; `None` when it has ended.
    fn progress(&self, _work: Option<&str>) {}

    /// The server accepts connections.
    ///
    /// # Errors
    /// Standard output is closed.
    fn listening(&self, _address: SocketAddr) -> io::Result<()> {
        Ok(())
    }

    /// Returns whether [`Screen::models`] shows anything.
    fn shows_models(&self) -> bool {
        false
    }

    /// The models that a server starts with.
    fn models(&self, _models: &[Examined]) {}
}

/// Shows nothing.
impl Screen for () {}

/// Shows work as in progress while a future runs.
pub async fn during<T>(screen: &dyn Screen, work: &str, future: impl Future<Output = T>) -> T {
    screen.progress(Some(work));
    let result = future.await;
    screen.progress(None);
    result
}
