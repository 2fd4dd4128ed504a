// Prints "name calls bytes" for every region in the files that are named, summed over threads and parents; with --peers
// instead "peer RANK sent BYTES MESSAGES got BYTES" for every row of whom it sent to.
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

static void read_file(const char *path, bool peers)
{
    netprof_reader *reader;
    netprof_error error;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_err failed = netprof_reader_open(&reader, path, NULL, &error);
    while (!failed && item.type != NETPROF_ITEM_END) {
        failed = netprof_reader_next(reader, &item, &error);
        for (size_t i = 0; !failed && item.type == NETPROF_ITEM_REGIONS && i < item.regions->count; i++)
            add(&item.regions->stats[i]);
        if (!failed && peers && item.type == NETPROF_ITEM_EVENTS && strcmp(item.events->kind, "mpi.peers") == 0)
            print_peers(item.events);
    }
    if (failed || !item.complete) {
        fprintf(stderr, "regions_of: %s: %s\n", path, failed ? error.text : "not complete");
        exit(1);
    }
    netprof_reader_close(reader);
}

int main(int argc, char **argv)
{
    bool peers = argc > 1 && strcmp(argv[1], "--peers") == 0;
    for (int i = 1 + peers; i < argc; i++)
        read_file(argv[i], peers);
    for (const sum *s = sums; !peers && *s->name; s++)
        printf("%s %llu %llu\n", s->name, s->calls, s->bytes);
    return 0;
}
