//! One line as a terminal shows it: what is printed over is gone, what is erased as well. Which escape sequence means what
//! is `terminal`'s.
//!
//! A character takes one cell, however wide a terminal shows it. There is no right margin, but a jump goes no further than
//! [`COLUMNS`] beyond the text. Nothing here takes longer than what was printed before, however it is moved about in.

/// How far a jump may go, and how much one order erases.
pub(super) const COLUMNS: usize = 512;

/// A line that is being printed.
#[derive(Debug)]
pub(super) struct Line {
    /// What the cursor has come back over at some time, a character a cell.
    cells: Vec<char>,
    /// What was printed behind that. Nothing as long as the cursor is not at the end.
    tail: String,
    /// Where the cursor is, unless that is the end of the text.
    at: Option<usize>,
    saved: usize,
    /// Bytes of cells and tail.
    bytes: usize,
    /// The most bytes there may be.
    limit: usize,
    /// It was longer than that, so that its rest is left out.
    cut: bool,
    /// The cursor goes to the beginning unless the line ends before anything else comes.
    returning: bool,
    /// Something moved the cursor or erased: what is printed may be printed over.
    drawn: bool,
    /// How many bytes of it have been handed over; of a line that is drawn, `shown` has them.
    handed: usize,
    shown: String,
}

impl Line {
    /// An empty line of no more than `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            cells: Vec::new(),
            tail: String::new(),
            at: None,
            saved: 0,
            bytes: 0,
            limit,
            cut: false,
            returning: false,
            drawn: false,
            handed: 0,
            shown: String::new(),
        }
    }

    /// Whether a part of it was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether there is nothing in it that is seen. Of a long one, that is not looked for.
    pub(super) fn is_blank(&self) -> bool {
        self.bytes <= COLUMNS && self.cells.iter().all(|cell| *cell == ' ') && self.tail.chars().all(|c| c == ' ')
    }

    /// What has been printed and not handed over. Nothing of a line that is drawn: it may be printed over.
    pub(super) fn open(&self) -> &str {
        if self.drawn || self.returning { "" } else { self.tail.get(self.handed..).unwrap_or_default() }
    }

    /// Takes what is open as handed over.
    pub(super) fn hand_over(&mut self) {
        self.handed = self.tail.len();
    }

    /// Where the cursor is.
    pub(super) fn column(&mut self) -> usize {
        self.draw()
    }

    /// How many bytes can be printed before there are `most`, if the line is one that is only printed.
    pub(super) fn room(&self, most: usize) -> Option<usize> {
        (!self.drawn && !self.returning).then(|| most.saturating_sub(self.tail.len()))
    }

    /// The line has ended: what of it has not been handed over. If what was handed over has been printed over, it stands
    /// as a line of its own.
    pub(super) fn end(mut self) -> String {
        if !self.drawn {
            self.tail.drain(..self.handed);
            return self.tail;
        }
        let mut text: String = self.cells.into_iter().collect();
        text.push_str(&self.tail);
        // Nobody sees blanks at the end of what is drawn.
        text.truncate(text.trim_end_matches(' ').len());
        match text.strip_prefix(&self.shown) {
            Some(rest) => rest.to_owned(),
            None if self.shown.trim_end_matches(' ') == text => String::new(),
            None => format!("\n{text}"),
        }
    }

    /// Prints characters at the cursor.
    pub(super) fn print(&mut self, text: &str) {
        self.return_now();
        if self.at.is_none() && !self.cut && self.bytes + text.len() <= self.limit {
            self.tail.push_str(text);
            self.bytes += text.len();
        } else {
            text.chars().for_each(|c| self.put(c));
        }
    }

    fn put(&mut self, c: char) {
        if self.cut {
            return;
        }
        if let Some(at) = self.at {
            self.pad(at);
        }
        let old = self.at.and_then(|at| self.cells.get(at)).map_or(0, |old| old.len_utf8());
        let bytes = self.bytes - old + c.len_utf8();
        if bytes > self.limit {
            self.cut = true;
            return;
        }
        self.bytes = bytes;
        let Some(at) = self.at else { return self.tail.push(c) };
        match self.cells.get_mut(at) {
            Some(cell) => *cell = c,
            None => self.cells.push(c),
        }
        self.put_cursor(at + 1);
    }

    /// Fills with blanks up to a cell.
    fn pad(&mut self, to: usize) {
        let blanks = to.saturating_sub(self.cells.len()).min(self.limit - self.bytes);
        self.cells.extend(std::iter::repeat_n(' ', blanks));
        self.bytes += blanks;
    }

    /// The cursor goes to the beginning, unless the line ends first: then it is a part of the line end.
    pub(super) fn carriage_return(&mut self) {
        self.return_now();
        self.returning = true;
    }

    fn return_now(&mut self) {
        if self.returning {
            self.draw();
        }
    }

    /// Puts every character into a cell, so that the cursor can go anywhere, and says where it is. Each is moved once.
    fn draw(&mut self) -> usize {
        if !self.drawn {
            self.shown = self.tail.get(..self.handed).unwrap_or_default().to_owned();
            self.drawn = true;
        }
        self.cells.extend(self.tail.chars());
        self.tail.clear();
        if std::mem::take(&mut self.returning) {
            self.put_cursor(0);
        }
        self.at.unwrap_or(self.cells.len())
    }

    fn put_cursor(&mut self, at: usize) {
        self.at = Some(at).filter(|at| *at != self.cells.len());
    }

    /// Puts the cursor into a column, the first one being 0.
    pub(super) fn go_to(&mut self, column: usize) {
        self.draw();
        self.put_cursor(column.min(self.cells.len() + COLUMNS));
    }

    /// Moves the cursor to the right, or to the left.
    pub(super) fn go_by(&mut self, columns: isize) {
        let at = self.draw();
        self.go_to(at.saturating_add_signed(columns));
    }

    pub(super) fn save_cursor(&mut self) {
        self.saved = self.draw();
    }

    pub(super) fn restore_cursor(&mut self) {
        self.go_to(self.saved);
    }

    /// Erases from the cursor on. At the end of the text there is nothing to erase.
    pub(super) fn erase_rest(&mut self) {
        self.return_now();
        let Some(at) = self.at else { return };
        let erased = self.cells.drain(at.min(self.cells.len())..);
        self.bytes -= erased.map(char::len_utf8).sum::<usize>();
        self.put_cursor(at);
        self.cut &= !self.cells.is_empty();
    }

    /// Erases up to the cursor and the cell below it, unless that is far into the line and not at its end.
    pub(super) fn erase_beginning(&mut self) {
        let at = self.draw();
        if at + 1 >= self.cells.len() {
            self.erase();
        } else if at < COLUMNS {
            self.erase_between(0, at + 1);
        }
    }

    /// Erases everything. The cursor stays in its column.
    pub(super) fn erase(&mut self) {
        let at = self.draw();
        self.cells.clear();
        (self.bytes, self.cut) = (0, false);
        self.put_cursor(at.min(COLUMNS));
    }

    /// Erases so many cells from the cursor on.
    pub(super) fn erase_cells(&mut self, count: usize) {
        let at = self.draw();
        self.erase_between(at, at.saturating_add(count.min(COLUMNS)));
    }

    fn erase_between(&mut self, from: usize, to: usize) {
        for cell in self.cells.iter_mut().take(to).skip(from) {
            self.bytes -= cell.len_utf8() - 1;
            *cell = ' ';
        }
    }
}
