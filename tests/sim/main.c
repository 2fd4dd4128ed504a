#include "sim.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "netprof-sim create ROOT [--nics N] [--asic c1|c2] [--seed N] [--host NAME] [--start SECONDS]\n"
    "                        [--global-pause] [--no-retry-handler] [--no-foreign-files]\n"
    "netprof-sim step ROOT --seconds S [--scenario NAME[,NAME]] [--nic N]... [--row [NIC:]TARGET=FORMULA]...\n"
    "netprof-sim run ROOT --seconds S [--interval S] [--scenario NAME[,NAME]] [--nic N]...\n"
    "netprof-sim fault ROOT KIND PATTERN... [--nic N]   telemetry name, rh:NAME, net:NAME or "
    "properties/NAME\n"
    "netprof-sim remove|restore ROOT --nic N...         take the device out of the tree, bring it back\n"
    "netprof-sim set ROOT NAME VALUE --nic N\n"
    "netprof-sim get ROOT NAME --nic N\n"
    "netprof-sim scenarios | faults                     what there is, with a sentence each\n";

enum { most_nics = 1024, most_rows = 64 };

typedef struct arguments {
    sim_options create;
    sim_step_options step;
    double interval;
    int nics[most_nics];
    sim_row rows[most_rows];
    char *const *rest; /* ROOT and what follows */
    int rest_count;
} arguments;

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static int complain(const char *what, const char *text, int err)
{
    fprintf(stderr, "netprof-sim: %s%s%s%s%s\n", what, text ? ": " : "", text ? text : "", err ? ": " : "",
            err ? strerror(-err) : "");
    return err ? 1 : 2;
}

static int parse_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && *out >= 0 ? 0 : -EINVAL;
}

/* [NIC:]TARGET=FORMULA; a target may have a colon of its own ("rh:nacks"). */
static int take_row(arguments *a, char *text)
{
    char *end, *equal = strchr(text, '=');
    if (!equal || a->step.row_count == most_rows) return -EINVAL;
    long nic = strtol(text, &end, 10);
    int named = end != text && *end == ':';
    *equal = 0;
    a->rows[a->step.row_count++] =
        (sim_row){.target = named ? end + 1 : text, .formula = equal + 1, .nic = named ? (int)nic : -1};
    a->step.rows = a->rows;
    return 0;
}

static int take_option(arguments *a, int option, char *text)
{
    double number = 0;
    if (strchr("nsSti", option) && parse_number(text, &number) != 0) return -EINVAL;
    switch (option) {
    case 'N': a->create.nics = atoi(text); return a->create.nics > 0 ? 0 : -EINVAL;
    case 'a': a->create.asic = strcmp(text, "c1") == 0 ? 1 : strcmp(text, "c2") == 0 ? 2 : -1; break;
    case 's': a->create.seed = strtoull(text, NULL, 10); break;
    case 'h': a->create.host = text; break;
    case 't': a->create.start_ns = (int64_t)number * 1000000000; break;
    case 'g': a->create.global_pause = 1; break;
    case 'r': a->create.no_retry_handler = 1; break;
    case 'f': a->create.no_foreign_files = 1; break;
    case 'S': a->step.seconds = number; break;
    case 'i': a->interval = number; break;
    case 'R': return take_row(a, text);
    case 'c': a->step.scenario = text; break;
    case 'n':
        if (a->step.nic_count == most_nics || number >= most_nics) return -EINVAL;
        a->nics[a->step.nic_count++] = (int)number;
        a->step.nics = a->nics;
        break;
    default: return -EINVAL;
    }
    return a->create.asic < 0 ? -EINVAL : 0;
}

static int parse(int count, char **words, arguments *a)
{
    static const struct option options[] = {{"nics", 1, NULL, 'N'},
                                            {"asic", 1, NULL, 'a'},
                                            {"seed", 1, NULL, 's'},
                                            {"host", 1, NULL, 'h'},
                                            {"start", 1, NULL, 't'},
                                            {"global-pause", 0, NULL, 'g'},
                                            {"no-retry-handler", 0, NULL, 'r'},
                                            {"no-foreign-files", 0, NULL, 'f'},
                                            {"seconds", 1, NULL, 'S'},
                                            {"interval", 1, NULL, 'i'},
                                            {"scenario", 1, NULL, 'c'},
                                            {"nic", 1, NULL, 'n'},
                                            {"row", 1, NULL, 'R'},
                                            {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(count, words, "", options, NULL)) != -1;) {
        if (option == '?') return 2;
        if (take_option(a, option, optarg) != 0) return complain("cannot use option value", optarg, 0);
    }
    a->rest = words + optind;
    a->rest_count = count - optind;
    return 0;
}

static int run_create(sim *unused, arguments *a)
{
    (void)unused;
    return sim_create(a->rest[0], &a->create);
}

static int run_step(sim *s, arguments *a)
{
    return sim_step(s, &a->step);
}

static double monotonic_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Steps at start + interval, start + 2 interval, ...; those that come too late are left out. */
static int run_run(sim *s, arguments *a)
{
    double interval = a->interval > 0 ? a->interval : 0.1;
    a->step.real_clock = 1;
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    int err = sim_sync_clock(s);
    double start = monotonic_seconds(), end = start + a->step.seconds, next = start + interval;
    while (err == 0 && !stopped && next < end + interval / 2) {
        double wait = next - monotonic_seconds();
        if (wait > 0) {
            double whole = (double)(time_t)wait;
            struct timespec pause = {.tv_sec = (time_t)wait, .tv_nsec = (long)((wait - whole) * 1e9)};
            if (nanosleep(&pause, NULL) != 0) continue;
        }
        err = sim_step(s, &a->step);
        a->step.continued = 1;
        while (next < monotonic_seconds())
            next += interval;
    }
    return err;
}

static int run_fault(sim *s, arguments *a)
{
    int err = 0;
    for (int i = 2; i < a->rest_count && err == 0; i++) {
        for (int k = 0; k < a->step.nic_count && err == 0; k++)
            err = sim_fault(s, a->nics[k], a->rest[1], a->rest[i]);
        if (a->step.nic_count == 0) err = sim_fault(s, -1, a->rest[1], a->rest[i]);
    }
    return err;
}

static int for_each_nic(sim *s, const arguments *a, int (*action)(sim *, int))
{
    int err = a->step.nic_count ? 0 : -EINVAL;
    for (int i = 0; i < a->step.nic_count && err == 0; i++)
        err = action(s, a->nics[i]);
    return err;
}

static int run_remove(sim *s, arguments *a)
{
    return for_each_nic(s, a, sim_remove);
}

static int run_restore(sim *s, arguments *a)
{
    return for_each_nic(s, a, sim_restore);
}

static int run_set(sim *s, arguments *a)
{
    char *end;
    uint64_t value = strtoull(a->rest[2], &end, 0);
    return *end || a->step.nic_count != 1 ? -EINVAL : sim_set(s, a->nics[0], a->rest[1], value);
}

static int run_get(sim *s, arguments *a)
{
    uint64_t value;
    int err = a->step.nic_count == 1 ? sim_get(s, a->nics[0], a->rest[1], &value) : -EINVAL;
    if (err == 0) printf("%" PRIu64 "\n", value);
    return err;
}

static void print_table(const char *(*name)(int), const char *(*sentence)(int))
{
    for (int i = 0; name(i); i++)
        printf("%-22s%s\n", name(i), sentence(i));
}

static const struct {
    const char *name;
    int words; /* at least, with ROOT */
    int needs_tree;
    int (*run)(sim *, arguments *);
} commands[] = {{"create", 1, 0, run_create}, {"step", 1, 1, run_step},     {"run", 1, 1, run_run},
                {"fault", 3, 1, run_fault},   {"remove", 1, 1, run_remove}, {"restore", 1, 1, run_restore},
                {"set", 3, 1, run_set},       {"get", 2, 1, run_get}};

int main(int argc, char **argv)
{
    arguments a = {.create = {.nics = 8}};
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "scenarios") == 0) return print_table(sim_scenario_name, sim_scenario_sentence), 0;
    if (strcmp(command, "faults") == 0) return print_table(sim_fault_name, sim_fault_sentence), 0;
    size_t i = 0, count = sizeof commands / sizeof *commands;
    while (i < count && strcmp(commands[i].name, command) != 0)
        i++;
    if (i == count) return fputs(usage, stderr), 2;
    if (parse(argc - 1, argv + 1, &a) != 0) return 2;
    if (a.rest_count < commands[i].words) return fputs(usage, stderr), 2;
    sim *s = NULL;
    if (commands[i].needs_tree && !(s = sim_open(a.rest[0]))) return complain(command, a.rest[0], -errno);
    int err = commands[i].run(s, &a), closed = sim_close(s);
    return err || closed ? complain(command, a.rest[0], err ? err : closed) : 0;
}
