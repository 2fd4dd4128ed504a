#define _GNU_SOURCE
#include "cpus.h"

#include <stdio.h>

void cpus_list(const cpu_set_t *set, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0, end; i < CPU_SETSIZE; i = end + 1) {
        for (end = i; end < CPU_SETSIZE && CPU_ISSET(end, set); end++)
            continue;
        if (end == i) continue;
        used += (size_t)snprintf(text + used, size - used, end > i + 1 ? "%s%zu-%zu" : "%s%zu", used ? "," : "", i,
                                 end - 1);
        if (used >= size) {
            text[0] = 0;
            return;
        }
    }
}
