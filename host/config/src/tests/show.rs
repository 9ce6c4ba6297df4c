//! `show`.

use agentbay_domain::{Show, ShownAs};

use super::{Folder, cli};

#[test]
fn each_key_of_show_has_the_default_of_its_own() {
    let folder = Folder::with(&[(
        "proxy.toml",
        r#"
        [defaults]
        repo = "."
        show = { tools = "text" }
        [models]
        a = { driver = "echo", show = { reasoning = "nothing" } }
        b = { driver = "echo", show = { tools = "reasoning", reasoning = "text" } }
        c = { driver = "echo" }
        "#,
    )]);
    let shown: Vec<Show> = folder.models().iter().map(|model| cli(model).show).collect();
    let expected =
        [(ShownAs::Text, ShownAs::Nothing), (ShownAs::Reasoning, ShownAs::Text), (ShownAs::Text, ShownAs::Reasoning)];
    assert_eq!(shown, expected.map(|(tools, reasoning)| Show { tools, reasoning }));
}

#[test]
fn a_faulty_show_is_reported() {
    let folder = Folder::with(&[(
        "proxy.toml",
        "[models.a]\ndriver = \"echo\"\nrepo = \".\"\nshow = { tools = \"all\", thoughts = \"text\" }\n\
         [models.b]\ndriver = \"echo\"\nrepo = \".\"\nshow = true\n",
    )]);
    let faults = folder.faults();
    let says = |part: &str| faults.iter().any(|fault| fault.contains(part));
    assert!(
        says("models.a.show.tools: \"all\" is not one of \"reasoning\", \"text\", \"nothing\"")
            && says("models.a.show.thoughts: unknown key")
            && says("models.b.show: expected"),
        "{faults:?}"
    );
}
