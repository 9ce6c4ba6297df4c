//! The stand-in CLI of the driver `echo`: prints its prompt word by word, as an agent would.
//!
//! With it a model answers on a machine without any vendor's CLI, through a real process.

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
    fn it_prints_its_prompt() {
        let mut printed = Vec::new();
        run("two  words\n".as_bytes(), &mut printed).unwrap();
        assert_eq!(printed, b"two  words\n");
    }
}
