// The CPUs that a process may use, as the kernel writes a list of them: "0-3,8".
#pragma once

#include <sched.h>
#include <stddef.h>

// "" where the list is longer than fits: a part of it would be fewer CPUs than there are.
void cpus_list(const cpu_set_t *set, char *text, size_t size);
