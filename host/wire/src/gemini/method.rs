//! The methods of a model, which a path names behind its last colon.

/// A method of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A whole answer.
    Generate,
    /// A streamed answer.
    Stream,
    /// The number of tokens of a request.
    CountTokens,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Generate, Self::Stream, Self::CountTokens];

    /// Its name in paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generate => "generateContent",
            Self::Stream => "streamGenerateContent",
            Self::CountTokens => "countTokens",
        }
    }

    /// The model and the method of a path such as `team/m:1:countTokens`, whose model may contain colons itself.
    pub fn split(path: &str) -> Option<(&str, Self)> {
        let (model, name) = path.rsplit_once(':')?;
        let method = Self::ALL.into_iter().find(|method| method.name() == name)?;
        Some((model, method))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_follows_the_last_colon() {
        for (path, expected) in [
            ("m:generateContent", Some(("m", Method::Generate))),
            ("team/m:1.5:streamGenerateContent", Some(("team/m:1.5", Method::Stream))),
            ("m:countTokens:countTokens", Some(("m:countTokens", Method::CountTokens))),
            ("m", None),
            ("m:embedContent", None),
            ("m:countTokens:", None),
        ] {
            assert_eq!(Method::split(path), expected, "{path}");
        }
    }
}
