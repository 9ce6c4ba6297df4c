//! Code that takes the compiler long or much memory.

use std::time::SystemTime;

/// A function that nobody calls, as the text of a paragraph: so many nested loops, each of which has to know so many
/// values, so that the compiler's work is the product of the two.
pub(super) fn nest(loops: usize, values: usize) -> String {
    let each = |one: &dyn Fn(usize) -> String| (1..=values).map(one).collect::<String>();
    let set = each(&|local| format!("local.get 0 local.set {local}\n"));
    let change = each(&|local| format!("local.get {local} local.get 0 i32.add local.set {local}\n"));
    let use_all = each(&|local| format!("local.get {local} i32.add\n"));
    let locals = "i32 ".repeat(values);
    let (open, close) = ("loop\n".repeat(loops), "local.get 0 br_if 0 end\n".repeat(loops));
    format!("(func $nest (param i32) (result i32)\n(local {locals})\n{set}{open}{change}{close}local.get 0\n{use_all})")
}

/// A function that nobody calls, as the text of a paragraph, of so many multiplications, and which was never seen before, so
/// that its code is in no cache: the compiler's work is in proportion to its length.
pub(super) fn long(count: usize) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let unseen = i64::try_from(now & u128::from(u32::MAX)).unwrap();
    let body = "local.get 0 local.get 0 i64.mul local.get 0 i64.add local.set 0\n".repeat(count);
    format!("(func $long (param i64) (result i64)\n{body}i64.const {unseen} local.get 0 i64.add)")
}
