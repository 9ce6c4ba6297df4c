#include "json.h"

#include <string.h>

#include "memory.h"

// The rest of the input.
typedef struct {
    uint8_t *at, *end;
} cursor;

// The next character; 0 at the end.
static uint8_t peek(const cursor *in) { return in->at == in->end ? 0 : *in->at; }

static bool is_space(uint8_t character) {
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

static void skip_space(cursor *in) {
    while (is_space(peek(in))) in->at++;
}

static bool skip(cursor *in, uint8_t expected) {
    skip_space(in);
    if (peek(in) != expected) return false;
    in->at++;
    return true;
}

// A string; `found` is the content between its quotes.
static bool skip_string(cursor *in, text *found) {
    if (!skip(in, '"')) return false;
    found->ptr = in->at;
    for (; in->at != in->end; in->at++) {
        if (*in->at == '"') {
            found->len = (size_t)(in->at++ - found->ptr);
            return true;
        }
        if (*in->at == '\\' && ++in->at == in->end) return false;
    }
    return false;
}

// A value of any kind. Its content is not validated: brackets are counted, and strings are skipped.
static bool skip_value(cursor *in, text *found) {
    skip_space(in);
    found->ptr = in->at;
    uint8_t *end = in->at; // after the last character that is not white space
    for (size_t depth = 0; in->at != in->end; end = is_space(in->at[-1]) ? end : in->at) {
        uint8_t next = *in->at;
        bool closes = next == '}' || next == ']';
        if (depth == 0 && (closes || next == ',')) {
            found->len = (size_t)(end - found->ptr);
            return found->len > 0;
        }
        text inner;
        if (next == '"') {
            if (!skip_string(in, &inner)) return false;
            continue;
        }
        if (closes) depth--;
        if (next == '{' || next == '[') depth++;
        in->at++;
    }
    return false;
}

bool json_read(text line, json_object *object) {
    cursor in = {line.ptr, line.ptr + line.len};
    object->count = 0;
    if (!skip(&in, '{')) return false;
    bool is_closed = skip(&in, '}');
    while (!is_closed) {
        text name, value;
        if (!skip_string(&in, &name) || !skip(&in, ':') || !skip_value(&in, &value)) return false;
        if (object->count < JSON_FIELDS) {
            object->fields[object->count].name = name;
            object->fields[object->count++].value = value;
        }
        is_closed = skip(&in, '}');
        if (!is_closed && !skip(&in, ',')) return false;
    }
    skip_space(&in);
    return in.at == in.end;
}

bool text_is(text one, const char *other) {
    size_t length = strlen(other);
    return one.len == length && memcmp(one.ptr, other, length) == 0;
}

// Of two fields with the same name the later one counts.
text json_raw(const json_object *object, const char *name) {
    for (size_t left = object->count; left > 0; left--) {
        if (text_is(object->fields[left - 1].name, name)) return object->fields[left - 1].value;
    }
    return (text){NULL, 0};
}

uint64_t json_count(const json_object *object, const char *name) {
    enum { MOST_DIGITS = 15 };
    text digits = json_raw(object, name);
    uint64_t count = 0;
    if (digits.len > MOST_DIGITS) return 0;
    for (size_t at = 0; at < digits.len; at++) {
        if (digits.ptr[at] < '0' || digits.ptr[at] > '9') return 0;
        count = count * 10 + (uint64_t)(digits.ptr[at] - '0');
    }
    return count;
}

// The four hexadecimal digits of \uXXXX; false if they are not.
static bool hex(cursor *in, uint32_t *unit) {
    *unit = 0;
    for (int left = 4; left > 0; left--, in->at++) {
        uint8_t digit = peek(in);
        if (digit >= '0' && digit <= '9') *unit = *unit * 16 + (digit - '0');
        else if ((digit | 32) >= 'a' && (digit | 32) <= 'f') *unit = *unit * 16 + ((digit | 32) - 'a' + 10);
        else return false;
    }
    return true;
}

// Decodes the part after \u. A lone surrogate becomes U+FFFD.
static uint32_t escaped_character(cursor *in) {
    enum { NO_CHARACTER = 0xfffd };
    uint32_t first, second;
    if (!hex(in, &first)) return NO_CHARACTER;
    if (first < 0xd800 || first > 0xdfff) return first;
    cursor ahead = *in;
    if (first >= 0xdc00 || peek(&ahead) != '\\') return NO_CHARACTER;
    ahead.at++;
    if (peek(&ahead) != 'u') return NO_CHARACTER;
    ahead.at++;
    if (!hex(&ahead, &second) || second < 0xdc00 || second > 0xdfff) return NO_CHARACTER;
    *in = ahead;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

static uint8_t *put_character(uint8_t *to, uint32_t character) {
    if (character < 0x80) {
        *to++ = (uint8_t)character;
        return to;
    }
    int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    *to++ = (uint8_t)((0xff00 >> (more + 1)) | (character >> (6 * more)));
    while (more-- > 0) *to++ = (uint8_t)(0x80 | ((character >> (6 * more)) & 0x3f));
    return to;
}

// No escape is shorter than its character, so the text fits into the space of its JSON.
text json_string(const json_object *object, const char *name) {
    text raw = json_raw(object, name);
    cursor value = {raw.ptr, raw.ptr + raw.len};
    if (!skip_string(&value, &raw) || value.at != value.end) return (text){NULL, 0};
    cursor in = {raw.ptr, raw.ptr + raw.len};
    text found = {take(raw.len), 0};
    uint8_t *to = found.ptr;
    while (in.at != in.end) {
        uint8_t next = *in.at++;
        if (next != '\\') {
            *to++ = next;
            continue;
        }
        next = *in.at++; // no string ends with a single backslash
        switch (next) {
        case 'b': *to++ = '\b'; break;
        case 'f': *to++ = '\f'; break;
        case 'n': *to++ = '\n'; break;
        case 'r': *to++ = '\r'; break;
        case 't': *to++ = '\t'; break;
        case 'u': to = put_character(to, escaped_character(&in)); break;
        default: *to++ = next;
        }
    }
    found.len = (size_t)(to - found.ptr);
    return found;
}
