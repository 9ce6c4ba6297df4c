"""What CLIs say when they fail, and what kind of failure that is: the table of AgentBay's SDK. The first row that fits counts.

Each row: category, message, HTTP statuses, words, whether it counts only beside a short wait.
"""

TABLE = [
    ["configuration", "The CLI does not trust the folder it was started in", [], ["trusted directory", "trusted folder", "trusted workspace", "folder is not trusted"], False],
    ["configuration", "The CLI refuses full access to root: run it as another user, or set IS_SANDBOX=1 for it where the machine is there for that", [], ["root sudo privileges"], False],
    ["configuration", "The CLI does not take the arguments it was started with: its version may not be supported", [], ["unexpected argument", "unknown option", "unknown argument", "unrecognized option", "requires verbose"], False],
    ["configuration", "The CLI is set up wrongly", [], ["error loading config", "error finding codex home", "error parsing config"], False],
    ["quota", "The usage limit of the account is reached", [], ["per day ", "daily quota", "daily limit", "weekly limit", "monthly limit"], False],
    ["rate-limit", "The provider's rate limit is reached", [], ["per minute", "per min ", "per second", "high concurrency"], False],
    ["rate-limit", "The provider's rate limit is reached", [], ["resource exhausted", "current quota", "quota will reset", "exhausted your capacity"], True],
    ["quota", "The usage limit of the account is reached", [402], ["insufficient quota", "quota exceeded", "billing hard limit", "resource exhausted", "credit limit", "usage limit", "current quota", "exceeded your quota", "exhausted your", "quota will reset", "hit your limit", "limit reached resets", "session limit", "hour limit", "spend limit", "spending limit", "credit balance", "insufficient balance", "insufficient credit", "insufficient funds", "out of credits", "out of extra usage", "payment required"], False],
    ["rate-limit", "The provider's rate limit is reached", [429, 529], ["rate limit", "ratelimit", "too many requests", "overloaded", "throttl"], False],
    ["authentication", "The CLI is not logged in, or its credentials were refused", [401, 403], ["invalid api key", "incorrect api key", "missing api key", "no api key", "api key not valid", "api key not found", "api key environment variable", "missing environment variable", "unauthorized", "unauthenticated", "forbidden", "permission denied", "authentication failed", "authentication error", "authentication required", "failed to authenticate", "not authenticated", "not logged in", "not signed in", "login required", "please log in", "please login", "please run login", "sign in again", "log in again", "login again", "no auth ", "invalid auth ", "invalid credentials", "no credentials", "default credentials", "token has expired", "token expired", "no authentication information", "api key required"], False],
    ["validation", "The prompt is longer than the model's context window", [413], ["context window", "context length", "maximum context", "prompt is too long", "input is too long", "prompt token count"], False],
    ["validation", "The prompt is empty", [], ["no prompt provided", "no input provided", "input must be provided", "you must provide a message"], False],
    ["validation", "The provider refused the request as invalid", [400, 422], ["invalid request", "malformed", "bad request", "validation error", "invalid parameter", "invalid argument"], False],
    ["network", "The CLI could not reach its provider, or lost the connection", [], ["econnreset", "etimedout", "enotfound", "econnrefused", "eai again", "epipe", "und err", "network error", "connection failed", "connection error", "connection refused", "connection reset", "connection closed", "connection to the api was lost", "deadline exceeded", "socket hang up", "socket closed", "other side closed", "stream disconnected", "stream closed", "fetch failed", "error sending request", "failed to lookup address", "dns error", "unable to connect", "could not connect", "failed to connect", "api error terminated", "unexpected eof", "error decoding response body"], False],
    ["server", "The provider failed to answer the request", [500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 530], ["internal server error", "service unavailable", "bad gateway", "gateway timeout", "server error", "server had an error", "server failed", "internal error", "unavailable ", "high demand", "at capacity", "empty response"], False],
    ["timeout", "The CLI or its provider took too long", [408], ["timed out", "timeout", "sigterm", "sigkill"], False],
    ["not-found", "The session to resume does not exist", [], ["no conversation found", "no saved session", "no rollout found", "no previous sessions", "session not found", "no session task or name matched"], False],
    ["not-found", "The CLI or its provider did not find what was asked for, such as the model", [404], ["not found", "enoent", "no such file", "does not exist", "unknown model", "issue with the selected model"], False],
    ["configuration", "The CLI is set up wrongly", [], ["not configured", "missing config", "invalid config", "cli not installed"], False],
]
