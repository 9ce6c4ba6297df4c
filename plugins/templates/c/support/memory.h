// The memory of a plugin without a C library: a call allocates from the end of the program's data, and the
// next call releases all of it. So nothing is freed, and a long run needs no more memory than its largest call. Data that must
// outlive a call does not belong here: keep it in `static` variables or in fixed-size fields, as plugin.c does.
#pragma once
#include <stddef.h>

// Memory until the end of the call. Never null: without free memory the run ends.
void *take(size_t size);

// Marks that the host has passed all arguments of a call: later allocations belong to the next call. Called first in every
// exported function.
void call_begins(void);
