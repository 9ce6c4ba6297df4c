//! Code blocks, headings and links of a document, in the subset of Markdown that the documents use.

use std::fs;
use std::path::{Path, PathBuf};

/// The web address of the repository's files, which the published book does not contain.
pub(super) const REPOSITORY: &str = "https://github.com/agentbay/agentbay/blob/main/";

/// A document of the checkout.
pub(super) struct Document {
    /// Its path in the checkout.
    pub(super) path: String,
    pub(super) text: String,
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The document and the line of its fence, for failures.
    pub(super) place: String,
    pub(super) language: String,
    /// The rest of the info string after the language, such as `norun: needs systemd`.
    pub(super) note: String,
    pub(super) text: String,
    /// Whether its fence directly follows the end of the block before.
    pub(super) follows: bool,
}

impl Block {
    /// The reason why it is not run, if its info string states one.
    pub(super) fn norun(&self) -> Option<&str> {
        self.note.strip_prefix("norun:").map(str::trim)
    }
}

/// The folder of the checkout.
pub(super) fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// README and the pages of the book, in the order of their names.
pub(super) fn pages() -> Vec<Document> {
    let folder = fs::read_dir(checkout().join("docs/src")).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut paths: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/src/{name}")).collect();
    paths.sort();
    paths.insert(0, "README.md".to_owned());
    paths.into_iter().map(Document::read).collect()
}

impl Document {
    /// Reads one.
    pub(super) fn read(path: impl Into<String>) -> Self {
        let path = path.into();
        let text = fs::read_to_string(checkout().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { path, text }
    }

    /// Its code blocks.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<Block> = None;
        let mut ended = None;
        for (number, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(_), Some(block)) => {
                    blocks.push(block);
                    ended = Some(number);
                }
                (None, Some(mut block)) => {
                    block.text += line;
                    block.text.push('\n');
                    open = Some(block);
                }
                (Some(info), None) => {
                    let (language, note) = info.split_once(',').unwrap_or((info, ""));
                    open = Some(Block {
                        place: format!("{}:{}", self.path, number + 1),
                        language: language.trim().to_owned(),
                        note: note.trim().to_owned(),
                        text: String::new(),
                        follows: number > 0 && ended == Some(number - 1),
                    });
                }
                (None, None) => {}
            }
        }
        assert_eq!(open, None, "a block is not closed");
        blocks
    }

    /// Its text without the code blocks.
    pub(super) fn prose(&self) -> String {
        let mut in_block = false;
        let is_prose = |line: &&str| {
            let fence = line.starts_with("```");
            in_block ^= fence;
            !in_block && !fence
        };
        self.text.lines().filter(is_prose).map(|line| format!("{line}\n")).collect()
    }

    /// The anchors of its headings.
    pub(super) fn anchors(&self) -> Vec<String> {
        let prose = self.prose();
        let headings = prose.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }

    /// The targets of its links.
    pub(super) fn links(&self) -> Vec<String> {
        let prose = self.prose();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(str::to_owned).collect()
    }
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn blocks_headings_and_links_are_found() {
    let text = "# A `B` c\n[x](y.md#z)\n```sh,norun: why\na\n```\n```json\n# {}\n[no](no)\n```\n\n```toml\n```\n";
    let document = Document { path: "d".to_owned(), text: text.to_owned() };
    let block = |line: usize, language: &str, note: &str, text: &str, follows| Block {
        place: format!("d:{line}"),
        language: language.to_owned(),
        note: note.to_owned(),
        text: text.to_owned(),
        follows,
    };
    let expected = [
        block(3, "sh", "norun: why", "a\n", false),
        block(6, "json", "", "# {}\n[no](no)\n", true),
        block(11, "toml", "", "", false),
    ];
    let blocks = document.blocks();
    assert_eq!(blocks, expected);
    assert_eq!((blocks[0].norun(), blocks[1].norun()), (Some("why"), None));
    assert_eq!((document.anchors(), document.links()), (vec!["a-b-c".to_owned()], vec!["y.md#z".to_owned()]));
}
