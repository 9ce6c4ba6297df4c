//! The lease of a working directory by a run: the repository itself, or a worktree that is created for the run and removed
//! after it, once its content has been saved.

use std::fs;
use std::path::{Path, PathBuf};

use agentbay_domain::{CliTarget, Keep, RunId};
use agentbay_os::files::private_dir;
use tokio::task::spawn_blocking;

use super::cached::is_folder;
use super::error::WorkspaceError;
use super::git::Git;
use super::lease_file::{LeaseFile, LeaseRecord};
use super::{repository, saved};

/// The workspace that a run will use. Nothing is created yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceSpec {
    repo: PathBuf,
    repo_key: String,
    run: RunId,
    model: String,
    worktree: Option<agentbay_domain::Worktree>,
}

/// A working directory, leased by a run until it is released.
#[derive(Debug)]
#[must_use = "a lease that is not released leaves its worktree behind"]
pub struct Lease {
    workdir: PathBuf,
    /// The worktree of the run; `None` if it works in the repository itself.
    worktree: Option<Worktree>,
}

/// The result of releasing a worktree whose run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// Its content is saved and it was removed.
    Removed,
    /// Its content is saved and it stays, as configured.
    Kept,
    /// It stays because its content cannot be saved.
    Unsaved,
}

/// A worktree created for a run.
#[derive(Debug)]
pub(super) struct Worktree {
    pub(super) path: PathBuf,
    pub(super) run: RunId,
    pub(super) record: LeaseRecord,
    pub(super) file: LeaseFile,
}

impl WorkspaceSpec {
    /// The workspace for a run of the model.
    pub fn new(model: &str, target: &CliTarget, run: RunId) -> Self {
        Self {
            repo: target.repo.clone(),
            repo_key: target.repo_key.clone(),
            run,
            model: model.to_owned(),
            worktree: target.worktree.clone(),
        }
    }

    /// The directory in which the CLI will run. If the configured repository is a folder inside one, it is that folder.
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

    /// The content of the agent file, or `None` if there is no such file.
    ///
    /// # Errors
    /// The file exists and cannot be read as text.
    pub async fn agent_file(&self, git: &Git, file: &Path) -> Result<Option<String>, WorkspaceError> {
        let base = self.worktree.as_ref().map(|worktree| worktree.base.as_str());
        repository::agent_file(git, &self.repo, file, base).await
    }

    /// Prepares the directory. `lease` is set as soon as there is something to release: also after an error, or if this future
    /// is dropped.
    ///
    /// # Errors
    /// The repository is missing or has no commit, the folder of worktrees is not private, or git refuses.
    pub async fn lease(self, git: &Git, lease: &mut Option<Lease>) -> Result<(), WorkspaceError> {
        if !is_folder(&self.repo).await {
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
        git.check_refs(&self.repo, [&refs[0], &refs[1]], &base).await?;
        let record = LeaseRecord { repo: self.repo, base, model: self.model, keep, kept: false, saved: false };
        let file = LeaseFile::create(&dir, self.run, &record)?;
        let LeaseRecord { repo, base, .. } = record.clone();
        let worktree = Worktree { path: path.clone(), run: self.run, record, file };
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

    /// Whether it is a worktree created for the run.
    pub fn is_worktree(&self) -> bool {
        self.worktree.is_some()
    }

    /// Releases the directory. The content of a worktree that is not ignored is saved under `refs/agentbay/<run>`, and then
    /// the worktree is removed. If it cannot be saved, the worktree stays.
    pub async fn release(self, git: &Git) {
        if let Some(worktree) = self.worktree {
            let keep = worktree.record.keep;
            worktree.release(git, keep).await;
        }
    }

    /// Removes a worktree, complete or not, without saving its content. Returns whether that worked.
    pub async fn discard(self, git: &Git) -> bool {
        let Some(worktree) = self.worktree else { return false };
        let path = worktree.path.clone();
        let removed = worktree.remove(git).await;
        if let Err(reason) = &removed {
            tracing::warn!(worktree = %path.display(), %reason, "cannot remove a worktree: it stays until the next start or `agentbay worktree prune`");
        }
        removed.is_ok()
    }
}

impl Worktree {
    /// Saves its content, and removes it unless it is to be kept.
    pub(super) async fn release(mut self, git: &Git, keep: Keep) -> Released {
        let path = self.path.clone();
        let released = async {
            // Even if the folder was removed, git's records of the worktree may be the only reference to commits.
            let is_there = path.exists();
            if !self.record.saved && (is_there || self.record.repo.is_dir()) {
                let has_work = self.save(git).await?;
                let stays = is_there && (keep == Keep::Always || (keep == Keep::Changed && has_work));
                // If the removal is interrupted, the remaining files must not be saved as the complete content.
                self.file.replace(&LeaseRecord { kept: stays, saved: !stays, ..self.record.clone() })?;
                if stays {
                    return Ok(Released::Kept);
                }
            }
            self.remove(git).await.map(|()| Released::Removed)
        };
        match released.await {
            Ok(released) => {
                tracing::debug!(worktree = %path.display(), ?released, "worktree released");
                released
            }
            Err::<_, WorkspaceError>(reason) => {
                tracing::warn!(worktree = %path.display(), %reason, "worktree kept, nothing in it is lost");
                Released::Unsaved
            }
        }
    }

    /// Saves its content. Returns whether there was work to save.
    async fn save(&self, git: &Git) -> Result<bool, WorkspaceError> {
        let LeaseRecord { repo, base, .. } = &self.record;
        let git = &git.in_worktree(repo, &self.path).await?;
        if git.worktree.is_none() && !self.path.exists() {
            return Ok(false);
        }
        let commit = saved::commit(git, &self.path, base, self.run).await?;
        if let Some(commit) = &commit {
            git.set_ref(repo, &saved::base_reference(self.run), base).await?;
            git.set_ref(repo, &saved::reference(self.run), commit).await?;
            tracing::info!(run = %self.run, %commit, name = saved::reference(self.run), "the work of the run is saved");
        }
        Ok(commit.is_some())
    }

    async fn remove(self, git: &Git) -> Result<(), WorkspaceError> {
        let removed = git.remove_worktree(&self.record.repo, &self.path).await;
        if let Err(error @ (WorkspaceError::TimedOut { .. } | WorkspaceError::Cancelled)) = removed {
            return Err(error);
        }
        if removed.is_err() && self.path.exists() {
            // Git removes only complete worktrees.
            remove_folder(self.path.clone()).await?;
            let _unknown = git.remove_worktree(&self.record.repo, &self.path).await;
        }
        // A worktree that was never created or was removed by others leaves only the record.
        self.file.remove();
        Ok(())
    }
}

async fn remove_folder(path: PathBuf) -> Result<(), WorkspaceError> {
    let shown = path.clone();
    let removed = spawn_blocking(move || fs::remove_dir_all(path)).await.unwrap_or_else(|error| Err(error.into()));
    removed.map_err(|error| WorkspaceError::Folder { path: shown, reason: error.to_string() })
}
