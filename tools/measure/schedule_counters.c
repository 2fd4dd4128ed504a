#include "schedule_counters.h"

static int schedule_counters_missed(void *user, uint64_t *value)
{
    *value = ((const schedule_row *)user)->missed;
    return 0;
}

static int schedule_counters_late(void *user, uint64_t *value)
{
    *value = (uint64_t)((const schedule_row *)user)->late_ns;
    return 0;
}

int schedule_add_counters(netprof *np, schedule_row *row, const char *device)
{
    netprof_user_counter missed = {.device = device,
                                   .name = "ticks_missed",
                                   .unit = "ticks",
                                   .kind = NETPROF_KIND_COUNTER,
                                   .width = 64,
                                   .read = schedule_counters_missed,
                                   .user = row};
    netprof_user_counter late = {.device = device,
                                 .name = "late",
                                 .unit = "ns",
                                 .kind = NETPROF_KIND_GAUGE,
                                 .width = 64,
                                 .read = schedule_counters_late,
                                 .user = row};
    netprof_error error;
    if (netprof_add_counter(np, &missed, &error) || netprof_add_counter(np, &late, &error))
        return fail_error(NULL, &error);
    return EXIT_DONE;
}
