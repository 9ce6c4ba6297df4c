//! A table of text with aligned columns. On a terminal that is too narrow for it, the last column is wrapped, or each row
//! becomes a block of lines. Nothing is cut off. What is in a table is decided by the commands.

use agentbay_domain::terminal_safe;
use unicode_width::UnicodeWidthStr;

/// The space between two columns.
const GAP: usize = 2;

/// A longer cell does not widen its column: it moves the rest of its own row.
const WIDEST: usize = 48;

/// The least space in which text is wrapped.
const NARROWEST: usize = 24;

/// Rows below a head.
#[derive(Debug)]
pub(super) struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<Row<N>>,
}

#[derive(Debug)]
struct Row<const N: usize> {
    cells: [String; N],
    remarks: Vec<String>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub(super) fn new(head: [&'static str; N]) -> Self {
        Self { head, rows: Vec::new() }
    }

    /// Adds a row, and remarks that are shown below it. An empty cell is shown as a dash.
    pub(super) fn row(&mut self, cells: [String; N], remarks: impl IntoIterator<Item = String>) {
        let shown = |text: String| if text.is_empty() { "-".to_owned() } else { terminal_safe(&text).into_owned() };
        let remarks = remarks.into_iter().map(|remark| terminal_safe(&remark).into_owned()).collect();
        self.rows.push(Row { cells: cells.map(shown), remarks });
    }

    /// Returns whether there are no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines of the table, for a terminal of this width; without one, no line is wrapped.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let columns = self.columns();
        let before = columns.iter().take(N.saturating_sub(1)).map(|column| column + GAP).sum::<usize>();
        let space = width.map(|width| width.saturating_sub(before));
        let last = self.rows.iter().filter_map(|row| row.cells.last()).map(|cell| cell.width()).max();
        match (width, space) {
            (Some(width), Some(space)) if space < NARROWEST && last.is_some_and(|last| last > space) => {
                self.blocks(width)
            }
            _ => self.aligned(&columns, before, space, width),
        }
    }

    fn columns(&self) -> [usize; N] {
        std::array::from_fn(|at| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(at)).map(|cell| cell.width());
            let fitting = cells.filter(|width| *width <= WIDEST);
            fitting.chain(self.head.get(at).map(|head| head.width())).max().unwrap_or_default()
        })
    }

    fn aligned(&self, columns: &[usize], before: usize, space: Option<usize>, width: Option<usize>) -> Vec<String> {
        let head = self.head.map(str::to_owned);
        let mut lines = vec![joined(&head, columns)];
        for Row { cells, remarks } in &self.rows {
            let mut cells = cells.clone();
            let mut rest = Vec::new();
            if let Some(last) = cells.last_mut() {
                let mut wrapped = wrap(last, space).into_iter();
                *last = wrapped.next().unwrap_or_default();
                rest = wrapped.collect();
            }
            lines.push(joined(&cells, columns));
            lines.extend(rest.into_iter().map(|line| format!("{:before$}{line}", "")));
            lines.extend(indented(remarks, width));
        }
        lines
    }

    /// Each row as a block: a line for each cell behind its head.
    fn blocks(&self, width: usize) -> Vec<String> {
        let widest = self.head.iter().map(|head| head.width()).max().unwrap_or_default() + GAP;
        let mut lines = Vec::new();
        for (at, Row { cells, remarks }) in self.rows.iter().enumerate() {
            if at > 0 {
                lines.push(String::new());
            }
            for (head, cell) in self.head.iter().zip(cells) {
                let mut wrapped = wrap(cell, Some(width.saturating_sub(widest))).into_iter();
                lines.push(format!("{head:widest$}{}", wrapped.next().unwrap_or_default()));
                lines.extend(wrapped.map(|line| format!("{:widest$}{line}", "")));
            }
            lines.extend(indented(remarks, Some(width)));
        }
        lines
    }
}

/// Remarks below a row.
fn indented(remarks: &[String], width: Option<usize>) -> Vec<String> {
    let space = width.map(|width| width.saturating_sub(2 * GAP));
    let lines = remarks.iter().flat_map(|remark| {
        wrap(remark, space).into_iter().enumerate().map(|(at, line)| {
            let indent = if at == 0 { GAP } else { 2 * GAP };
            format!("{:indent$}{line}", "")
        })
    });
    lines.collect()
}

/// Cells in their columns; nothing follows the last one.
fn joined(cells: &[String], columns: &[usize]) -> String {
    let mut line = String::new();
    for (at, (cell, column)) in cells.iter().zip(columns).enumerate() {
        line += cell;
        if at + 1 < cells.len() {
            line += &" ".repeat(column.saturating_sub(cell.width()) + GAP);
        }
    }
    line
}

/// The lines of a text in this space. A word that is longer, such as a path, stays whole.
fn wrap(text: &str, space: Option<usize>) -> Vec<String> {
    let Some(space) = space.filter(|space| *space >= NARROWEST && text.width() > *space) else {
        return vec![text.to_owned()];
    };
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > space {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 3]]) -> Table<3> {
        let mut table = Table::new(["NAME", "STATE", "TEXT"]);
        for row in rows {
            table.row(row.map(str::to_owned), []);
        }
        table
    }

    #[test]
    fn columns_are_as_wide_as_what_a_terminal_shows_of_their_cells() {
        let table = table(&[["日本語", "ok", "a"], ["e\u{301}", "", "b"], ["x\u{1b}[2J", "failed", "c"]]);
        let lines = [
            "NAME        STATE   TEXT",
            "日本語      ok      a",
            "e\u{301}           -       b",
            "x\\u{1b}[2J  failed  c",
        ];
        assert_eq!(table.lines(None), lines);
        assert_eq!(table.lines(Some(80)), lines);
    }

    #[test]
    fn a_very_long_cell_moves_its_own_row_alone() {
        let long = "x".repeat(WIDEST + 1);
        let table = table(&[[&long, "ok", "a"], ["m", "ok", "b"]]);
        assert_eq!(table.lines(None), ["NAME  STATE  TEXT", &format!("{long}  ok     a"), "m     ok     b"]);
    }

    #[test]
    fn the_last_column_is_wrapped_at_words_on_a_terminal_and_nowhere_else() {
        let text = "one two three four five six seven /a/path/that/is/longer/than/the/column";
        let table = table(&[["m", "ok", text]]);
        let wrapped = [
            "NAME  STATE  TEXT",
            "m     ok     one two three four five",
            "             six seven",
            "             /a/path/that/is/longer/than/the/column",
        ];
        assert_eq!(table.lines(Some(38)), wrapped);
        assert_eq!(table.lines(None), ["NAME  STATE  TEXT", &format!("m     ok     {text}")]);
    }

    #[test]
    fn on_a_terminal_that_is_too_narrow_each_row_is_a_block() {
        let mut table = Table::new(["NAME", "TEXT"]);
        table.row(["a name that takes its space".to_owned(), "a text of more than".to_owned()], ["note: x".to_owned()]);
        table.row(["n".to_owned(), "t".to_owned()], []);
        let blocks = [
            "NAME  a name that takes its",
            "      space",
            "TEXT  a text of more than",
            "  note: x",
            "",
            "NAME  n",
            "TEXT  t",
        ];
        assert_eq!(table.lines(Some(30)), blocks);
    }

    #[test]
    fn remarks_are_indented_below_their_row() {
        let mut table = Table::new(["NAME", "TEXT"]);
        table.row(["m".to_owned(), "t".to_owned()], ["fault: models.m.program: CLI not found: codex".to_owned()]);
        assert_eq!(table.lines(None), ["NAME  TEXT", "m     t", "  fault: models.m.program: CLI not found: codex"]);
        let wrapped = ["NAME  TEXT", "m     t", "  fault: models.m.program: CLI", "    not found: codex"];
        assert_eq!(table.lines(Some(32)), wrapped);
    }
}
