// A reader for JSON objects, which allocates memory only for requested strings.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"

// A piece of UTF-8 text. It ends by its length, not by a zero.
typedef plugin_string_t text;

enum { JSON_FIELDS = 32 };

// The fields of an object, as slices of the text. Further fields of a larger object are ignored.
typedef struct {
    size_t count;
    struct {
        text name, value;
    } fields[JSON_FIELDS];
} json_object;

// Reads the object that the line consists of; false if it is anything else, or incomplete.
bool json_read(text line, json_object *object);

// The JSON of a field's value; empty if there is none.
text json_raw(const json_object *object, const char *name);

// The string in a field; empty if there is none. Valid until the end of the call.
text json_string(const json_object *object, const char *name);

// The whole number in a field; 0 if there is none.
uint64_t json_count(const json_object *object, const char *name);

bool text_is(text one, const char *other);
