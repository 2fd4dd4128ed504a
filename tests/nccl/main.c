// nccl-generate: logs as the NCCL Inspector writes them, for benchmarks and for trying things out.
#include "nccl_generate.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct option {
    const char *name, *what;
} names[] = {{"--records", "collective records (100000)"},
             {"--side", "nodes along one side of the grid (2)"},
             {"--rows", "nodes along its other side (as many)"},
             {"--gpus", "ranks of a node (8); there are two ranks at least"},
             {"--seed", "of chance (1)"},
             {"--minor", "version 4.N (0)"},
             {"--packing", ".gz or .zst"},
             {"--late-rank", "a rank that is late"},
             {"--late-node", "a node of which some rank is late"},
             {"--early-rank", "a rank that comes before all others, by as much"},
             {"--late-us", "by so much (200)"},
             {"--late-from", "of ranks: from this share of the run on (0)"},
             {"--spread", "of the arrivals of all, in us (12)"},
             {"--slow-node", "a node with slow links"},
             {"--slow-factor", "by so much (2)"},
             {"--proxy", "1: nested records of proxies, 2: flat, 3: flat, times only (version 4.3 on)"},
             {"--slow-sender", "a rank whose data are slow on the wire"},
             {"--slow-receiver", "a rank for which they are; with both: between the two"},
             {"--slow-gpu", "a rank whose GPU produces data slowly"},
             {"--slow-credit", "a rank whose senders wait for room"},
             {"--slow-flush", "a rank with a slow flush"},
             {"--peer-factor", "by so much (3)"},
             {"--drop", "probability that a record is lost"},
             {"--corrupt", "lines of nonsense"}};

static int usage(void)
{
    fprintf(stderr, "usage: nccl-generate DIRECTORY [OPTION VALUE]...\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(stderr, "  %-14s %s\n", names[i].name, names[i].what);
    return 2;
}

static int set(nccl_generate_plan *p, const char *name, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    bool whole = strcmp(name, "--late-us") && strcmp(name, "--late-from") && strcmp(name, "--spread") &&
                 strcmp(name, "--slow-factor") && strcmp(name, "--peer-factor") && strcmp(name, "--drop");
    if (strcmp(name, "--packing") &&
        (end == value || *end || !(number >= 0) || number > 1e15 || (whole && number != floor(number))))
        return -1;
    if (strcmp(name, "--packing") == 0)
        p->packing = value;
    else if (strcmp(name, "--records") == 0)
        p->records = (uint64_t)number;
    else if (strcmp(name, "--seed") == 0)
        p->seed = (uint64_t)number;
    else if (strcmp(name, "--side") == 0)
        p->side = (int)number;
    else if (strcmp(name, "--rows") == 0)
        p->rows = (int)number;
    else if (strcmp(name, "--gpus") == 0)
        p->gpus = (int)number;
    else if (strcmp(name, "--minor") == 0)
        p->minor = (int)number;
    else if (strcmp(name, "--late-rank") == 0)
        p->late_rank = 1 + (int)number;
    else if (strcmp(name, "--late-node") == 0)
        p->late_node = 1 + (int)number;
    else if (strcmp(name, "--late-us") == 0)
        p->late_us = number;
    else if (strcmp(name, "--late-from") == 0)
        p->late_from = number;
    else if (strcmp(name, "--early-rank") == 0)
        p->early_rank = 1 + (int)number;
    else if (strcmp(name, "--spread") == 0)
        p->spread_us = number;
    else if (strcmp(name, "--slow-node") == 0)
        p->slow_node = 1 + (int)number;
    else if (strcmp(name, "--slow-factor") == 0)
        p->slow_factor = number;
    else if (strcmp(name, "--proxy") == 0)
        p->proxy = (int)number;
    else if (strcmp(name, "--slow-sender") == 0)
        p->slow_sender = 1 + (int)number;
    else if (strcmp(name, "--slow-receiver") == 0)
        p->slow_receiver = 1 + (int)number;
    else if (strcmp(name, "--slow-gpu") == 0)
        p->slow_gpu = 1 + (int)number;
    else if (strcmp(name, "--slow-credit") == 0)
        p->slow_credit = 1 + (int)number;
    else if (strcmp(name, "--slow-flush") == 0)
        p->slow_flush = 1 + (int)number;
    else if (strcmp(name, "--peer-factor") == 0)
        p->peer_factor = number;
    else if (strcmp(name, "--drop") == 0)
        p->drop = number;
    else if (strcmp(name, "--corrupt") == 0)
        p->corrupt = (int)number;
    else
        return -1;
    return 0;
}

// What cannot be meant; NULL: nothing.
static const char *impossible(const nccl_generate_plan *p)
{
    int nodes = p->side * (p->rows ? p->rows : p->side);
    if (p->rows < 0 || p->rows > 1000) return "--rows: expected 1 to 1000";
    if (p->side < 1 || p->side > 1000) return "--side: expected 1 to 1000";
    if (p->gpus < 1 || p->gpus > 1000) return "--gpus: expected 1 to 1000";
    if (nodes * p->gpus < 2) return "one rank has nobody to talk to: expected a larger --side or --gpus";
    if (p->late_rank > nodes * p->gpus) return "--late-rank: there is no such rank";
    if (p->early_rank > nodes * p->gpus) return "--early-rank: there is no such rank";
    if (p->late_node > nodes || p->slow_node > nodes) return "--late-node, --slow-node: there is no such node";
    return NULL;
}

int main(int argc, char **argv)
{
    nccl_generate_plan plan = {.records = 100000,
                               .side = 2,
                               .gpus = 8,
                               .seed = 1,
                               .packing = "",
                               .late_us = 200,
                               .slow_factor = 2,
                               .peer_factor = 3};
    nccl_generate_truth truth;
    if (argc < 2 || argv[1][0] == '-' || argc % 2) return usage();
    plan.directory = argv[1];
    for (int i = 2; i + 1 < argc; i += 2)
        if (set(&plan, argv[i], argv[i + 1])) {
            fprintf(stderr, "nccl-generate: %s %s: not understood\n", argv[i], argv[i + 1]);
            return usage();
        }
    const char *wrong = impossible(&plan);
    if (wrong) {
        fprintf(stderr, "nccl-generate: %s\n", wrong);
        return 2;
    }
    mkdir(plan.directory, 0777);
    if (nccl_generate(&plan, &truth)) {
        perror(plan.directory);
        return 1;
    }
    printf("%d files, %llu records, %llu lost, %llu calls, %llu bytes of lines\n", truth.files,
           (unsigned long long)truth.records, (unsigned long long)truth.dropped, (unsigned long long)truth.instances,
           (unsigned long long)truth.bytes);
    return 0;
}
