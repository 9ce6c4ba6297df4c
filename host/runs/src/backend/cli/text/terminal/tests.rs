//! What is left of texts that order a terminal about, beside what a plain model of a terminal of one line shows.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Everything that comes out of these pieces.
fn shown<'a>(framing: Framing, limit: usize, pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut terminal = Terminal::new(framing, limit);
    let mut out = String::new();
    for piece in pieces {
        terminal.print(piece);
        out += &terminal.take();
    }
    terminal.finish();
    out + &terminal.take()
}

fn text(text: &str) -> String {
    shown(Framing::Text, usize::MAX, [text])
}

#[test]
fn spinners_and_bars_leave_what_a_terminal_would() {
    for (printed, expected) in [
        ("\r⠋ Thinking...\r⠙ Thinking...\r\x1b[KThe answer is 42.\n", "The answer is 42.\n"),
        ("\x1b[1G⠙ \x1b[K\x1b[1G⠹ \x1b[K\x1b[1G\x1b[K42\n", "42\n"),
        ("\x1b[?25l⠋ a\x1b[2K\x1b[1G⠙ a\x1b[2K\x1b[0G\x1b[?25h42\n", "42\n"),
        ("\x1b[s⠋ a\x1b[u⠙ a\x1b[u\x1b[K42\n", "42\n"),
        ("\x1b7⠋ a\x1b8⠙ a\x1b8\x1b[J42\n", "42\n"),
        ("⠋ a\x1b[3D⠙ a\x1b[1K\r42\n", "42\n"),
        ("⠋ a\r\x1b[3X42\n", "42\n"),
        (" 10%\r 50%\r100%\r    \r\n42\n", "\n42\n"),
        ("|\x08/\x08-\x08 \x0842\n", "42\n"),
        ("b\x08bo\x08old\n", "bold\n"),
        ("⠋ a\n\x1b[1A\x1b[2K⠙ a\n\x1b[1A\x1b[2K42\n", "42\n"),
        ("⠋ a\n\x1b[2K\x1b[1A\x1b[2K\x1b[G⠙ a\n\x1b[2K\x1b[1A\x1b[2K\x1b[G42\n", "42\n"),
        ("⠋ a\r\n\x1b[F\x1b[K42", "42"),
        ("⠋ a\n\x1bM\x1b[K42", "42"),
        ("100%\rok\n", "ok0%\n"),
        ("a\x1b[6Gb\n", "a    b\n"),
        ("\x1b[31mplain\x1b[0m text  \n", "plain text  \n"),
    ] {
        assert_eq!(text(printed), expected, "{printed:?}");
        assert_eq!(shown(Framing::Text, usize::MAX, printed.split_inclusive(|_| true)), expected, "{printed:?}");
    }
}

#[test]
fn whole_lines_do_not_wait_for_each_other() {
    let mut terminal = Terminal::new(Framing::Lines, usize::MAX);
    terminal.print("\r⠋ wait\r\x1b[K{}\nne");
    assert_eq!((terminal.take().as_str(), terminal.holds()), ("{}\n", false));
}

#[test]
fn what_is_printed_waits_for_a_moment_and_what_is_drawn_until_its_line_ends() {
    let mut terminal = Terminal::new(Framing::Text, usize::MAX);
    let mut after = |printed: &str, quiet: bool| {
        terminal.print(printed);
        if quiet {
            terminal.flush();
        }
        (terminal.take(), terminal.holds())
    };
    let out = |text: &str, holds| (text.to_owned(), holds);
    assert_eq!(after("a par", false), out("", true));
    assert_eq!(after("", true), out("a par", false));
    assert_eq!(after("agraph\n", false), out("", true));
    assert_eq!(after("next", false), out("agraph\n", true));
    assert_eq!(after("\n", true), out("next\n", false));
    // A frame of a spinner, however slow it is.
    assert_eq!(after("\r⠋ wait", true), out("", false));
    assert_eq!(after("\r⠙ wait", true), out("", false));
    assert_eq!(after("\r\x1b[Kdone\n", true), out("done\n", false));
    // One that was not known as such stands as a line of its own.
    assert_eq!(after("⠋ wait", true), out("⠋ wait", false));
    assert_eq!(after("\r\x1b[Kdone\n", true), out("\ndone\n", false));
    assert_eq!(after("50%", true), out("50%", false));
    assert_eq!(after("\r50% of it\n", true), out(" of it\n", false));
}

#[test]
fn a_text_without_line_ends_is_not_held_back_for_ever_and_not_kept() {
    let mut terminal = Terminal::new(Framing::Text, 0);
    let long = "é".repeat(HELD);
    terminal.print(&long);
    let out = terminal.take();
    assert!(out.len() + HELD >= long.len());
    terminal.finish();
    assert_eq!((out + &terminal.take(), terminal.cut_lines()), (long, 0));
}

#[test]
fn no_order_makes_a_line_longer_than_allowed_or_takes_long() {
    let orders =
        ["\x1b[65535Cx", "\x1b[1K", "\x1b[65535Xx", "\rx\x1b[65535G\x1b[1K", "\x1b[2Kx", "\x1b[s\x1b[ux", "\x08x"];
    for order in orders {
        let lines = shown(Framing::Lines, 100_000, ["x".repeat(50_000).as_str(), &order.repeat(20_000), "\nend\n"]);
        let (first, rest) = lines.split_once('\n').unwrap();
        assert!(first.len() <= 100_000, "{order:?}");
        assert_eq!(rest, "end\n");
    }
}

/// What a program prints.
#[derive(Debug, Clone)]
enum Order {
    Text(String),
    Colour,
    NewLine,
    Return,
    Back,
    Left(usize),
    Right(usize),
    Column(usize),
    EraseRest,
    EraseBeginning,
    Erase,
    EraseCells(usize),
    Save,
    Restore,
    Up,
}

impl Order {
    fn printed(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Colour => "\x1b[1;31m".to_owned(),
            Self::NewLine => "\n".to_owned(),
            Self::Return => "\r".to_owned(),
            Self::Back => "\x08".to_owned(),
            Self::Left(count) => format!("\x1b[{count}D"),
            Self::Right(count) => format!("\x1b[{count}C"),
            Self::Column(column) => format!("\x1b[{column}G"),
            Self::EraseRest => "\x1b[K".to_owned(),
            Self::EraseBeginning => "\x1b[1K".to_owned(),
            Self::Erase => "\x1b[2K".to_owned(),
            Self::EraseCells(count) => format!("\x1b[{count}X"),
            Self::Save => "\x1b7".to_owned(),
            Self::Restore => "\x1b8".to_owned(),
            Self::Up => "\x1b[A".to_owned(),
        }
    }
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let order = prop_oneof![
        4 => "[a-c ⠋日é\t]{1,6}".prop_map(Order::Text),
        2 => Just(Order::NewLine),
        3 => Just(Order::Return),
        1 => Just(Order::Colour),
        1 => Just(Order::Back),
        1 => (0..9usize).prop_map(Order::Left),
        1 => (0..9usize).prop_map(Order::Right),
        1 => (0..9usize).prop_map(Order::Column),
        2 => Just(Order::EraseRest),
        1 => Just(Order::EraseBeginning),
        1 => Just(Order::Erase),
        1 => (0..9usize).prop_map(Order::EraseCells),
        1 => Just(Order::Save),
        1 => Just(Order::Restore),
        2 => Just(Order::Up),
    ];
    prop::collection::vec(order, 0..40)
}

/// A line of the model: cells and a cursor, without regard to what anything costs.
#[derive(Debug, Default, Clone)]
struct Row {
    cells: Vec<char>,
    column: usize,
    saved: usize,
    /// A carriage return that may belong to the line end.
    returning: bool,
    drawn: bool,
}

impl Row {
    fn put(&mut self, c: char) {
        while self.cells.len() <= self.column {
            self.cells.push(' ');
        }
        self.cells[self.column] = c;
        self.column += 1;
    }

    fn blank(&mut self, from: usize, to: usize) {
        for at in from..to.min(self.cells.len()) {
            self.cells[at] = ' ';
        }
    }

    fn carry_out(&mut self, order: &Order) {
        if matches!(order, Order::Colour) {
            return;
        }
        if std::mem::take(&mut self.returning) {
            self.column = 0;
            self.drawn = true;
        }
        let at_end = self.column == self.cells.len();
        let draws = match order {
            Order::Text(_) | Order::Return => false,
            Order::EraseRest => !at_end,
            _ => true,
        };
        self.drawn |= draws;
        match order {
            Order::Text(text) => text.chars().for_each(|c| self.put(c)),
            Order::Return => self.returning = true,
            Order::Back => self.column = self.column.saturating_sub(1),
            Order::Left(count) => self.column = self.column.saturating_sub((*count).max(1)),
            Order::Right(count) => self.column += (*count).max(1),
            Order::Column(column) => self.column = column.max(&1) - 1,
            Order::EraseRest => self.cells.truncate(self.column),
            Order::EraseBeginning if self.column + 1 >= self.cells.len() => self.cells.clear(),
            Order::EraseBeginning => self.blank(0, self.column + 1),
            Order::Erase => self.cells.clear(),
            Order::EraseCells(count) => self.blank(self.column, self.column + (*count).max(1)),
            Order::Save => self.saved = self.column,
            Order::Restore => self.column = self.saved,
            Order::Up | Order::Colour | Order::NewLine => {}
        }
    }

    fn text(&self) -> String {
        let text: String = self.cells.iter().collect();
        if self.drawn { text.trim_end_matches(' ').to_owned() } else { text }
    }
}

/// What the model shows. The cursor goes up out of a line in which nothing was printed, and only into the one above it.
fn model(framing: Framing, orders: &[Order]) -> String {
    let (mut rows, mut row, mut printed) = (Vec::<Row>::new(), Row::default(), true);
    for order in orders {
        match order {
            Order::NewLine => {
                rows.push(std::mem::take(&mut row));
                printed = false;
            }
            Order::Up => {
                if framing == Framing::Text && !printed && row.cells.iter().all(|cell| *cell == ' ') {
                    row.carry_out(order);
                    let column = row.column;
                    row = rows.pop().unwrap();
                    row.carry_out(order);
                    (row.column, printed) = (column, true);
                }
            }
            _ => {
                printed |= matches!(order, Order::Text(_));
                row.carry_out(order);
            }
        }
    }
    rows.push(row);
    rows.iter().map(Row::text).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_cut_anywhere_leaves_what_a_plain_terminal_of_one_line_shows(
        orders in orders(),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let printed: String = orders.iter().map(Order::printed).collect();
        let mut at: Vec<usize> = cuts.iter().map(|cut| printed.floor_char_boundary(cut.index(printed.len() + 1))).collect();
        at.extend([0, printed.len()]);
        at.sort_unstable();
        for framing in [Framing::Text, Framing::Lines] {
            let whole = shown(framing, usize::MAX, [printed.as_str()]);
            prop_assert_eq!(&whole, &model(framing, &orders));
            let pieces = at.windows(2).map(|pair| &printed[pair[0]..pair[1]]);
            prop_assert_eq!(&shown(framing, usize::MAX, pieces), &whole);
            prop_assert_eq!(&shown(framing, usize::MAX, printed.split_inclusive(|_| true)), &whole);
        }
    }
}
