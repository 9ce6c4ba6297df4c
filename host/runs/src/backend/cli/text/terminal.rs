//! What a terminal would leave of a text that orders it about: escape sequences and control characters are carried out as
//! far as one line goes, and none of them is left. A line itself is `line`'s.

use agentbay_domain::Framing;
use vte::{Params, Parser, Perform};

use super::line::Line;

const ESCAPE: char = '\u{1b}';

/// Bytes of a line that is only printed, after which its beginning is not held back any more: nobody draws lines as long.
const HELD: usize = 16 * 1024;

/// A terminal that is as good as one line high.
pub(super) struct Terminal {
    /// There from the first escape in the line on. It is made for each line, so that an escape sequence which does not end
    /// can take the rest of its line away, and no more.
    parser: Option<Box<Parser>>,
    screen: Screen,
}

/// What can be seen.
struct Screen {
    framing: Framing,
    limit: usize,
    /// The lines that have been handed over since it was asked last, each with its line end.
    out: String,
    /// The line before, until something is printed in this one: the cursor may go back into it. Only of a text that is
    /// streamed: whole lines are not to wait for each other.
    above: Option<Line>,
    /// The cursor has gone back into a line: others are held back until something is printed after them.
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
    /// An empty one, whose lines have no more than `limit` bytes.
    pub(super) fn new(framing: Framing, limit: usize) -> Self {
        // What is streamed is not cut, but where it is drawn.
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

    /// What has been handed over since.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.screen.out)
    }

    /// Whether something is held back that may be handed over when nothing comes for a moment.
    pub(super) fn holds(&self) -> bool {
        let Screen { framing, above, goes_up, line, .. } = &self.screen;
        *framing == Framing::Text && (above.is_some() && !goes_up || !line.open().is_empty())
    }

    /// Nothing came for a moment: hands over what is held back, but for a line that is drawn.
    pub(super) fn flush(&mut self) {
        if self.holds() {
            self.screen.leave_above();
            self.screen.out += self.screen.line.open();
            self.screen.line.hand_over();
        }
    }

    /// Nothing comes any more: hands over everything.
    pub(super) fn finish(&mut self) {
        self.screen.leave_above();
        let line = std::mem::replace(&mut self.screen.line, Line::new(self.screen.limit));
        self.screen.end(line);
    }

    /// How many lines were longer than allowed.
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

    /// The line before cannot be gone back into any more.
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

    /// The cursor goes up, where nothing stands in the line that it leaves.
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

/// Whether a character is more than an order to a terminal. U+0085 is a line end in some alphabets' texts.
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
