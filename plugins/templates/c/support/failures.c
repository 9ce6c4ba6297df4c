#include "failures.h"

#include <string.h>

#include "memory.h"

typedef struct {
    exports_agent_category_t category;
    const char *message;
    uint16_t statuses[16];
    bool burst_only; // counts only with a short wait
    const char *const *words;
} row;

static const row TABLE[] = {
#include "failure_table.h"
};

enum { ROWS = sizeof(TABLE) / sizeof(*TABLE), RATE_LIMIT_MS = 1000, QUOTA_MS = 60000, BURST_MS = 120000 };

// Words that mark a number as an HTTP status: `port 500` and `429 tokens` are not.
static const char *const BEFORE[] = {"http",     "status",   "code",   "error", "err",  "response", "returned",
                                     "received", "rejected", "failed", "got",   "with", 0};
static const char *const UNITS[] = {"ms",     "s",          "sec",   "seconds", "minutes",
                                    "tokens", "characters", "bytes", "lines",   "times", 0};
static const char *const WAITS[] = {"again", "retry", "wait", "reset", "available", 0};
static const char *const FILLERS[] = {"in", "after", "for", "about", 0};

static bool is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
// Non-ASCII bytes count as letters.
static bool is_word(uint8_t c) { return is_lower(c) || is_upper(c) || is_digit(c) || c >= 0x80; }
static size_t length_of(const char *text) {
    size_t length = 0;
    while (text[length] != 0) length++;
    return length;
}

static bool is_one_of(text word, const char *const *list) {
    for (; *list != 0; list++)
        if (text_is(word, *list)) return true;
    return false;
}

// Letters and digits in lower case, everything else as one space, one before and after each word; camelCase is two words.
static text spaced(text said) {
    text words = {take(2 * said.len + 2), 1};
    words.ptr[0] = ' ';
    for (size_t at = 0; at < said.len; at++) {
        uint8_t c = said.ptr[at];
        bool is_escape = c == '\\' && at + 1 < said.len;
        bool begins = at > 0 && is_upper(c) && is_lower(said.ptr[at - 1]);
        if ((begins || !is_word(c)) && words.ptr[words.len - 1] != ' ') words.ptr[words.len++] = ' ';
        if (is_word(c)) words.ptr[words.len++] = is_upper(c) ? c + 32 : c;
        // The `n` of a line feed in JSON is not a word.
        if (is_escape && (said.ptr[at + 1] == 'n' || said.ptr[at + 1] == 'r' || said.ptr[at + 1] == 't')) at++;
    }
    if (words.ptr[words.len - 1] != ' ') words.ptr[words.len++] = ' ';
    return words;
}

static bool have(text words, const char *phrase) {
    size_t length = length_of(phrase);
    for (size_t at = 1; at + length <= words.len; at++)
        if (words.ptr[at - 1] == ' ' && memcmp(words.ptr + at, phrase, length) == 0) return true;
    return false;
}

// The word at this index, and the start of the next one.
static text word_at(text words, size_t at, size_t *next) {
    text word = {words.ptr + at, 0};
    while (at + word.len < words.len && word.ptr[word.len] != ' ') word.len++;
    *next = at + word.len + 1;
    return word;
}

static bool have_status(text words, uint16_t status) {
    text before[3] = {{0, 0}, {0, 0}, {0, 0}}; // the last one first
    for (size_t at = 1, next; at < words.len; at = next) {
        text word = word_at(words, at, &next);
        bool is_it = word.len == 3 && is_digit(word.ptr[0]) && is_digit(word.ptr[1]) && is_digit(word.ptr[2]) &&
                     (word.ptr[0] - '0') * 100 + (word.ptr[1] - '0') * 10 + word.ptr[2] - '0' == status;
        if (is_it) {
            bool is_told = before[0].len == 0 || is_one_of(before[0], BEFORE);
            for (size_t back = 0; back < 3; back++) is_told = is_told || text_is(before[back], "http");
            size_t behind;
            text unit = next < words.len ? word_at(words, next, &behind) : (text){0, 0};
            if (is_told && !is_one_of(unit, UNITS)) return true;
        }
        before[2] = before[1], before[1] = before[0], before[0] = word;
    }
    return false;
}

static uint64_t unit_ms(text words, size_t *at) {
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    for (size_t unit = 0; unit < sizeof(units) / sizeof(*units); unit++) {
        size_t length = length_of(units[unit].name);
        if (*at + length > words.len || memcmp(words.ptr + *at, units[unit].name, length) != 0) continue;
        while (*at < words.len && is_lower(words.ptr[*at])) (*at)++;
        return units[unit].ms;
    }
    return 0;
}

// "20s", "2m 30s", "3 hours" at this index, in milliseconds; 0 if there is none. Fractions are ignored.
static uint64_t duration(text words, size_t at) {
    uint64_t total = 0;
    while (at < words.len && is_digit(words.ptr[at])) {
        uint64_t number = 0;
        for (; at < words.len && is_digit(words.ptr[at]); at++)
            if (number < 1000000) number = number * 10 + words.ptr[at] - '0';
        if (at < words.len && words.ptr[at] == ' ') at++;
        uint64_t unit = unit_ms(words, &at);
        if (unit == 0) break;
        total += number * unit;
        if (at < words.len && words.ptr[at] == ' ') at++;
    }
    return total;
}

// "try again in 20s", "retry after 2m 30s", "resets in 3 hours": the milliseconds; 0 if there is none.
static uint64_t wait_of(text words) {
    for (size_t at = 1, next; at < words.len; at = next) {
        text word = word_at(words, at, &next);
        bool waits = false;
        for (const char *const *known = WAITS; *known != 0; known++) {
            size_t length = length_of(*known);
            waits = waits || (word.len >= length && memcmp(word.ptr, *known, length) == 0);
        }
        if (!waits) continue;
        size_t place = next;
        while (place < words.len) {
            size_t behind;
            if (!is_one_of(word_at(words, place, &behind), FILLERS)) break;
            place = behind;
        }
        uint64_t ms = place < words.len ? duration(words, place) : 0;
        if (ms > 0) return ms;
    }
    return 0;
}

static bool fits(const row *row, text words, uint64_t wait) {
    if (row->burst_only && (wait == 0 || wait > BURST_MS)) return false;
    for (const char *const *phrase = row->words; *phrase != 0; phrase++)
        if (have(words, *phrase)) return true;
    for (const uint16_t *status = row->statuses; *status != 0; status++)
        if (have_status(words, *status)) return true;
    return false;
}

exports_agent_failure_t classify(text said) {
    static const char UNKNOWN[] = "CLI failed";
    text words = spaced(said);
    uint64_t wait = wait_of(words);
    exports_agent_failure_t failure = {.category = EXPORTS_AGENT_CATEGORY_UNKNOWN,
                                       .message = {(uint8_t *)UNKNOWN, sizeof(UNKNOWN) - 1},
                                       .detail = said};
    for (size_t at = 0; at < ROWS; at++) {
        if (!fits(&TABLE[at], words, wait)) continue;
        failure.category = TABLE[at].category;
        failure.message = (text){(uint8_t *)TABLE[at].message, length_of(TABLE[at].message)};
        break;
    }
    uint64_t ms = wait;
    if (failure.category == EXPORTS_AGENT_CATEGORY_RATE_LIMIT && ms == 0) ms = RATE_LIMIT_MS;
    bool is_told = failure.category == EXPORTS_AGENT_CATEGORY_RATE_LIMIT ||
                   failure.category == EXPORTS_AGENT_CATEGORY_SERVER ||
                   failure.category == EXPORTS_AGENT_CATEGORY_TIMEOUT ||
                   (failure.category == EXPORTS_AGENT_CATEGORY_QUOTA && ms >= QUOTA_MS);
    if (is_told && ms > 0) {
        failure.retry.is_some = true;
        failure.retry.val.tag = EXPORTS_AGENT_RETRY_HINT_AFTER_MS;
        failure.retry.val.val.after_ms = ms;
    }
    return failure;
}
