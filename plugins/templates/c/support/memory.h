// The memory of a plugin without a C library: what a call needs is taken piece by piece from the end of the program, and
// all of it is given back when the host begins the next call. So nothing is freed, and a long run needs no more memory
// than its largest call. What must outlive a call does not belong here: keep it in `static` variables or in fixed-size
// fields, as plugin.c does.
#pragma once
#include <stddef.h>

// Memory until the end of the call. Never null: what there is no room for ends the run.
void *take(size_t size);

// The host has handed over all arguments of a call: what it hands over from now on belongs to the next one. Called first in
// every exported function.
void call_begins(void);
