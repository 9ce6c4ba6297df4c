// The part of the C library that the generated bindings name. See memory.c.
#pragma once
#include <stddef.h>

void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *memory);
void abort(void);
