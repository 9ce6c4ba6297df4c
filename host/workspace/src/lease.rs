//! The loan of a working directory to a run: the repository itself, or a worktree that is made for the run and removed
//! after it, once all that the run left in it has been saved.

use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::{CliTarget, Keep, RunId};
use agentbay_os::files::private_dir;
use tokio::task::spawn_blocking;

use super::error::WorkspaceError;
use super::git::Git;
use super::lease_file::{LeaseFile, Note};
use super::{repository, saved};

/// Where a run is going to work. Nothing is touched yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    repo: PathBuf,
    repo_key: String,
    run: RunId,
    model: String,
    worktree: Option<agentbay_domain::Worktree>,
}

/// A working directory, lent to a run until it is given back.
#[derive(Debug)]
#[must_use = "a lease that is not given back leaves its worktree behind"]
pub struct Lease {
    workdir: PathBuf,
    /// The worktree that was made for the run; without one it works in the repository itself.
    worktree: Option<Worktree>,
}

/// What became of a worktree whose run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleared {
    /// It is gone, and what was in it is saved.
    Removed,
    /// What is in it is saved, and it stays because it is to be kept.
    Kept,
    /// It stays because what is in it cannot be saved.
    Unsaved,
}

/// A worktree made for a run.
#[derive(Debug)]
pub(super) struct Worktree {
    pub(super) path: PathBuf,
    pub(super) run: RunId,
    pub(super) note: Note,
    pub(super) file: LeaseFile,
}

impl Site {
    /// Where a run of the model is going to work.
    pub fn new(model: &str, target: &CliTarget, run: RunId) -> Self {
        Self {
            repo: target.repo.clone(),
            repo_key: target.repo_key.clone(),
            run,
            model: model.to_owned(),
            worktree: target.worktree.clone(),
        }
    }

    /// The directory the CLI is going to run in. Of a repository that is a folder inside another one it is that folder.
    pub fn workdir(&self) -> PathBuf {
        match &self.worktree {
            Some(worktree) => {
                self.top(worktree).components().chain(repository::below_top(&self.repo).components()).collect()
            }
            None => self.repo.clone(),
        }
    }

    fn top(&self, worktree: &agentbay_domain::Worktree) -> PathBuf {
        worktree.dir.join(self.run.to_string())
    }

    /// The content of the agent file, or nothing if there is no such file.
    ///
    /// # Errors
    /// The file is there and cannot be read as text.
    pub async fn agent_file(&self, git: &Git, file: &Path) -> Result<Option<String>, WorkspaceError> {
        let base = self.worktree.as_ref().map(|worktree| worktree.base.as_str());
        repository::agent_file(git, &self.repo, file, base).await
    }

    /// Makes the directory ready. What is there of it stands in `lease` from the first moment: also after an error, and if
    /// nobody waits for the end, it has to be given back.
    ///
    /// # Errors
    /// The repository is missing or has no commit, the folder of worktrees is not private, or git refuses.
    pub async fn lease(self, git: &Git, lease: &mut Option<Lease>) -> Result<(), WorkspaceError> {
        if !is_folder(self.repo.clone()).await {
            return Err(WorkspaceError::RepositoryMissing { repo: self.repo, key: self.repo_key });
        }
        let workdir = self.workdir();
        let Some(worktree) = &self.worktree else {
            *lease = Some(Lease { workdir, worktree: None });
            return Ok(());
        };
        let path = self.top(worktree);
        let agentbay_domain::Worktree { dir, base, keep } = worktree.clone();
        private_dir(&dir)?;
        let base = match git.commit(&self.repo, &base).await? {
            Some(commit) => commit,
            None if base == "HEAD" => return Err(WorkspaceError::NoCommit(self.repo)),
            None => return Err(WorkspaceError::NoBase { repo: self.repo, base }),
        };
        let refs = [saved::reference(self.run), saved::base_reference(self.run)];
        git.can_keep(&self.repo, [&refs[0], &refs[1]], &base).await?;
        let note = Note { repo: self.repo, base, model: self.model, keep, kept: false, saved: false };
        let file = LeaseFile::create(&dir, self.run, &note)?;
        let Note { repo, base, .. } = note.clone();
        let worktree = Worktree { path: path.clone(), run: self.run, note, file };
        *lease = Some(Lease { workdir: workdir.clone(), worktree: Some(worktree) });
        git.add_worktree(&repo, &path, &base).await?;
        if !workdir.is_dir() {
            return Err(WorkspaceError::NoFolder { repo, base });
        }
        Ok(())
    }
}

impl Lease {
    /// The directory.
    pub fn workdir(&self) -> &Path {
        &self.workdir
    }

    /// Whether it is a worktree made for the run.
    pub fn is_worktree(&self) -> bool {
        self.worktree.is_some()
    }

    /// Gives the directory back. All that the run left in a worktree and that is not ignored is saved under
    /// `refs/agentbay/<run>`, and then the worktree is removed. If it cannot be saved, the worktree stays.
    pub async fn give_back(self, git: &Git) {
        if let Some(worktree) = self.worktree {
            let keep = worktree.note.keep;
            worktree.clear(git, keep).await;
        }
    }

    /// Gives a worktree back with nothing in it to be kept, be it finished or not. Says whether that worked.
    pub async fn discard(self, git: &Git) -> bool {
        let Some(worktree) = self.worktree else { return false };
        let path = worktree.path.clone();
        let removed = worktree.remove(git).await;
        if let Err(reason) = &removed {
            tracing::warn!(worktree = %path.display(), %reason, "a worktree stays until it is cleared");
        }
        removed.is_ok()
    }
}

impl Worktree {
    /// Saves what is in it, and removes it if it is not to be kept. Says what became of it.
    pub(super) async fn clear(mut self, git: &Git, keep: Keep) -> Cleared {
        let path = self.path.clone();
        let cleared = async {
            // Where the folder is gone, there may be commits that only git's records of it lead to.
            let is_there = path.exists();
            if !self.note.saved && (is_there || self.note.repo.is_dir()) {
                let has_work = self.save(git).await?;
                let stays = is_there && (keep == Keep::Always || (keep == Keep::Changed && has_work));
                // If the removal is cut short, nobody takes the rest for all there was.
                self.file.replace(&Note { kept: stays, saved: !stays, ..self.note.clone() })?;
                if stays {
                    return Ok(Cleared::Kept);
                }
            }
            self.remove(git).await.map(|()| Cleared::Removed)
        };
        match cleared.await {
            Ok(cleared) => {
                tracing::debug!(worktree = %path.display(), ?cleared, "worktree given back");
                cleared
            }
            Err::<_, WorkspaceError>(reason) => {
                tracing::warn!(worktree = %path.display(), %reason, "worktree kept, nothing in it is lost");
                Cleared::Unsaved
            }
        }
    }

    /// Says whether there was anything to save.
    async fn save(&self, git: &Git) -> Result<bool, WorkspaceError> {
        let Note { repo, base, .. } = &self.note;
        let git = &git.in_worktree(repo, &self.path).await?;
        if git.worktree.is_none() && !self.path.exists() {
            return Ok(false);
        }
        let commit = saved::commit(git, &self.path, base, self.run).await?;
        if let Some(commit) = &commit {
            git.keep(repo, &saved::base_reference(self.run), base).await?;
            git.keep(repo, &saved::reference(self.run), commit).await?;
            tracing::info!(run = %self.run, %commit, name = saved::reference(self.run), "the work of the run is saved");
        }
        Ok(commit.is_some())
    }

    async fn remove(self, git: &Git) -> Result<(), WorkspaceError> {
        let removed = git.remove_worktree(&self.note.repo, &self.path).await;
        if let Err(error @ (WorkspaceError::Late { .. } | WorkspaceError::Unwanted)) = removed {
            return Err(error);
        }
        if removed.is_err() && self.path.exists() {
            // Git removes nothing that does not look like a worktree any more, or not yet.
            remove_folder(self.path.clone()).await?;
            let _unknown = git.remove_worktree(&self.note.repo, &self.path).await;
        }
        // Of one that was never made, or is gone by itself, nothing is left to remove.
        self.file.remove();
        Ok(())
    }
}

/// Whether there is a folder. The disk of another machine may take for ever to say so.
async fn is_folder(path: PathBuf) -> bool {
    spawn_blocking(move || path.is_dir()).await.unwrap_or(false)
}

async fn remove_folder(path: PathBuf) -> Result<(), WorkspaceError> {
    let shown = path.clone();
    let removed = spawn_blocking(move || fs::remove_dir_all(path)).await.unwrap_or_else(|error| Err(error.into()));
    removed.map_err(|error| WorkspaceError::Folder { path: shown, reason: error.to_string() })
}
