//! A table in Markdown that can be read in a terminal too.

use std::fmt;

/// A table: its head, and its lines.
pub(crate) struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { lines: vec![head.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    pub(crate) fn push(&mut self, line: Vec<String>) {
        self.lines.push(line);
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    /// The first column to the left, the others, which are numbers, to the right.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                let width = self.width(column);
                match column {
                    0 => write!(f, "| {cell:<width$} |")?,
                    _ => write!(f, " {cell:>width$} |")?,
                }
            }
            writeln!(f)?;
            if number == 0 {
                for column in 0..line.len() {
                    let dashes = "-".repeat(self.width(column) + 1);
                    write!(f, "{}", if column == 0 { format!("|{dashes}-|") } else { format!("{dashes}:|") })?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_columns_are_aligned() {
        let mut table = Table::new(&["figure", "median"]);
        table.push(vec!["echo, whole".into(), "1 ms".into()]);
        table.push(vec!["µ".into(), "100.25 ms".into()]);
        let expected = "| figure      |    median |\n\
                        |-------------|----------:|\n\
                        | echo, whole |      1 ms |\n\
                        | µ           | 100.25 ms |\n";
        assert_eq!(table.to_string(), expected);
    }
}
