//! The time from the rename of a component into the plugin folder to the first answer that it gives.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Measuring;
use crate::client::Client;
use crate::clock::now;
use crate::group::Group;
use crate::row::{Kind, Round, Row};
use crate::site::{Agent, PROMPT};

/// The wait between two requests.
const INTERVAL: Duration = Duration::from_millis(2);

/// Time limit for a reload. Only a broken program reaches it.
const LIMIT: Duration = Duration::from_secs(60);

impl Measuring<'_> {
    /// A component that takes the place of the plugin `echo` and answers in capital letters, a new version each time.
    pub(super) fn reloads(&mut self) -> Result<Row> {
        let mut row = Row::new("rename of a component to its first answer", Kind::Duration, self.sites.len());
        // The folder exists before the start, so that its appearance is not measured.
        self.sites.iter().try_for_each(|site| site.plugin().map(drop))?;
        let mut servers = self.sites.iter().map(|site| site.serve(&site.cache())).collect::<Result<Vec<_>>>()?;
        let (mut share, mut version) = (self.share(Group::Reload), 0_u32);
        while share.next() {
            for program in self.shuffled(servers.len()) {
                version += 1;
                let [file, next] = self.sites[program].plugin()?;
                fs::write(&next, with_section(&self.sites[program].loud, version))?;
                let mut client = Client::connect(servers[program].address)?;
                ask_until(&mut client, PROMPT).with_context(|| self.sites[program].log())?;
                let renamed = now();
                fs::rename(next, &file)?;
                ask_until(&mut client, &PROMPT.to_uppercase()).with_context(|| self.sites[program].log())?;
                row.programs[program].push(Round::alone((now() - renamed).as_secs_f64()));
                fs::remove_file(file)?;
            }
        }
        servers.clear();
        Ok(row)
    }
}

/// Sends requests until this is the answer.
fn ask_until(client: &mut Client, expected: &str) -> Result<()> {
    let begun = now();
    while client.ask(Agent::Echo.model(), PROMPT, false)?.text() != expected {
        ensure!(now() - begun < LIMIT, "the change of a plugin shows no effect");
        sleep(INTERVAL);
    }
    Ok(())
}

/// The component with a custom section, which changes its hash and not its meaning.
fn with_section(component: &[u8], version: u32) -> Vec<u8> {
    const NAME: &[u8] = b"version";
    let content = [&[NAME.len() as u8][..], NAME, &version.to_le_bytes()].concat();
    [component, &[0, content.len() as u8], &content].concat()
}
