// The plugin: how {{name}}-cli is started, and what its output means. It touches nothing of the machine: text comes in,
// values go out. What each value means is said in wit/agent.wit, and what it is called in C, in bindings/plugin.h.
//
// Change what the comments point at, and keep four rules: text of the answer is given once, however often the CLI repeats
// it; how the output is grouped into calls makes no difference; what is not understood is skipped; nothing traps.
//
// There is no C library. Memory comes from `take` and lasts until the end of the call: see support/memory.h.

#include <string.h>

#include "failures.h"
#include "json.h"
#include "memory.h"
#include "plugin.h"

#define PROGRAM "{{name}}-cli"

// A text that stands in the program.
#define TEXT(literal) ((text){(uint8_t *)(literal), sizeof(literal) - 1})

enum { TRANSCRIPTS = 16, ERROR_BYTES = 2048 };

// One process and what it says. Keep here what must be remembered between two calls: it outlives them, so it holds copies.
struct exports_agent_transcript_t {
    bool in_use;
    exports_agent_category_t category; // of what the CLI said on its error channel last
    uint64_t retry_seconds;            // 0 if the CLI did not tell
    size_t error_length;
    uint8_t error[ERROR_BYTES];
};

// Gives the host a handle for a transcript. The bindings have it only together with what is of no use here.
__attribute__((import_module("[export]agentbay:plugin/agent@0.1.0"), import_name("[resource-new]transcript")))
int32_t new_handle(exports_agent_transcript_t *transcript);

// The host has one at a time, and a test a few.
static exports_agent_transcript_t transcripts[TRANSCRIPTS];

// Says what the plugin is for. The same at every call. What is not set is empty.
void exports_agent_describe(exports_agent_description_t *description) {
    static text programs[] = {{(uint8_t *)PROGRAM, sizeof(PROGRAM) - 1}}; // nothing else can be started
    call_begins();
    *description = (exports_agent_description_t){
        .id = TEXT("{{name}}"), // `driver` in proxy.toml
        .name = TEXT("{{name}}"),
        .version = TEXT("0.1.0"),
        .programs = {programs, 1},
        .framing = EXPORTS_AGENT_FRAMING_LINES, // whole lines; TEXT gives the output as it comes
        // Claim what is so, and leave out the rest: the host relies on it.
        .features = EXPORTS_AGENT_FEATURES_PARTIAL | EXPORTS_AGENT_FEATURES_TOOLS | EXPORTS_AGENT_FEATURES_RESUME |
                    EXPORTS_AGENT_FEATURES_MODEL_CHOICE | EXPORTS_AGENT_FEATURES_READ_ONLY,
    };
}

// An empty detail lets the host put the end of standard error there.
static exports_agent_failure_t failure(exports_agent_category_t category, text message) {
    return (exports_agent_failure_t){.category = category, .message = message};
}

static text joined(text one, text other) {
    text both = {take(one.len + other.len), one.len + other.len};
    memcpy(both.ptr, one.ptr, one.len);
    memcpy(both.ptr + one.len, other.ptr, other.len);
    return both;
}

// Adds `name value`. A value that a CLI could take for an option of its own is refused.
static bool add_option(plugin_list_string_t *args, text name, text value, exports_agent_failure_t *refused) {
    if (value.len == 0 || value.ptr[0] == '-') {
        text message = joined(joined(TEXT("`"), value), joined(TEXT("` cannot be the value of "), name));
        message = joined(message, TEXT(": it is empty or begins with a dash"));
        *refused = failure(EXPORTS_AGENT_CATEGORY_VALIDATION, message);
        return false;
    }
    args->ptr[args->len++] = name;
    args->ptr[args->len++] = value;
    return true;
}

// Makes the command line of a turn; false if there is none. The prompt does not belong into it: `begin` writes it to
// standard input. Choose flags with which the CLI never waits for a person.
bool exports_agent_prepare(exports_agent_turn_t *turn, exports_agent_plan_t *plan, exports_agent_failure_t *refused) {
    enum { MOST_ARGS = 5 };
    call_begins();
    *plan = (exports_agent_plan_t){.program = TEXT(PROGRAM), .args = {take(MOST_ARGS * sizeof(text)), 0}};
    if (turn->model.is_some && !add_option(&plan->args, TEXT("--model"), turn->model.val, refused)) return false;
    if (turn->session.is_some && !add_option(&plan->args, TEXT("--resume"), turn->session.val, refused)) return false;
    if (turn->permission == EXPORTS_AGENT_PERMISSION_READ_ONLY) plan->args.ptr[plan->args.len++] = TEXT("--read-only");
    return true;
}

exports_agent_own_transcript_t exports_agent_constructor_transcript(exports_agent_turn_t *turn) {
    (void)turn;
    call_begins();
    for (size_t at = 0; at < TRANSCRIPTS; at++) {
        if (transcripts[at].in_use) continue;
        transcripts[at] = (exports_agent_transcript_t){.in_use = true, .category = EXPORTS_AGENT_CATEGORY_UNKNOWN};
        return (exports_agent_own_transcript_t){new_handle(&transcripts[at])};
    }
    __builtin_trap();
}

void exports_agent_transcript_destructor(exports_agent_transcript_t *transcript) { transcript->in_use = false; }

// The prompt goes to standard input, which is then closed.
void exports_agent_method_transcript_begin(exports_agent_transcript_t *transcript, exports_agent_turn_t *turn,
                                           exports_agent_list_event_t *events) {
    (void)transcript;
    call_begins();
    *events = (exports_agent_list_event_t){take(2 * sizeof(exports_agent_event_t)), 2};
    events->ptr[0] = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_REPLY, .val.reply = turn->prompt};
    events->ptr[1] = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_END_INPUT};
}

// The CLI's error event. The category decides about retry, fallback and the HTTP status.
static void remember_failure(exports_agent_transcript_t *transcript, const json_object *said) {
    text kind = json_string(said, "kind"), message = json_string(said, "message");
    transcript->retry_seconds = json_count(said, "retry_after");
    transcript->category = text_is(kind, "rate_limit") ? EXPORTS_AGENT_CATEGORY_RATE_LIMIT
                           : text_is(kind, "login")    ? EXPORTS_AGENT_CATEGORY_AUTHENTICATION
                                                       : EXPORTS_AGENT_CATEGORY_UNKNOWN;
    size_t length = message.len < ERROR_BYTES ? message.len : ERROR_BYTES;
    // Not within a character: what follows its first byte begins with the bits 10.
    while (length < message.len && length > 0 && (message.ptr[length] & 0xc0) == 0x80) length--;
    memcpy(transcript->error, message.ptr, length);
    transcript->error_length = length;
}

static exports_agent_event_t tool_call(const json_object *said) {
    text input = json_raw(said, "input");
    return (exports_agent_event_t){
        .tag = EXPORTS_AGENT_EVENT_TOOL_CALL,
        .val.tool_call = {json_string(said, "id"), json_string(said, "name"), input.len > 0 ? input : TEXT("{}")}};
}

static exports_agent_event_t tool_result(const json_object *said) {
    bool is_error = text_is(json_raw(said, "is_error"), "true");
    return (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_TOOL_RESULT,
                                   .val.tool_result = {json_string(said, "id"), json_string(said, "output"), is_error}};
}

// The tokens of the run so far: a later record takes the place of an earlier one.
static exports_agent_event_t usage(const json_object *said) {
    return (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_USAGE,
                                   .val.usage = {.scope = EXPORTS_AGENT_USAGE_SCOPE_RUN,
                                                 .input = json_count(said, "input"),
                                                 .output = json_count(said, "output")}};
}

// What one line means; false if it gives no event. Put the events of your CLI here.
static bool read_line(exports_agent_transcript_t *transcript, text line, exports_agent_event_t *event) {
    json_object said;
    if (!json_read(line, &said)) return false;
    text type = json_string(&said, "type");
    if (text_is(type, "session")) {
        *event = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_SESSION, .val.session = json_string(&said, "id")};
    } else if (text_is(type, "text")) {
        *event = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_TEXT, .val.text = json_string(&said, "text")};
    } else if (text_is(type, "tool")) {
        *event = tool_call(&said);
    } else if (text_is(type, "result")) {
        *event = tool_result(&said);
    } else if (text_is(type, "usage")) {
        *event = usage(&said);
    } else if (text_is(type, "done")) { // the turn is over, whatever the process does after it
        *event = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_DONE, .val.done.stop = EXPORTS_AGENT_STOP_END_TURN};
    } else {
        if (text_is(type, "error")) remember_failure(transcript, &said);
        return false; // formats change
    }
    return true;
}

static size_t line_count(text lines) {
    size_t count = 1;
    for (size_t at = 0; at < lines.len; at++) count += lines.ptr[at] == '\n';
    return count;
}

// Whole lines, one or many. The host keeps the end of standard error for the report of a failure.
void exports_agent_method_transcript_output(exports_agent_transcript_t *transcript, exports_agent_stream_name_t source,
                                            text *lines, exports_agent_list_event_t *events) {
    call_begins();
    *events = (exports_agent_list_event_t){NULL, 0};
    if (source == EXPORTS_AGENT_STREAM_NAME_STDERR) return;
    events->ptr = take(line_count(*lines) * sizeof(exports_agent_event_t)); // a line gives one event at most
    uint8_t *at = lines->ptr, *end = lines->ptr + lines->len;
    while (at != end) {
        text line = {at, 0};
        while (at != end && *at != '\n') at++;
        line.len = (size_t)(at - line.ptr);
        if (at != end) at++;
        if (read_line(transcript, line, &events->ptr[events->len])) events->len++;
    }
}

// Why the host ended the process, in words for the client.
static exports_agent_failure_t killed(exports_agent_kill_reason_t reason) {
    switch (reason) {
    case EXPORTS_AGENT_KILL_REASON_TIMEOUT:
    case EXPORTS_AGENT_KILL_REASON_IDLE:
        return failure(EXPORTS_AGENT_CATEGORY_TIMEOUT, TEXT(PROGRAM " took too long and was stopped"));
    case EXPORTS_AGENT_KILL_REASON_CANCELLED:
        return failure(EXPORTS_AGENT_CATEGORY_UNKNOWN, TEXT(PROGRAM " was stopped: cancelled"));
    case EXPORTS_AGENT_KILL_REASON_OUTPUT_LIMIT:
        return failure(EXPORTS_AGENT_CATEGORY_UNKNOWN, TEXT(PROGRAM " was stopped: output-limit"));
    default:
        return failure(EXPORTS_AGENT_CATEGORY_UNKNOWN, TEXT(PROGRAM " was stopped: shutdown"));
    }
}

// What the CLI's error event told, as a failure.
static exports_agent_failure_t told(exports_agent_transcript_t *transcript) {
    text said = {transcript->error, transcript->error_length};
    if (transcript->category == EXPORTS_AGENT_CATEGORY_UNKNOWN) return classify(said); // told in words only
    bool is_login = transcript->category == EXPORTS_AGENT_CATEGORY_AUTHENTICATION;
    text message = is_login ? TEXT(PROGRAM " is not logged in") : TEXT("The provider's rate limit is reached");
    exports_agent_failure_t why = failure(transcript->category, message);
    why.detail = said;
    if (transcript->category == EXPORTS_AGENT_CATEGORY_RATE_LIMIT && transcript->retry_seconds > 0) {
        why.retry.is_some = true;
        why.retry.val.tag = EXPORTS_AGENT_RETRY_HINT_AFTER_MS;
        why.retry.val.val.after_ms = transcript->retry_seconds * 1000;
    }
    return why;
}

// The process ended: the verdict, which counts only if no `done` came.
void exports_agent_method_transcript_exit(exports_agent_transcript_t *transcript, exports_agent_exit_status_t *how,
                                          exports_agent_outcome_t *outcome) {
    call_begins();
    *outcome = (exports_agent_outcome_t){.stop = EXPORTS_AGENT_STOP_END_TURN, .failure.is_some = true};
    if (how->tag == EXPORTS_AGENT_EXIT_STATUS_KILLED) {
        outcome->failure.val = killed(how->val.killed);
    } else if (how->tag == EXPORTS_AGENT_EXIT_STATUS_CODE && how->val.code == 0) {
        outcome->failure.val =
            failure(EXPORTS_AGENT_CATEGORY_UNKNOWN, TEXT(PROGRAM " ended before it had finished its turn"));
    } else {
        outcome->failure.val = told(transcript);
    }
}
