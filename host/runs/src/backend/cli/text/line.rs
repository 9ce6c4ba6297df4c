//! One line as a terminal shows it, without what was overwritten or erased. `terminal` interprets the escape sequences.
//!
//! A character takes one cell, however wide a terminal shows it. There is no right margin, but a jump goes no further than
//! [`COLUMNS`] beyond the text. No operation takes longer than the text before it.

/// The length of a jump, and of one erasure.
pub(super) const COLUMNS: usize = 512;

/// A line that is being printed.
#[derive(Debug)]
pub(super) struct Line {
    /// The text that the cursor has returned over at some time, a character in each cell.
    cells: Vec<char>,
    /// The text after that. Empty while the cursor is not at the end.
    tail: String,
    /// The cursor, unless it is at the end of the text.
    at: Option<usize>,
    saved: usize,
    /// Bytes of cells and tail.
    bytes: usize,
    /// The limit of `bytes`.
    limit: usize,
    /// The line was longer, and its rest is left out.
    cut: bool,
    /// The cursor returns to the start, unless the line ends first.
    returning: bool,
    /// The cursor was moved or text erased: text may be overwritten.
    redrawn: bool,
    /// The bytes that were released. Of a redrawn line, `shown` has them.
    released: usize,
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
            redrawn: false,
            released: 0,
            shown: String::new(),
        }
    }

    /// Returns whether a part was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns whether nothing is visible in it. Long lines are not searched.
    pub(super) fn is_blank(&self) -> bool {
        self.bytes <= COLUMNS && self.cells.iter().all(|cell| *cell == ' ') && self.tail.chars().all(|c| c == ' ')
    }

    /// The text that is not released. Empty for a redrawn line, whose text may be overwritten.
    pub(super) fn open(&self) -> &str {
        if self.redrawn || self.returning { "" } else { self.tail.get(self.released..).unwrap_or_default() }
    }

    /// Marks the open text as released.
    pub(super) fn mark_released(&mut self) {
        self.released = self.tail.len();
    }

    /// The column of the cursor.
    pub(super) fn column(&mut self) -> usize {
        self.draw()
    }

    /// How many bytes can be printed before there are `most`, if the line is one that is only printed.
    pub(super) fn room(&self, most: usize) -> Option<usize> {
        (!self.redrawn && !self.returning).then(|| most.saturating_sub(self.tail.len()))
    }

    /// Ends the line and returns what was not released. If released text was overwritten, the line is written again.
    pub(super) fn end(mut self) -> String {
        if !self.redrawn {
            self.tail.drain(..self.released);
            return self.tail;
        }
        let mut text: String = self.cells.into_iter().collect();
        text.push_str(&self.tail);
        // Blanks at the end of a redrawn line are invisible.
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

    /// Returns the cursor to the start, unless the line ends first: then it is a part of the line end.
    pub(super) fn carriage_return(&mut self) {
        self.return_now();
        self.returning = true;
    }

    fn return_now(&mut self) {
        if self.returning {
            self.draw();
        }
    }

    /// Puts every character into a cell, so that the cursor can move anywhere, and returns its column. Each is moved once.
    fn draw(&mut self) -> usize {
        if !self.redrawn {
            self.shown = self.tail.get(..self.released).unwrap_or_default().to_owned();
            self.redrawn = true;
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

    /// Erases from the cursor to the end.
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

    /// Erases a number of cells from the cursor on.
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
