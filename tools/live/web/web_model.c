#define _GNU_SOURCE
#include "web_model.h"

#include <time.h>

int64_t web_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

const char *web_severity_word(web_severity s)
{
    static const char *const words[] = {"ok", "info", "unknown", "watch", "bad"};
    return words[s];
}
