//! The text that a terminal would show: escape sequences and control characters are carried out within a line, and removed.
//! `line` holds one line.

use agentbay_domain::Framing;
use vte::{Params, Parser, Perform};

use super::line::Line;

const ESCAPE: char = '\u{1b}';

/// The bytes of a printed line after which its beginning is passed on: longer lines are not redrawn.
const HELD: usize = 16 * 1024;

/// A terminal that is almost one line high.
pub(super) struct Terminal {
    /// Set from the first escape of a line. Each line has its own, so that an escape sequence without an end removes the rest
    /// of its line and no more.
    parser: Option<Box<Parser>>,
    screen: Screen,
}

/// The visible text.
struct Screen {
    framing: Framing,
    limit: usize,
    /// The lines that are complete and not yet taken, each with its line end.
    out: String,
    /// The previous line, until something is printed in this one: the cursor may return to it. Only for streamed text, since
    /// whole lines do not wait for each other.
    above: Option<Line>,
    /// The cursor has returned to a line: others are held back until something is printed after them.
    goes_up: bool,
    line: Line,
    cut_lines: u64,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("escaped", &self.parser.is_some()).field("line", &self.screen.line).finish()
    }
}

impl Terminal {
    /// An empty terminal, whose lines have at most `limit` bytes.
    pub(super) fn new(framing: Framing, limit: usize) -> Self {
        // Streamed text is cut only where it is redrawn.
        let limit = if framing == Framing::Text { limit.max(2 * HELD) } else { limit };
        let line = Line::new(limit);
        let (out, above) = (String::new(), None);
        Self { parser: None, screen: Screen { framing, limit, out, above, goes_up: false, line, cut_lines: 0 } }
    }

    /// Prints a text.
    pub(super) fn print(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let (line, ended) = piece.strip_suffix('\n').map_or((piece, false), |line| (line, true));
            self.print_in_line(line);
            if ended {
                self.parser = None;
                self.screen.line_feed();
            }
        }
    }

    fn print_in_line(&mut self, piece: &str) {
        if piece.is_empty() {
        } else if self.parser.is_none() && piece.chars().all(is_text) {
            self.screen.print_text(piece);
        } else if self.parser.is_none() && !piece.contains(ESCAPE) {
            piece.chars().for_each(|c| self.screen.take(c));
        } else {
            self.parser.get_or_insert_default().advance(&mut self.screen, piece.as_bytes());
        }
    }

    /// Takes the lines that are complete.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.screen.out)
    }

    /// Returns whether something is held back that a short silence releases.
    pub(super) fn holds(&self) -> bool {
        let Screen { framing, above, goes_up, line, .. } = &self.screen;
        *framing == Framing::Text && (above.is_some() && !goes_up || !line.open().is_empty())
    }

    /// Releases what is held back after a short silence, but for a line that is redrawn.
    pub(super) fn flush(&mut self) {
        if self.holds() {
            self.screen.leave_above();
            self.screen.out += self.screen.line.open();
            self.screen.line.mark_released();
        }
    }

    /// Releases everything at the end of the stream.
    pub(super) fn finish(&mut self) {
        self.screen.leave_above();
        let line = std::mem::replace(&mut self.screen.line, Line::new(self.screen.limit));
        self.screen.end(line);
    }

    /// The number of lines over the limit.
    pub(super) fn cut_lines(&self) -> u64 {
        self.screen.cut_lines
    }
}

impl Screen {
    fn line_feed(&mut self) {
        self.leave_above();
        let line = std::mem::replace(&mut self.line, Line::new(self.limit));
        if self.framing == Framing::Text {
            self.above = Some(line);
        } else {
            self.end(line);
            self.out.push('\n');
        }
    }

    fn end(&mut self, line: Line) {
        self.cut_lines += u64::from(line.is_cut());
        self.out += &line.end();
    }

    /// The cursor cannot return to the previous line any more.
    fn leave_above(&mut self) {
        if let Some(above) = self.above.take() {
            self.end(above);
            self.out.push('\n');
        }
    }

    fn print_text(&mut self, text: &str) {
        self.leave_above();
        let mut rest = text;
        while self.framing == Framing::Text
            && let Some(room) = self.line.room(HELD)
            && rest.len() > room
        {
            let (now, later) = rest.split_at(rest.floor_char_boundary(room));
            self.line.print(now);
            self.out += self.line.open();
            self.line = Line::new(self.limit);
            rest = later;
        }
        self.line.print(rest);
    }

    /// A character outside of any escape sequence.
    fn take(&mut self, c: char) {
        match c {
            '\r' => self.line.carriage_return(),
            '\u{8}' => self.line.go_by(-1),
            _ if is_text(c) => self.print_text(c.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    /// Moves the cursor up, if the line that it leaves is empty.
    fn up(&mut self) {
        if self.line.is_blank()
            && let Some(above) = self.above.take()
        {
            let column = self.line.column();
            self.line = above;
            self.line.go_to(column);
            self.goes_up = true;
        }
    }
}

/// Returns whether a character is text and not a control character. U+0085 is a line end in some alphabets' texts.
fn is_text(c: char) -> bool {
    !c.is_control() || matches!(c, '\t' | '\u{85}')
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        self.take(c);
    }

    fn execute(&mut self, byte: u8) {
        self.take(char::from(byte));
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if ignore || !intermediates.is_empty() {
            return;
        }
        let numbers: Vec<u16> = params.iter().map(|part| part.first().copied().unwrap_or(0)).collect();
        let number = |at: usize| usize::from(numbers.get(at).copied().unwrap_or(0));
        // No number, or 0, is one step and the first column.
        let (count, column) = (number(0).max(1), |at: usize| number(at).max(1) - 1);
        let line = &mut self.line;
        match (action, number(0)) {
            ('C' | 'a', _) => line.go_by(count.cast_signed()),
            ('D', _) => line.go_by(-count.cast_signed()),
            ('G' | '`', _) => line.go_to(column(0)),
            ('H' | 'f', _) => line.go_to(column(1)),
            ('A', _) => self.up(),
            ('F', _) => {
                self.up();
                self.line.go_to(0);
            }
            ('J' | 'K', 0) => line.erase_rest(),
            ('J' | 'K', 1) => line.erase_beginning(),
            ('J' | 'K', _) => line.erase(),
            ('X', _) => line.erase_cells(count),
            ('s', _) => line.save_cursor(),
            ('u', _) => line.restore_cursor(),
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], ignore: bool, byte: u8) {
        match byte {
            _ if ignore || !intermediates.is_empty() => {}
            b'7' => self.line.save_cursor(),
            b'8' => self.line.restore_cursor(),
            b'M' => self.up(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
