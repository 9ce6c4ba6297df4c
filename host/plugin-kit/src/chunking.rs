//! Ways to split output into the pieces that the host reads. The order of the two streams is kept.

use agentbay_domain::StreamName;
use agentbay_os::process::CHUNK;
use fastrand::Rng;

use super::fixture::Read;

/// A way to split output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunking {
    /// All output of one stream up to output of the other, in pieces of the host's read size. The baseline for the others.
    Whole,
    /// As recorded.
    Recorded,
    /// Pieces of N bytes.
    Each(usize),
    /// Inside every multi-byte character and every escape sequence, between CR and LF, and around every line end.
    Borders,
    /// Random pieces from a fixed seed.
    Random(u64),
}

/// All ways except `Whole`.
pub(super) const CHUNKINGS: [Chunking; 7] = [
    Chunking::Recorded,
    Chunking::Each(1),
    Chunking::Each(7),
    Chunking::Borders,
    Chunking::Random(1),
    Chunking::Random(2),
    Chunking::Random(3),
];

/// In longer output, only this many bytes at the start and at the end are split finely, since every piece may be a call.
const FINE: usize = 32 * 1024;

/// Size of the pieces in between, in bytes. It is odd, so that boundaries fall at any offset.
const COARSE: usize = 997;

/// Longest random piece: most end inside a line, some hold several lines.
const LONGEST_RANDOM: usize = 400;

impl Chunking {
    /// The name, for people.
    pub(super) fn name(self) -> String {
        match self {
            Self::Whole => "all at once".to_owned(),
            Self::Recorded => "as recorded".to_owned(),
            Self::Each(1) => "a byte at a time".to_owned(),
            Self::Each(bytes) => format!("{bytes} bytes at a time"),
            Self::Borders => "inside characters and line ends".to_owned(),
            Self::Random(seed) => format!("at random (seed {seed})"),
        }
    }

    /// Splits output.
    pub(super) fn cut(self, reads: &[Read]) -> Vec<Read> {
        if self == Self::Recorded {
            return reads.to_vec();
        }
        joined(reads).iter().flat_map(|read| self.pieces(read)).collect()
    }

    fn pieces(self, read: &Read) -> Vec<Read> {
        let bytes = &read.bytes;
        let cuts: Vec<usize> = match self {
            Self::Recorded => Vec::new(),
            Self::Whole => (CHUNK..bytes.len()).step_by(CHUNK).collect(),
            Self::Each(size) => thinned((size..bytes.len()).step_by(size), size, bytes.len()),
            Self::Borders => {
                let borders = (1..bytes.len()).filter(|at| is_border(bytes[at - 1], bytes[*at]));
                thinned(borders, 1, bytes.len())
            }
            Self::Random(seed) => random_cuts(seed, bytes.len()),
        };
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain(std::iter::once(bytes.len()));
        starts.zip(ends).map(|(start, end)| Read { source: read.source, bytes: bytes[start..end].to_vec() }).collect()
    }
}

/// Splits every piece that is longer than `size`.
pub(super) fn at_most(size: usize, reads: &[Read]) -> Vec<Read> {
    let pieces = |read: &Read| -> Vec<Read> {
        let source = read.source;
        read.bytes.chunks(size).map(|bytes| Read { source, bytes: bytes.to_vec() }).collect()
    };
    reads.iter().flat_map(pieces).collect()
}

/// The cuts of output of this length: all near its ends, and a bounded number in between.
fn thinned(cuts: impl Iterator<Item = usize>, size: usize, length: usize) -> Vec<usize> {
    let mut last = 0;
    let stays = |at: &usize| {
        let stays = *at <= FINE || *at + FINE >= length || *at >= last + COARSE.max(size);
        if stays {
            last = *at;
        }
        stays
    };
    cuts.filter(stays).collect()
}

/// Output of one stream up to output of the other, as one piece.
fn joined(reads: &[Read]) -> Vec<Read> {
    let groups = reads.chunk_by(|one, next| one.source == next.source);
    let join = |group: &[Read]| Read {
        source: group.first().map_or(StreamName::Stdout, |read| read.source),
        bytes: group.iter().flat_map(|read| read.bytes.iter().copied()).collect(),
    };
    groups.map(join).collect()
}

fn is_border(before: u8, after: u8) -> bool {
    const ESCAPE: u8 = 0x1b;
    let inside_a_character = after & 0b1100_0000 == 0b1000_0000;
    inside_a_character || before == ESCAPE || before == b'\n' || after == b'\n'
}

fn random_cuts(seed: u64, length: usize) -> Vec<usize> {
    let mut rng = Rng::with_seed(seed);
    let steps = std::iter::repeat_with(|| rng.usize(1..=LONGEST_RANDOM));
    let cuts = steps.scan(0, |at, step| {
        *at += step;
        Some(*at)
    });
    cuts.take_while(|at| *at < length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(pieces: &[(StreamName, &str)]) -> Vec<Read> {
        pieces.iter().map(|&(source, text)| Read { source, bytes: text.into() }).collect()
    }

    #[test]
    fn no_split_changes_the_bytes_or_the_order_of_the_streams() {
        let text = "é\r\n\u{1b}[31mred 日本\n".repeat(6000);
        let output = reads(&[(StreamName::Stdout, &text), (StreamName::Stderr, "!\n"), (StreamName::Stdout, "end")]);
        for chunking in CHUNKINGS.into_iter().chain([Chunking::Whole]) {
            let pieces = chunking.cut(&output);
            assert!(pieces.iter().all(|piece| !piece.bytes.is_empty()), "{chunking:?}");
            assert_eq!(joined(&pieces), output, "{chunking:?}");
        }
    }

    #[test]
    fn boundaries_are_inside_characters_and_escapes_and_around_line_ends() {
        let pieces = Chunking::Borders.cut(&reads(&[(StreamName::Stdout, "aé\r\n\u{1b}[0mb")]));
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| piece.bytes.as_slice()).collect();
        assert_eq!(pieces, [&b"a\xC3"[..], b"\xA9\r", b"\n", b"\x1b", b"[0mb"]);
    }

    #[test]
    fn all_at_once_joins_the_output_of_a_stream_until_the_other_stream_has_output() {
        let pieces = [(StreamName::Stdout, "a"), (StreamName::Stdout, "b"), (StreamName::Stderr, "c")];
        let expected = reads(&[(StreamName::Stdout, "ab"), (StreamName::Stderr, "c")]);
        assert_eq!(Chunking::Whole.cut(&reads(&pieces)), expected);
    }

    #[test]
    fn no_piece_exceeds_the_read_size_of_the_host() {
        let long = reads(&[(StreamName::Stdout, &"a".repeat(2 * CHUNK + 1))]);
        let lengths: Vec<usize> = Chunking::Whole.cut(&long).iter().map(|piece| piece.bytes.len()).collect();
        assert_eq!(lengths, [CHUNK, CHUNK, 1]);
    }

    #[test]
    fn long_output_is_split_finely_near_its_ends_and_into_a_bounded_number_of_pieces() {
        let long = 3_000_000;
        let output = reads(&[(StreamName::Stdout, &"é\n".repeat(long / 3))]);
        for (chunking, fine) in [(Chunking::Each(1), 1), (Chunking::Each(7), 7), (Chunking::Borders, 2)] {
            let lengths: Vec<usize> = chunking.cut(&output).iter().map(|piece| piece.bytes.len()).collect();
            let coarse = lengths.iter().filter(|length| **length > fine).count();
            assert!(lengths.len() <= 2 * FINE + long / COARSE, "{chunking:?}: {} pieces", lengths.len());
            assert!(coarse <= long / COARSE && lengths[..1000].iter().all(|length| *length <= fine), "{chunking:?}");
            assert!(lengths.iter().all(|length| *length <= COARSE + fine), "{chunking:?}");
        }
    }

    #[test]
    fn random_splits_repeat_for_a_seed() {
        assert_eq!(random_cuts(1, 5000), random_cuts(1, 5000));
        assert_ne!(random_cuts(1, 5000), random_cuts(2, 5000));
    }
}
