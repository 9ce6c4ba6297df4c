//! The images, sounds and files of a task: their content is in the private folder of the run, where the prompt names it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use agentbay_domain::{Conversation, Media, MediaContent};

/// A file for the agent. Its name is made here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attachment {
    pub(super) name: String,
    pub(super) content: Arc<[u8]>,
}

/// The conversation with the paths of its media in a folder, and the files to write there. An `http` URL is left to the agent.
pub(super) fn named<'a>(conversation: &'a Conversation, folder: &Path) -> (Cow<'a, Conversation>, Vec<Attachment>) {
    let mut attachments = Vec::new();
    if !conversation.has_media() {
        return (Cow::Borrowed(conversation), attachments);
    }
    let named = conversation.with_media_named(|media| {
        let place = match &media.content {
            MediaContent::Url(url) => url.clone(),
            MediaContent::Bytes(bytes) => {
                let name = format!("attachment-{}.{}", attachments.len() + 1, media.extension());
                let path = folder.join(&name).display().to_string();
                attachments.push(Attachment { name, content: Arc::clone(bytes) });
                path
            }
        };
        shown(media, &place)
    });
    (Cow::Owned(named), attachments)
}

/// The replacement of a medium with its place, such as `[image: /runs/1/attachment-1.png]`.
fn shown(media: &Media, place: &str) -> String {
    let shown = media.shown.strip_suffix(']').unwrap_or(&media.shown);
    format!("{shown}: {place}]")
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{Block, Message, Role};

    use super::*;

    fn media(mime: &str, content: MediaContent, shown: &str) -> Block {
        Block::Media(Media { mime: mime.to_owned(), content, shown: shown.to_owned() })
    }

    #[test]
    fn each_content_has_a_file_and_a_url_is_named_as_it_is() {
        let bytes = |byte: u8| MediaContent::Bytes([byte][..].into());
        let url = MediaContent::Url("https://x.example/a.png".to_owned());
        let blocks = vec![
            Block::Text("look".to_owned()),
            media("image/png", bytes(1), "[image]"),
            media("", url, "[image]"),
            media("application/pdf", bytes(2), "[file ../../a.pdf]"),
        ];
        let conversation = Conversation::try_from(vec![Message { role: Role::User, blocks }]).unwrap();
        let (named, attachments) = named(&conversation, Path::new("/runs/1"));
        let shown: Vec<String> = named.messages()[0]
            .blocks
            .iter()
            .map(|block| match block {
                Block::Text(text) | Block::Attachment { shown: text, .. } => text.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            "look",
            "[image: /runs/1/attachment-1.png]",
            "[image: https://x.example/a.png]",
            "[file ../../a.pdf: /runs/1/attachment-2.pdf]",
        ];
        assert_eq!(shown, expected);
        let file = |name: &str, byte: u8| Attachment { name: name.to_owned(), content: [byte][..].into() };
        assert_eq!(attachments, [file("attachment-1.png", 1), file("attachment-2.pdf", 2)]);
    }

    #[test]
    fn a_conversation_without_media_is_not_copied() {
        let conversation = Conversation::try_from(vec![Message::text(Role::User, "hi")]).unwrap();
        let (named, attachments) = named(&conversation, Path::new("/runs/1"));
        assert!(matches!(named, Cow::Borrowed(_)) && attachments.is_empty());
    }
}
