// Random schemas, snapshots and deltas from a seed: hostile names, every status, stamps with gaps and jumps.
#ifndef NETPROF_TESTS_GENERATE_H
#define NETPROF_TESTS_GENERATE_H

#include "support.h"

#define NAME_ROOM 6000

// The next of a series of names; a third of them count on from the one before, over 9 -> 10 and 99 -> 100.
SUPPORT void generate_name(uint64_t *seed, char *name)
{
    static const char *const stems[] = {"hni_rx_ok_",
                                        "x",
                                        "",
                                        "a.b/c d",
                                        "caf\xc3\xa9",
                                        "\xff\xfe\x80",
                                        "tab\tnew\nline",
                                        "\x01\x1f\x7f",
                                        "\"quoted\\\"",
                                        "port_rcv_data",
                                        "RxTIDFullEr,",
                                        "#2",
                                        "-",
                                        "%s%n"};
    static const char *const endings[] = {"",  "0", "8", "9", "09", "99", "097", "998", "007", "99999999999999999998",
                                          "00"};
    size_t n = strlen(name), first = n;
    const char *ending;
    switch (random_below(seed, 6)) {
    case 0:
        memset(name, 'L', n = 200 + random_below(seed, random_below(seed, 20) ? 400 : 5000));
        name[n] = 0;
        sprintf(name + n, "%d", (int)random_below(seed, 100));
        return;
    case 1:
    case 2:
        ending = endings[random_below(seed, COUNT(endings))]; // in this order, whatever the compiler
        sprintf(name, "%s%s", stems[random_below(seed, COUNT(stems))], ending);
        return;
    case 3:
        for (n = 0; n < 12; n++)
            name[n] = (char)(1 + random_below(seed, 255));
        name[n] = 0;
        return;
    default: // the number after it, in whatever width
        while (first && name[first - 1] >= '0' && name[first - 1] <= '9')
            first--;
        if (first == n || n > NAME_ROOM - 10) {
            sprintf(name, "n%d", (int)random_below(seed, 120));
            return;
        }
        for (size_t i = n; i > first; i--) {
            if (name[i - 1] != '9') {
                name[i - 1]++;
                return;
            }
            name[i - 1] = '0';
        }
        memmove(name + first + 1, name + first, n - first + 1);
        name[first] = '1';
    }
}

SUPPORT void generate_device(uint64_t *seed, uint64_t names_seed, netprof_list *list, size_t counters)
{
    static const char *const units[] = {"", "bytes", "packets", "\xff", "1 = up"};
    static char name[NAME_ROOM];
    int alike = (int)random_below(&names_seed, 3); // runs of the same class, or none
    strcpy(name, "c8");
    for (size_t i = 0; i < counters; i++) {
        netprof_counter c = {.name = name};
        generate_name(&names_seed, name);
        uint64_t class_seed = alike ? names_seed / 7 % 5 : random_next(&names_seed);
        c.unit = units[random_below(&class_seed, COUNT(units))];
        c.kind = (uint8_t)random_below(&class_seed, 4);
        c.width = (uint8_t)random_below(&class_seed, 65);
        c.scale = (uint16_t)(random_below(&class_seed, 4) ? 1 : 1 + random_below(&class_seed, 65535));
        c.flags = (uint16_t)random_below(&class_seed, 32);
        netprof_list_counter(list, &c);
    }
    for (size_t n = random_below(seed, 4); n; n--) {
        char value[32];
        sprintf(value, "value %d \xfe", (int)random_below(seed, 1000));
        generate_name(seed, name);
        netprof_list_fact(list, name, value);
    }
}

SUPPORT const netprof_schema *generate_schema(uint64_t seed, size_t most)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    uint64_t names_seed = random_next(&seed);
    char name[NAME_ROOM] = "d";
    assert_non_null(list);
    netprof_build_fact(list, "host", "generated");
    if (random_below(&seed, 2)) netprof_build_fact(list, "", "\x02");
    for (size_t n = random_below(&seed, 4); n; n--) {
        sprintf(name, "source%d", (int)random_below(&seed, 3));
        netprof_build_source(list, name);
        if (random_below(&seed, 3) == 0) {
            int sys_errno = (int)random_below(&seed, 134);
            netprof_list_state(list, (netprof_status)random_below(&seed, 8), sys_errno, "/a \xff path");
        }
        for (size_t k = random_below(&seed, 4); k; k--) {
            strcpy(name, "cxi9");
            generate_name(&seed, name);
            unsigned flags = (unsigned)random_below(&seed, 4);
            netprof_list_device(list, name, random_below(&seed, 2) ? random_next(&seed) : 0, flags);
            if (random_below(&seed, 2)) names_seed = random_next(&seed); // else the same list as the one before
            generate_device(&seed, names_seed, list, random_below(&seed, most + 1));
        }
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

SUPPORT uint64_t generate_value(uint64_t *seed)
{
    uint64_t any;
    switch (random_below(seed, 6)) {
    case 0: return 0;
    case 1: return random_below(seed, 300);
    case 2: return UINT64_MAX - random_below(seed, 3);
    case 3: return (uint64_t)1 << random_below(seed, 64);
    default: any = random_next(seed); return any >> random_below(seed, 64);
    }
}

// A first snapshot (previous NULL), or one some time later: most values stay. wild: any numbers at all.
SUPPORT void generate_snapshot(uint64_t *seed, const netprof_schema *schema, const netprof_snapshot *previous, int wild,
                               netprof_snapshot *s)
{
    int sane = previous && previous->end_ns > 0 && previous->end_ns < INT64_MAX / 4;
    int64_t clock = sane ? previous->end_ns + 1000000 : (int64_t)random_below(seed, 1000000000);
    int64_t wall = 1700000000000000000 + clock, now = wall;
    assert_int_equal(netprof_snapshot_make(s, schema, NULL), NETPROF_OK);
    s->begin_ns = clock;
    s->wall_ns = wall;
    s->set = random_below(seed, 40) ? NETPROF_SET_ALL : NETPROF_SET_FAST;
    for (size_t d = 0; d < schema->device_count; d++) {
        const netprof_device *device = &schema->devices[d];
        s->device_begin_ns[d] = clock;
        now = wall + (clock - s->begin_ns);
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
            int changed = !previous || random_below(seed, 10) == 0;
            now += 5000 + (int64_t)random_below(seed, 3000);
            if (random_below(seed, 200) == 0) now += 3000000; // the reader was interrupted
            if (random_below(seed, 500) == 0) now -= 9000000; // the clock was set back
            s->status[i] = (uint8_t)(random_below(seed, 15) ? NETPROF_STATUS_OK : random_below(seed, 8));
            if (s->status[i] == NETPROF_STATUS_OK || s->status[i] == NETPROF_STATUS_SATURATED) {
                s->values[i] = changed ? generate_value(seed) : previous->values[i];
                if ((schema->counters[i].flags & NETPROF_STAMPED) && random_below(seed, 30)) s->stamps_ns[i] = now;
                if (wild && s->stamps_ns[i]) s->stamps_ns[i] = (int64_t)random_next(seed);
            } else {
                s->not_ok += s->status[i] != NETPROF_STATUS_SKIPPED;
                s->errnos[i] = (uint8_t)random_below(seed, 134);
            }
        }
        clock += 1000000 + (int64_t)random_below(seed, 100000);
        s->device_end_ns[d] = clock;
    }
    s->end_ns = clock + 10;
    if (wild) {
        s->begin_ns = (int64_t)generate_value(seed);
        s->end_ns = (int64_t)generate_value(seed);
        s->wall_ns = (int64_t)generate_value(seed);
        for (size_t d = 0; d < schema->device_count; d++)
            s->device_end_ns[d] = (int64_t)generate_value(seed);
    }
}

#endif
