// Prints "name calls bytes" for every region in the files that are named, summed over threads and parents.
#include "netprof.h"

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

static void read_file(const char *path)
{
    netprof_reader *reader;
    netprof_error error;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_err failed = netprof_reader_open(&reader, path, NULL, &error);
    while (!failed && item.type != NETPROF_ITEM_END) {
        failed = netprof_reader_next(reader, &item, &error);
        for (size_t i = 0; !failed && item.type == NETPROF_ITEM_REGIONS && i < item.regions->count; i++)
            add(&item.regions->stats[i]);
    }
    if (failed || !item.complete) {
        fprintf(stderr, "regions_of: %s: %s\n", path, failed ? error.text : "not complete");
        exit(1);
    }
    netprof_reader_close(reader);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_file(argv[i]);
    for (const sum *s = sums; *s->name; s++)
        printf("%s %llu %llu\n", s->name, s->calls, s->bytes);
    return 0;
}
