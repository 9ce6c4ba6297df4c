#include "memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 65536, ALIGNMENT = 8 };

extern unsigned char __heap_base; // set by the linker: the end of the program's data

static uintptr_t next; // the start of the next piece; 0 at the start of a call
static bool is_over;   // the next allocation belongs to a new call

void *take(size_t size) {
    if (next == 0) next = ((uintptr_t)&__heap_base + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    uintptr_t end = (uintptr_t)__builtin_wasm_memory_size(0) * PAGE;
    if (size > SIZE_MAX - ALIGNMENT - next) abort();
    uintptr_t wanted = (next + size + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    if (wanted > end && __builtin_wasm_memory_grow(0, (wanted - end + PAGE - 1) / PAGE) == SIZE_MAX) abort();
    void *piece = (void *)next;
    next = wanted;
    return piece;
}

void call_begins(void) { is_over = true; }

// The host allocates memory for the arguments of a call with this.
__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
    (void)align; // no type of the contract needs more than 8
    if (is_over) {
        is_over = false;
        next = 0;
    }
    void *new = take(size);
    if (old_size != 0) memcpy(new, old, old_size < size ? old_size : size);
    return new;
}

void *malloc(size_t size) { return take(size); }
void free(void *memory) { (void)memory; }
void abort(void) { __builtin_trap(); }

// The bindings allocate memory with it, and never grow a piece.
void *realloc(void *old, size_t size) {
    if (old != NULL) abort();
    return take(size);
}

void *memcpy(void *to, const void *from, size_t size) {
    for (size_t at = 0; at < size; at++) ((unsigned char *)to)[at] = ((const unsigned char *)from)[at];
    return to;
}

void *memset(void *to, int byte, size_t size) {
    for (size_t at = 0; at < size; at++) ((unsigned char *)to)[at] = (unsigned char)byte;
    return to;
}

int memcmp(const void *one, const void *other, size_t size) {
    for (size_t at = 0; at < size; at++) {
        int difference = ((const unsigned char *)one)[at] - ((const unsigned char *)other)[at];
        if (difference != 0) return difference;
    }
    return 0;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length] != '\0') length++;
    return length;
}

// The bindings refer to an object file with the contract. The linker reads wit/agent.wit itself.
void __component_type_object_force_link_plugin(void) {}
