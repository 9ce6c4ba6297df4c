//! Images, sounds and files of a question, as files that the agent can open.

use serde_json::{Value, json};

use crate::support::{Machine, Proxy, Request, wait_for};

const CONFIG: &str =
    "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }\n";

/// A server of a CLI that prints its prompt and the content of each file that the prompt names.
fn opening() -> (Machine, Proxy) {
    let machine = Machine::configured(CONFIG);
    let files = "for file in $(grep -o '/[^] ]*/attachment-[^] ]*' ../prompt); do echo; cat $file; done";
    machine.script("cli", &format!("cat >../prompt; cat ../prompt; {files}"));
    let proxy = machine.serve();
    (machine, proxy)
}

fn asked(parts: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": parts}]})
}

#[test]
fn the_agent_can_open_each_file_which_is_gone_after_the_run() {
    let (machine, proxy) = opening();
    let parts = json!([
        {"type": "text", "text": "compare"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
        {"type": "input_audio", "input_audio": {"data": "V0FW", "format": "wav"}},
        {"type": "file", "file": {"filename": "../../etc/passwd", "file_data": "data:text/plain;base64,VEVYVA=="}},
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
    ]);
    let answer = proxy.complete(&asked(&parts)).content();
    let prompt = std::fs::read_to_string(machine.path("prompt")).unwrap();
    let files: Vec<&str> = prompt.split([' ', ']']).filter(|word| word.contains("/attachment-")).collect();
    let [image, audio, file] = files[..] else { panic!("{prompt}") };
    let names = files.iter().map(|file| file.rsplit('/').next().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["attachment-1.png", "attachment-2.wav", "attachment-3.txt"]);
    let expected = format!(
        "compare\n[image: {image}]\n[audio: {audio}]\n[file ../../etc/passwd: {file}]\n[image: https://x.example/a.png]"
    );
    assert_eq!((prompt.as_str(), answer), (expected.as_str(), format!("{expected}\nPNG\nWAV\nTEXT")));
    wait_for("the files to be removed", || files.iter().all(|file| !std::fs::exists(file).unwrap()));
}

#[test]
fn a_file_of_each_surface_reaches_the_agent() {
    let (_machine, proxy) = opening();
    let gemini =
        json!({"contents": [{"parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}]}]});
    let answer = proxy.send(&Request::post("/v1beta/models/m:generateContent", gemini.to_string()));
    let source = json!({"type": "base64", "media_type": "image/png", "data": "UE5H"});
    let content = json!([{"type": "text", "text": "look"}, {"type": "image", "source": source}]);
    let messages = json!({"model": "m", "max_tokens": 1000, "messages": [{"role": "user", "content": content}]});
    let other = proxy.send(&Request::post("/v1/messages", messages.to_string()));
    for answer in [answer, other] {
        assert!(answer.status == 200 && answer.body.contains("/attachment-1.png]\\nPNG"), "{answer:?}");
    }
}

#[test]
fn the_folder_of_the_files_is_passed_to_a_cli_that_limits_what_the_agent_reads() {
    let machine = Machine::configured("[models.m]\ndriver = \"claude\"\nrepo = \".\"\n");
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "seen"});
    machine.recording("claude", &["say", &result.to_string()]);
    let proxy = machine.serve();
    let folders = |parts: &Value| {
        assert_eq!(proxy.complete(&asked(parts)).content(), "seen");
        let seen = machine.seen("claude");
        let words: Vec<String> =
            seen["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        let folder = words.iter().position(|word| word == "--add-dir").map(|at| words[at + 1].clone());
        (folder, seen["stdin"].as_str().unwrap().to_owned())
    };
    assert_eq!(folders(&json!([{"type": "text", "text": "hi"}])).0, None);
    let (folder, prompt) = folders(&json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}}]));
    let folder = folder.expect("a folder");
    assert!(prompt.contains(&format!("[image: {folder}/attachment-1.png]")), "{prompt}");
}

#[test]
fn what_cannot_be_opened_is_refused() {
    let (_machine, proxy) = opening();
    for part in [
        json!({"type": "file", "file": {"file_id": "file-1"}}),
        json!({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,?"}}),
    ] {
        let answer = proxy.complete(&asked(&json!([part])));
        let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(
            answer.status == 400 && message.contains("cannot be given to a CLI: send its content in base64"),
            "{answer:?}"
        );
    }
}
