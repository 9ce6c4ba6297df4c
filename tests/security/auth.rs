//! Access control: keys, host names, content types.

use serde_json::Value;

use crate::support::{Answer, ECHO, Machine, Proxy, Request, chat, error, wait_for};

fn served(server: &str) -> (Machine, Proxy) {
    let machine = Machine::configured(&format!("[server]\n{server}\n{ECHO}"));
    let proxy = machine.serve();
    (machine, proxy)
}

fn question() -> Request {
    Request::complete(&chat("echo", "hi"))
}

fn actual(answer: &Answer) -> (u16, Value) {
    (answer.status, answer.json())
}

#[test]
fn a_key_is_required_if_keys_are_configured() {
    let (_machine, proxy) = served("api_keys = [\"right-one\", \"right-two\"]");
    let message = "an API key is required: send one of `server.api_keys` as `Authorization: Bearer …`, `x-api-key` or `x-goog-api-key`";
    let expected = (401, error(message, "invalid_request_error", None, "invalid_api_key", None));
    let with = |value: &str| question().header("authorization", value);
    for request in [
        question(),
        with("Bearer wrong"),
        with("Bearer right-on"),
        with("Bearer right-one-and-more"),
        with("Basic right-one"),
        with("right-one"),
        with("Bearer "),
        Request::get("/v1/models"),
        Request::get("/v1/plugins"),
        Request::get("/metrics"),
        Request::get("/v1/nothing"),
    ] {
        let answer = proxy.send(&request);
        assert_eq!((actual(&answer), answer.header("www-authenticate")), (expected.clone(), Some("Bearer")));
    }
    for key in ["right-one", "right-two"] {
        assert_eq!(proxy.send(&with(&format!("Bearer {key}"))).status, 200);
        let list = Request::get("/v1/models").header("authorization", &format!("bearer {key}"));
        assert_eq!(proxy.send(&list).status, 200);
    }
}

#[test]
fn health_needs_no_key() {
    let (_machine, proxy) = served("api_keys = [\"right\"]");
    assert_eq!((proxy.get("/healthz").status, proxy.get("/readyz").status), (200, 200));
}

#[test]
fn keys_can_be_changed_without_a_restart() {
    let (machine, proxy) = served("api_keys = [\"old\"]");
    machine.write("proxy.toml", format!("[server]\napi_keys = [\"new\"]\n{ECHO}"));
    let with = |key: &str| proxy.send(&question().header("authorization", &format!("Bearer {key}"))).status;
    wait_for("the new key", || (with("old"), with("new")) == (401, 200));
}

#[test]
fn no_key_is_ever_logged() {
    let (machine, proxy) = served("api_keys = [\"secret-right\"]");
    proxy.send(&question().header("authorization", "Bearer secret-wrong"));
    proxy.send(&question().header("authorization", "Bearer secret-right"));
    machine.write("proxy.toml", format!("[server]\napi_keys = [\"secret spaced\"]\n{ECHO}"));
    proxy.logged(&["reloaded", "generation=2"]);
    assert!(!proxy.log().contains("secret"), "{}", proxy.log());
}

#[test]
pub(crate) fn a_foreign_host_name_is_refused() {
    let (_machine, proxy) = served("");
    let message = "the Host header is not a name of this server: to use another name, add it to \
                   `server.allowed_hosts` in proxy.toml";
    let expected = (403, error(message, "invalid_request_error", None, "host_not_allowed", None));
    let port = proxy.address().port();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "localhost:1", ""] {
        let answer = proxy.send(&question().header("host", host));
        assert_eq!(actual(&answer), expected, "{host}");
        assert_eq!(proxy.send(&Request::get("/healthz").header("host", host)).status, 403, "{host}");
    }
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("LOCALHOST:{port}")] {
        assert_eq!(proxy.send(&question().header("host", &host)).status, 200, "{host}");
    }
}

#[test]
fn an_allowed_host_name_is_accepted() {
    let (_machine, proxy) = served("allowed_hosts = [\"box.local\", \"other.local:80\"]");
    let with = |host: &str| proxy.send(&question().header("host", host)).status;
    assert_eq!([with("box.local"), with("box.local:1234"), with("other.local:80")], [200; 3]);
    assert_eq!([with("other.local"), with("evil.example")], [403; 2]);
}

#[test]
fn requests_that_a_form_on_a_page_can_send_are_refused() {
    let (_machine, proxy) = served("");
    for form in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        assert_eq!(proxy.send(&question().header("content-type", form)).status, 415, "{form}");
    }
    // A page first requests permission to send JSON. It is refused, and so is the preflight request.
    let asks = Request::get("/v1/chat/completions").method("OPTIONS").header("origin", "http://evil.example");
    let answer = proxy.send(&asks);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None));
}

#[test]
fn a_foreign_page_gets_nothing_on_any_route() {
    let (_machine, proxy) = served("allowed_origins = [\"https://chat.example\"]");
    let code = |request: &Request| {
        let answer = proxy.send(request);
        assert_eq!(answer.header("access-control-allow-origin"), None, "{answer:?}");
        (answer.status, answer.json()["error"]["code"].clone())
    };
    let routes =
        ["/healthz", "/readyz", "/metrics", "/v1/drivers", "/v1/plugins", "/v1/models", "/v1/runs", "/nothing"];
    let requests = routes.map(Request::get).into_iter().chain([
        question(),
        Request::post("/v1/plugins/reload", "{}"),
        Request::get("/v1/runs/x").method("DELETE"),
        question().method("OPTIONS").header("access-control-request-method", "POST"),
    ]);
    for request in requests {
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "http://localhost:3000"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            let refused = (403, "origin_not_allowed".into());
            assert_eq!(code(&request.clone().header(name, value)), refused, "{name}: {value}");
        }
    }
}

#[test]
fn a_program_and_an_allowed_page_can_use_the_server_and_read_its_answers() {
    let (_machine, proxy) = served("api_keys = [\"right\"]\nallowed_origins = [\"https://Chat.example\"]");
    for origin in ["app://obsidian.md", "tauri://localhost", "vscode-webview://1a2b", "https://chat.example"] {
        let asked =
            question().method("OPTIONS").header("origin", origin).header("access-control-request-method", "POST");
        let allowed = proxy.send(&asked.header("access-control-request-headers", "authorization, content-type"));
        let headers =
            ["origin", "methods", "headers"].map(|name| allowed.header(&format!("access-control-allow-{name}")));
        let expected = [origin, "GET, POST, DELETE", "authorization, content-type"].map(Some);
        assert_eq!((allowed.status, headers), (204, expected));

        let answer = proxy.send(&question().header("origin", origin).header("authorization", "Bearer right"));
        let seen = ["access-control-allow-origin", "vary"].map(|name| answer.header(name));
        assert_eq!((answer.status, seen), (200, [Some(origin), Some("origin")]));
        // The key is still required, and the page can read the error.
        let refused = proxy.send(&question().header("origin", origin));
        assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some(origin)));
    }
    let own = format!("http://{}", proxy.address());
    let own = question().header("origin", &own).header("authorization", "Bearer right");
    assert_eq!(proxy.send(&own).status, 200);
}
