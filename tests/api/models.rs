//! The list of models, in the forms of the APIs that share its path.

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, Request, error};

fn serve(names: &[&str]) -> (Machine, Proxy) {
    let models = names.iter().map(|name| format!("[models.\"{name}\"]\ndriver = \"echo\"\n"));
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n{}", models.collect::<String>()));
    let proxy = machine.serve();
    (machine, proxy)
}

/// The answer to a client of Anthropic.
fn anthropic(proxy: &Proxy, path: &str) -> Answer {
    proxy.send(&Request::get(path).header("anthropic-version", "2026-10-21"))
}

fn entry(id: &str) -> Value {
    json!({
        "id": id,
        "object": "model",
        "type": "model",
        "created": 0,
        "created_at": "1970-01-01T00:00:00Z",
        "owned_by": "echo",
        "display_name": id,
        "lifecycle": "active",
    })
}

#[test]
fn one_form_has_the_fields_of_openai_and_anthropic() {
    let (_machine, proxy) = serve(&["b", "a/b:c"]);
    let list = json!({
        "object": "list",
        "data": [entry("a/b:c"), entry("b")],
        "has_more": false,
        "first_id": "a/b:c",
        "last_id": "b",
    });
    for answer in [proxy.get("/v1/models"), anthropic(&proxy, "/v1/models?limit=1000")] {
        assert_eq!((answer.status, answer.json()), (200, list.clone()));
    }
    for path in ["/v1/models/a/b:c", "/v1/models/a%2Fb%3Ac"] {
        for answer in [proxy.get(path), anthropic(&proxy, path)] {
            assert_eq!((answer.status, answer.json()), (200, entry("a/b:c")), "{path}");
        }
    }
}

#[test]
fn only_clients_of_anthropic_receive_pages() {
    let (_machine, proxy) = serve(&["a", "b/x", "c"]);
    let page = |answer: Answer| {
        let list = answer.json();
        let ids: Vec<Value> = list["data"].as_array().unwrap().iter().map(|entry| entry["id"].clone()).collect();
        json!([ids, list["has_more"], list["first_id"], list["last_id"]])
    };
    let first = page(anthropic(&proxy, "/v1/models?limit=2"));
    assert_eq!(first, json!([["a", "b/x"], true, "a", "b/x"]));
    let second = page(anthropic(&proxy, "/v1/models?limit=2&after_id=b%2Fx"));
    assert_eq!(second, json!([["c"], false, "c", "c"]));
    assert_eq!(page(anthropic(&proxy, "/v1/models?before_id=b/x")), json!([["a"], false, "a", "a"]));
    assert_eq!(page(proxy.get("/v1/models?limit=2")), json!([["a", "b/x", "c"], false, "a", "c"]));
}

#[test]
fn errors_have_the_form_of_the_client() {
    let (_machine, proxy) = serve(&["a"]);
    let message = "The model `x` does not exist";
    let answer = proxy.get("/v1/models/x");
    let expected = error(message, "invalid_request_error", Some("model"), "model_not_found", None);
    assert_eq!((answer.status, answer.json()), (404, expected));
    let answer = anthropic(&proxy, "/v1/models/x");
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["type"], &body["error"]["type"]),
        (404, &"error".into(), &"not_found_error".into())
    );
    let answer = anthropic(&proxy, "/v1/models?after_id=x");
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (400, &"invalid_request_error".into()));
}
