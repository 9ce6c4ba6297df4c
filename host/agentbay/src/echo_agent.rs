//! The stand-in CLI behind the driver `echo`: it says what it was asked, word by word, as an agent would.
//!
//! It makes a model answer on a machine without any vendor's CLI, through a real process.

use std::io::{self, Read, Write};

/// Copies standard input to standard output.
///
/// # Errors
/// Either cannot be used.
pub fn run(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut prompt = String::new();
    input.read_to_string(&mut prompt)?;
    for word in prompt.split_inclusive(' ') {
        output.write_all(word.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_it_was_asked() {
        let mut said = Vec::new();
        run("two  words\n".as_bytes(), &mut said).unwrap();
        assert_eq!(said, b"two  words\n");
    }
}
