/* bench.h, and the program: one table. */
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include "bench.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

bench_options bench;

/* -- contestants -- */

static char cannot[160];

void bench_cannot(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cannot, sizeof cannot, format, arguments);
    va_end(arguments);
}

int64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(bench.cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void bench_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The other end of a contestant: "ready" or why not, then a line of nanoseconds for each line of input. */
static void answer(const bench_contestant *c)
{
    char line[64];
    void *state = c->prepare(c->with);
    if (!state) {
        printf("%s\n", *cannot ? cannot : "cannot be prepared");
        exit(0);
    }
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        printf("%lld\n", (long long)c->once(state));
        fflush(stdout);
    }
    exit(0);
}

typedef struct running {
    pid_t pid;
    FILE *to, *from; /* NULL: not taking part */
} running;

static int start(const bench_contestant *c, running *r)
{
    int in[2], out[2];
    memset(r, 0, sizeof *r);
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return -1;
    fflush(NULL);
    r->pid = fork();
    if (r->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[0]);
        close(in[1]);
        close(out[0]);
        close(out[1]);
        if (!c->command) answer(c);
        execvp(c->command[0], (char *const *)(uintptr_t)c->command);
        printf("cannot start %s\n", c->command[0]);
        exit(1);
    }
    close(in[0]);
    close(out[1]);
    r->to = fdopen(in[1], "w");
    r->from = fdopen(out[0], "r");
    return r->pid < 0 || !r->to || !r->from ? -1 : 0;
}

static void hang_up(running *r)
{
    if (r->to) fclose(r->to);
    if (r->from) fclose(r->from);
    r->to = r->from = NULL;
}

static void gather(running *r)
{
    if (r->pid > 0) waitpid(r->pid, NULL, 0);
    r->pid = 0;
}

static void leave(running *r, bench_samples *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    s->why[strcspn(s->why, "\n")] = 0;
    s->count = 0;
    if (r->pid > 0) kill(r->pid, SIGKILL);
    hang_up(r);
    gather(r);
}

static void call(running *r, bench_samples *s, int keep)
{
    char line[64];
    int64_t ns;
    if (!r->to) return;
    fputs("go\n", r->to);
    fflush(r->to);
    if (!fgets(line, sizeof line, r->from)) {
        leave(r, s, "stopped");
        return;
    }
    ns = strtoll(line, NULL, 10);
    if (ns < 0)
        leave(r, s, "failed");
    else if (keep)
        s->ns[s->count++] = ns;
}

void bench_round(const bench_contestant *contestants, size_t count, int repeats, bench_samples *samples)
{
    running all[BENCH_MOST];
    size_t i;
    int k;
    memset(samples, 0, count * sizeof *samples);
    for (i = 0; i < count; i++) {
        char line[160];
        samples[i].name = contestants[i].name;
        samples[i].ns = calloc((size_t)repeats, sizeof *samples[i].ns);
        if (!samples[i].ns || start(&contestants[i], &all[i]) != 0 || !fgets(line, sizeof line, all[i].from))
            leave(&all[i], &samples[i], "cannot start");
        else if (strcmp(line, "ready\n") != 0)
            leave(&all[i], &samples[i], line);
    }
    for (k = -1; k < repeats; k++) /* once to get warm */
        for (i = 0; i < count; i++) {
            size_t turn = k & 1 ? count - 1 - i : i;
            call(&all[turn], &samples[turn], k >= 0);
        }
    for (i = 0; i < count; i++) /* all, before waiting: later ones hold the ends of earlier ones */
        hang_up(&all[i]);
    for (i = 0; i < count; i++)
        gather(&all[i]);
}

void bench_samples_free(bench_samples *samples, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        free(samples[i].ns);
}

/* -- the table -- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double load(void)
{
    double values[1] = {0};
    return getloadavg(values, 1) == 1 ? values[0] : 0;
}

static void cells(const char *name, const char *middle, const char *least, const char *unit, const char *anchor,
                  const char *ratio, const char *least_ratio, const char *target, const char *verdict)
{
    printf("%-46s %10s %10s %-10s %-28s %6s %6s %8s %-6s", name, middle, least, unit, anchor, ratio, least_ratio,
           target, verdict);
}

static int rows; /* a table without any is a failure */

static void line_end(void)
{
    rows++;
    printf(" %5.2f\n", load());
    fflush(stdout);
}

static void number(char *to, size_t size, double v)
{
    snprintf(to, size, v >= 1000 ? "%.0f" : v >= 100 ? "%.1f" : v >= 10 ? "%.2f" : "%.3f", v);
}

static void row_head(void)
{
    cells("what", "median", "min", "unit", "anchor", "ratio", "of min", "target", "");
    printf(" %5s\n", "load");
}

void bench_row(const char *name, const bench_samples *s, double per, const char *unit, const bench_samples *anchor,
               double target)
{
    char middle[32], least[32], ratio[32] = "", least_ratio[32] = "", limit[32] = "";
    const char *verdict = "";
    size_t n = anchor && anchor->count < s->count ? anchor->count : s->count, i;
    double *values, *ratios, low = 0, anchor_low = 0, found;
    if (!s->count || (anchor && !anchor->count)) {
        bench_skip(name, s->count ? anchor->why : s->why);
        return;
    }
    values = calloc(n, sizeof *values);
    ratios = calloc(n, sizeof *ratios);
    if (!values || !ratios) abort();
    for (i = 0; i < n; i++) {
        values[i] = (double)s->ns[i] / per;
        low = i && low < values[i] ? low : values[i];
        if (anchor) {
            double a = (double)anchor->ns[i] / per;
            anchor_low = i && anchor_low < a ? anchor_low : a;
            ratios[i] = values[i] / a; /* of the same repeat: what slows both cancels */
        }
    }
    found = median(values, n);
    number(middle, sizeof middle, found);
    number(least, sizeof least, low);
    if (anchor) {
        found = median(ratios, n);
        snprintf(ratio, sizeof ratio, "%.3f", found);
        snprintf(least_ratio, sizeof least_ratio, "%.3f", low / anchor_low);
    }
    if (target > 0) {
        snprintf(limit, sizeof limit, "<= %.4g", target);
        verdict = found <= target ? "ok" : "MISSED";
    }
    cells(name, middle, least, unit, anchor ? anchor->name : "", ratio, least_ratio, limit, verdict);
    line_end();
    free(values);
    free(ratios);
}

void bench_figure(const char *name, double value, const char *unit, double target)
{
    char figure[32], limit[32] = "";
    number(figure, sizeof figure, value);
    if (target > 0) snprintf(limit, sizeof limit, "<= %.4g", target);
    cells(name, figure, "", unit, "", "", "", limit, target > 0 ? value <= target ? "ok" : "MISSED" : "");
    line_end();
}

void bench_skip(const char *name, const char *why)
{
    printf("%-46s not measured: %s\n", name, why);
    fflush(stdout);
}

void bench_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
}

static void machine_line(void)
{
    char line[256], model[128] = "unknown processor";
    FILE *f = fopen("/proc/cpuinfo", "re");
    struct utsname name;
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(model, sizeof model, "%.120s", strchr(line, ':') + 2);
            model[strcspn(model, "\n")] = 0;
            break;
        }
    if (f) fclose(f);
    uname(&name);
    line[0] = 0;
    if (epoch) {
        time_t when = (time_t)strtoll(epoch, NULL, 10);
        struct tm day;
        strftime(line, sizeof line, ", %Y-%m-%d", gmtime_r(&when, &day));
    }
    bench_note("%s, %ld processors, Linux %s%s; netprof %s", model, sysconf(_SC_NPROCESSORS_ONLN), name.release, line,
               netprof_version());
    bench_note("%d repeats in turn, medians; ratio: median of each repeat's ratio to the anchor; of min: ratio of the "
               "shortest; times are %s",
               bench.repeats, bench.cpu ? "processor time" : "elapsed");
}

/* -- the program -- */

static const struct group {
    const char *name, *what;
    void (*run)(void);
} groups[] = {{"snapshot", "reading simulated cxi counters", bench_snapshot},
              {"memory", "resident memory", bench_memory},
              {"links", "network links by netlink and by sysfs", bench_links},
              {"regions", "begin and end of a region", bench_regions},
              {"file", "differences and files", bench_file},
              {"command", "the command netprof", bench_command},
              {"merge", "the region files of a large job", bench_merge},
              {"report", "the command netprof-report", bench_report}};

static int help(FILE *to)
{
    size_t i;
    fprintf(to, "usage: netprof-bench [--only GROUP,...] [--repeats N] [--nics N] [--cpu] [--quick] [--place DIR]\n"
                "                     [--aurora DIR] [--program NETPROF] [--loop BENCH_LOOP.PY]\n"
                "  --cpu    processor time instead of elapsed time: steadier on a busy machine, wrong for threads\n"
                "  --quick  few counters, few repeats: shows that it works, measures nothing\n");
    for (i = 0; i < sizeof groups / sizeof *groups; i++)
        fprintf(to, "  group %-10s %s\n", groups[i].name, groups[i].what);
    return to == stderr ? 2 : 0;
}

static int arguments(int argc, char **argv)
{
    static const struct {
        const char *name;
        const char **text;
        int *number;
    } table[] = {{"--only", &bench.only, NULL},     {"--repeats", NULL, &bench.repeats},
                 {"--nics", NULL, &bench.nics},     {"--place", &bench.place, NULL},
                 {"--aurora", &bench.aurora, NULL}, {"--program", &bench.program, NULL},
                 {"--loop", &bench.loop, NULL}};
    size_t k;
    int i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cpu") == 0 || strcmp(argv[i], "--quick") == 0) {
            *(argv[i][2] == 'c' ? &bench.cpu : &bench.quick) = 1;
            continue;
        }
        for (k = 0; k < sizeof table / sizeof *table; k++)
            if (strcmp(argv[i], table[k].name) == 0) break;
        if (k == sizeof table / sizeof *table || i + 1 == argc) return -1;
        if (table[k].text)
            *table[k].text = argv[++i];
        else
            *table[k].number = atoi(argv[++i]);
    }
    if (!bench.nics) bench.nics = bench.quick ? 1 : 8;
    if (!bench.repeats) bench.repeats = bench.quick ? 2 : 21;
    return bench.nics < 1 || bench.repeats < 1 ? -1 : 0;
}

int main(int argc, char **argv)
{
    size_t i;
    if (argc == 4 && strcmp(argv[1], "--memory-child") == 0) return bench_memory_child(argv[2], atoi(argv[3]));
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return help(stdout);
    bench.self = "/proc/self/exe";
    if (arguments(argc, argv) != 0) return help(stderr);
    signal(SIGPIPE, SIG_IGN);
    if (bench_tree_make() != 0) {
        fprintf(stderr, "netprof-bench: cannot make a simulated node in %s: %s\n", bench.tree, strerror(errno));
        bench_tree_remove();
        return 1;
    }
    machine_line();
    row_head();
    for (i = 0; i < sizeof groups / sizeof *groups; i++)
        if (netprof__listed(bench.only, groups[i].name)) groups[i].run();
    bench_tree_remove();
    return rows ? 0 : 1;
}
