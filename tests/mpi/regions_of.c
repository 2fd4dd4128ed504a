// Prints "name calls bytes" for every region in the files that are named, summed over threads and parents; with --peers
// instead "peer RANK sent BYTES MESSAGES got BYTES" for every row of whom it sent to, with --lasts "RANK receives" and "RANK
// sends" for those whose messages it waited for, and that it waited for to take one.
#include "netprof.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sum {
    char name[64];
    unsigned long long calls, bytes;
} sum;

static sum sums[1000];

static void add(const netprof_stat *s)
{
    sum *to = sums;
    while (*to->name && strcmp(to->name, s->region) != 0)
        to++;
    if (to == sums + sizeof sums / sizeof *sums - 1 || strlen(s->region) >= sizeof to->name) abort();
    strcpy(to->name, s->region);
    to->calls += s->calls;
    to->bytes += s->bytes;
}

static long long cell(const netprof_events *e, const char *name, size_t row)
{
    for (size_t i = 0; i < e->column_count; i++)
        if (strcmp(e->columns[i].name, name) == 0) return e->columns[i].numbers[row];
    fprintf(stderr, "regions_of: no column %s\n", name);
    exit(1);
}

static void print_peers(const netprof_events *e)
{
    for (size_t i = 0; i < e->count; i++)
        if (cell(e, "sends", i) || cell(e, "gets", i))
            printf("peer %lld sent %lld %lld got %lld\n", cell(e, "peer", i), cell(e, "sent_bytes", i),
                   cell(e, "sends", i), cell(e, "got_bytes", i));
}

static void print_lasts(const netprof_events *e)
{
    for (size_t i = 0; i < e->count; i++) {
        if (cell(e, "timed_receives", i)) printf("%lld receives\n", cell(e, "peer", i));
        if (cell(e, "timed_sends", i)) printf("%lld sends\n", cell(e, "peer", i));
    }
}

static void read_file(const char *path, void (*print)(const netprof_events *e))
{
    netprof_reader *reader;
    netprof_error error;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_err failed = netprof_reader_open(&reader, path, NULL, &error);
    while (!failed && item.type != NETPROF_ITEM_END) {
        failed = netprof_reader_next(reader, &item, &error);
        for (size_t i = 0; !failed && item.type == NETPROF_ITEM_REGIONS && i < item.regions->count; i++)
            add(&item.regions->stats[i]);
        if (!failed && print && item.type == NETPROF_ITEM_EVENTS && strcmp(item.events->kind, "mpi.peers") == 0)
            print(item.events);
    }
    if (failed || !item.complete) {
        fprintf(stderr, "regions_of: %s: %s\n", path, failed ? error.text : "not complete");
        exit(1);
    }
    netprof_reader_close(reader);
}

int main(int argc, char **argv)
{
    void (*print)(const netprof_events *e) = argc < 2                          ? NULL
                                             : strcmp(argv[1], "--peers") == 0 ? print_peers
                                             : strcmp(argv[1], "--lasts") == 0 ? print_lasts
                                                                               : NULL;
    for (int i = print ? 2 : 1; i < argc; i++)
        read_file(argv[i], print);
    for (const sum *s = sums; !print && *s->name; s++)
        printf("%s %llu %llu\n", s->name, s->calls, s->bytes);
    return 0;
}
