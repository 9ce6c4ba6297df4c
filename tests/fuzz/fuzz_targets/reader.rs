//! The reader of JSON objects: no input makes it trap or lose text, and the split makes no difference.
#![no_main]

use agentbay_plugin_sdk::{JsonReader, Piece, Value};

fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, Vec<Value>) {
    let (mut whole, mut objects) = (String::new(), Vec::new());
    let mut reader = JsonReader::default();
    let mut read_piece = |piece: Piece<'_>| match piece {
        Piece::Object(value, source) => {
            whole.push_str(source);
            objects.push(value);
        }
        Piece::Text(text) => whole.push_str(text),
    };
    pieces.into_iter().for_each(|piece| reader.push(piece, &mut read_piece));
    reader.finish(&mut read_piece);
    (whole, objects)
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [size, printed @ ..] = data else { return };
    let printed = String::from_utf8_lossy(printed);
    let at_once = read([&*printed]);
    assert_eq!(at_once.0, printed);
    let letters: Vec<char> = printed.chars().collect();
    let pieces: Vec<String> = letters.chunks(usize::from(*size) + 1).map(|piece| piece.iter().collect()).collect();
    assert_eq!(read(pieces.iter().map(String::as_str)), at_once);
});
