//! Code that needs much time or memory to compile.

use std::time::SystemTime;

/// An unused function, as the text of a paragraph: a number of nested loops that all use a number of values, so that the work
/// of the compiler is the product of the two.
pub(super) fn nest(loops: usize, values: usize) -> String {
    let each = |one: &dyn Fn(usize) -> String| (1..=values).map(one).collect::<String>();
    let set = each(&|local| format!("local.get 0 local.set {local}\n"));
    let change = each(&|local| format!("local.get {local} local.get 0 i32.add local.set {local}\n"));
    let use_all = each(&|local| format!("local.get {local} i32.add\n"));
    let locals = "i32 ".repeat(values);
    let (open, close) = ("loop\n".repeat(loops), "local.get 0 br_if 0 end\n".repeat(loops));
    format!("(func $nest (param i32) (result i32)\n(local {locals})\n{set}{open}{change}{close}local.get 0\n{use_all})")
}

/// An unused function, as the text of a paragraph, with `count` multiplications. It is unique, so that its code is not in a
/// cache: the work of the compiler is proportional to its length.
pub(super) fn long(count: usize) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    let unseen = i64::try_from(now & u128::from(u32::MAX)).unwrap();
    let body = "local.get 0 local.get 0 i64.mul local.get 0 i64.add local.set 0\n".repeat(count);
    format!("(func $long (param i64) (result i64)\n{body}i64.const {unseen} local.get 0 i64.add)")
}
