// The plugin: how {{name}}-cli is started, and what its output means. It has no access to the machine: text goes in,
// values come out. wit/agent.wit defines the values, bindings/plugin.h their names in C.
//
// Change the places with comments, and keep four rules: text of the answer is returned once, even if the CLI repeats it; the
// grouping of the output into calls makes no difference; unknown output is skipped; nothing traps.
//
// There is no C library. Memory comes from `take` and lasts until the end of the call: see support/memory.h.

#include <string.h>

#include "failures.h"
#include "json.h"
#include "memory.h"
#include "plugin.h"

#define PROGRAM "{{name}}-cli"

// A text constant.
#define TEXT(literal) ((text){(uint8_t *)(literal), sizeof(literal) - 1})

enum { TRANSCRIPTS = 16, ERROR_BYTES = 2048 };

// The state of one process. Add the fields that you need between two calls; they outlive the calls, so they hold copies.
struct exports_agent_transcript_t {
    bool in_use;
    exports_agent_category_t category; // of the last error event
    uint64_t retry_seconds;            // 0 if the CLI sent none
    size_t error_length;
    uint8_t error[ERROR_BYTES];
};

// Creates a handle for a transcript. The generated bindings offer it only together with unused code.
__attribute__((import_module("[export]agentbay:plugin/agent@0.1.0"), import_name("[resource-new]transcript")))
int32_t new_handle(exports_agent_transcript_t *transcript);

// The host has one at a time, tests have a few.
static exports_agent_transcript_t transcripts[TRANSCRIPTS];

// Describes the plugin. Every call must return the same value. Fields that are not set are empty.
void exports_agent_describe(exports_agent_description_t *description) {
    static text programs[] = {{(uint8_t *)PROGRAM, sizeof(PROGRAM) - 1}}; // the host starts no other program
    call_begins();
    *description = (exports_agent_description_t){
        .id = TEXT("{{name}}"), // `driver` in proxy.toml
        .name = TEXT("{{name}}"),
        .version = TEXT("0.1.0"),
        .programs = {programs, 1},
        .framing = EXPORTS_AGENT_FRAMING_LINES, // whole lines; TEXT delivers output as printed
        // Declare only what the CLI supports: the host relies on it.
        .features = EXPORTS_AGENT_FEATURES_PARTIAL | EXPORTS_AGENT_FEATURES_TOOLS | EXPORTS_AGENT_FEATURES_RESUME |
                    EXPORTS_AGENT_FEATURES_MODEL_CHOICE | EXPORTS_AGENT_FEATURES_READ_ONLY,
    };
}

// The host replaces an empty detail with standard error.
static exports_agent_failure_t failure(exports_agent_category_t category, text message) {
    return (exports_agent_failure_t){.category = category, .message = message};
}

static text joined(text one, text other) {
    text both = {take(one.len + other.len), one.len + other.len};
    memcpy(both.ptr, one.ptr, one.len);
    memcpy(both.ptr + one.len, other.ptr, other.len);
    return both;
}

// Adds `name value`. A value that the CLI could take for an option is refused.
static bool add_option(plugin_list_string_t *args, text name, text value, exports_agent_failure_t *refused) {
    if (value.len == 0 || value.ptr[0] == '-') {
        text message = joined(joined(TEXT("`"), value), joined(TEXT("` cannot be the value of "), name));
        message = joined(message, TEXT(": it is empty or starts with a dash"));
        *refused = failure(EXPORTS_AGENT_CATEGORY_VALIDATION, message);
        return false;
    }
    args->ptr[args->len++] = name;
    args->ptr[args->len++] = value;
    return true;
}

// Builds the command line of a turn, without the prompt, which `begin` writes to standard input; false if there is none. Choose
// flags with which the CLI never waits for a person.
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

// Writes the prompt to standard input, which is then closed.
void exports_agent_method_transcript_begin(exports_agent_transcript_t *transcript, exports_agent_turn_t *turn,
                                           exports_agent_list_event_t *events) {
    (void)transcript;
    call_begins();
    *events = (exports_agent_list_event_t){take(2 * sizeof(exports_agent_event_t)), 2};
    events->ptr[0] = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_REPLY, .val.reply = turn->prompt};
    events->ptr[1] = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_END_INPUT};
}

// The CLI's error event. The category determines retry, fallback and the HTTP status.
static void remember_failure(exports_agent_transcript_t *transcript, const json_object *said) {
    text kind = json_string(said, "kind"), message = json_string(said, "message");
    transcript->retry_seconds = json_count(said, "retry_after");
    transcript->category = text_is(kind, "rate_limit") ? EXPORTS_AGENT_CATEGORY_RATE_LIMIT
                           : text_is(kind, "login")    ? EXPORTS_AGENT_CATEGORY_AUTHENTICATION
                                                       : EXPORTS_AGENT_CATEGORY_UNKNOWN;
    size_t length = message.len < ERROR_BYTES ? message.len : ERROR_BYTES;
    // Not inside a character: its further bytes start with the bits 10.
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

// The tokens of the run so far: a later record replaces an earlier one.
static exports_agent_event_t usage(const json_object *said) {
    return (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_USAGE,
                                   .val.usage = {.scope = EXPORTS_AGENT_USAGE_SCOPE_RUN,
                                                 .input = json_count(said, "input"),
                                                 .output = json_count(said, "output")}};
}

// Reads one line; false if it has no event. Add the events of your CLI here.
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
    } else if (text_is(type, "done")) { // the turn is over, regardless of what the process does next
        *event = (exports_agent_event_t){.tag = EXPORTS_AGENT_EVENT_DONE, .val.done.stop = EXPORTS_AGENT_STOP_END_TURN};
    } else {
        if (text_is(type, "error")) remember_failure(transcript, &said);
        return false; // unknown: formats change
    }
    return true;
}

static size_t line_count(text lines) {
    size_t count = 1;
    for (size_t at = 0; at < lines.len; at++) count += lines.ptr[at] == '\n';
    return count;
}

// Reads whole lines, one or more. The host keeps the tail of standard error for failures.
void exports_agent_method_transcript_output(exports_agent_transcript_t *transcript, exports_agent_stream_name_t source,
                                            text *lines, exports_agent_list_event_t *events) {
    call_begins();
    *events = (exports_agent_list_event_t){NULL, 0};
    if (source == EXPORTS_AGENT_STREAM_NAME_STDERR) return;
    events->ptr = take(line_count(*lines) * sizeof(exports_agent_event_t)); // a line has at most one event
    uint8_t *at = lines->ptr, *end = lines->ptr + lines->len;
    while (at != end) {
        text line = {at, 0};
        while (at != end && *at != '\n') at++;
        line.len = (size_t)(at - line.ptr);
        if (at != end) at++;
        if (read_line(transcript, line, &events->ptr[events->len])) events->len++;
    }
}

// The message for a process that the host ended.
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

// The last error event as a failure.
static exports_agent_failure_t told(exports_agent_transcript_t *transcript) {
    text said = {transcript->error, transcript->error_length};
    if (transcript->category == EXPORTS_AGENT_CATEGORY_UNKNOWN) return classify(said); // text only
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

// The outcome of a process that has ended. It counts only if there was no `done`.
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
