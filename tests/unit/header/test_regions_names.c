// What the file of a program's regions is called: the codes of NETPROF_OUTPUT, what is not known, and what keeps the ranks of a
// job apart.
#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#include <sys/wait.h>

// What launchers say; all others are taken away.
static const char *const launchers[] = {
    "SLURM_JOB_ID",         "SLURM_PROCID",         "SLURM_NTASKS", "PBS_JOBID", "LSB_JOBID",
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",     "PMI_SIZE",  "PMIX_RANK",
    "PALS_RANKID",          "NETPROF_RANK",         "NETPROF_JOB",  "JOB_ID"};

typedef struct named {
    const char *output;         // NETPROF_OUTPUT below the directory of the test
    const char *environment[3]; // "NAME=value"
    const char *name;           // that the file has; %p and %h are put in
} named;

static const named all[] = {
    {"%j-%p.netprof", {"SLURM_JOB_ID=77"}, "77-%p.netprof"},
    {"%h.%p", {NULL}, "%h.%p"},
    // Of what is not known the separator before it goes, too.
    {"n-%j-%p.netprof", {NULL}, "n-%p.netprof"},
    {"n_%j.%r.%p", {"SLURM_JOB_ID=5"}, "n_5.%p"},
    {"%j-%p.netprof", {NULL}, "0-%p.netprof"},
    {"n%j.netprof", {NULL}, "n0.netprof"},
    // A job's name leads to no other directory, and brings no control characters.
    {"%j.netprof", {"PBS_JOBID=1/../2.server"}, "1_.._2.server.netprof"},
    {"%j.netprof", {"PBS_JOBID=1\n2"}, "1_2.netprof"},
    // Ranks without a code of their own are kept apart before the ending; a program alone is not.
    {"a.netprof", {"SLURM_PROCID=3", "SLURM_NTASKS=4"}, "a-3.netprof"},
    {"a.netprof", {"SLURM_PROCID=0", "SLURM_NTASKS=4"}, "a-0.netprof"},
    {"a.netprof", {"SLURM_PROCID=0", "SLURM_NTASKS=1"}, "a.netprof"},
    {"a.netprof", {NULL}, "a.netprof"},
    {"a", {"SLURM_PROCID=2", "SLURM_NTASKS=4"}, "a-2"},
    {"a%r.netprof", {"SLURM_PROCID=5", "SLURM_NTASKS=8"}, "a5.netprof"},
    {"a-%p.netprof", {"SLURM_PROCID=5", "SLURM_NTASKS=8"}, "a-%p.netprof"},
    // %% is a percent sign, and what follows it no code.
    {"100%%.netprof", {NULL}, "100%.netprof"},
    {"x%%p.netprof", {"SLURM_PROCID=3", "SLURM_NTASKS=4"}, "x%p-3.netprof"},
    {"x%%r.netprof", {"SLURM_PROCID=3", "SLURM_NTASKS=4"}, "x%r-3.netprof"},
    {"x%", {NULL}, "x%"},
    // A directory takes a file of the usual name.
    {"", {"SLURM_JOB_ID=9", "SLURM_PROCID=1"}, "netprof-9-1-%h-%p.netprof"},
    {"", {NULL}, "netprof-%h-%p.netprof"},
};

// "%p" and "%h" of the expectation, unless a percent sign is meant: then the pattern has "%%".
static void put_in(char *to, size_t size, const named *n, pid_t child)
{
    char host[256];
    int plain = strstr(n->output, "%%") != NULL;
    *to = 0;
    assert_int_equal(gethostname(host, sizeof host), 0);
    for (const char *p = n->name; *p; p++) {
        size_t at = strlen(to);
        if (!plain && p[0] == '%' && p[1] == 'p')
            snprintf(to + at, size - at, "%ld", (long)child), p++;
        else if (!plain && p[0] == '%' && p[1] == 'h')
            snprintf(to + at, size - at, "%s", host), p++;
        else
            snprintf(to + at, size - at, "%c", *p);
    }
}

// In a process of its own: the environment is asked once.
static void be_program(const named *n, const char *place)
{
    char output[400];
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        unsetenv(launchers[i]);
    for (size_t i = 0; i < 3 && n->environment[i]; i++) {
        char name[64];
        const char *value = strchr(n->environment[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(value - n->environment[i]), n->environment[i]);
        setenv(name, value + 1, 1);
    }
    snprintf(output, sizeof output, "%s/%s", place, n->output);
    setenv("NETPROF_OUTPUT", output, 1);
    unsetenv("NETPROF");
    setenv("NETPROF_QUIET", "1", 1);
    NETPROF_BEGIN("work");
    NETPROF_END("work");
    _exit(netprof_flush(NULL) ? 1 : 0);
}

static void check(const named *n)
{
    char place[] = "/tmp/netprof-names-XXXXXX", expected[400], path[800];
    int status;
    assert_non_null(mkdtemp(place));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) be_program(n, place);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status) fail_msg("%s: status %#x", n->output, (unsigned)status);
    put_in(expected, sizeof expected, n, child);
    size_t files = 0;
    DIR *d = opendir(place);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (*e->d_name == '.') continue;
        if (strcmp(e->d_name, expected) != 0) fail_msg("%s: %s instead of %s", n->output, e->d_name, expected);
        snprintf(path, sizeof path, "%s/%s", place, e->d_name);
        assert_int_equal(unlink(path), 0);
        files++;
    }
    closedir(d);
    assert_int_equal(files, 1);
    assert_int_equal(rmdir(place), 0);
}

static void files_are_called_as_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(&all[i]);
}

// What the launcher calls a run: the first that says so, in this order.
static void runs_are_named_by_the_launcher(void **state)
{
    static const struct {
        const char *environment[3], *run;
    } runs[] = {
        {{NULL}, ""},
        {{"NETPROF_RUN=mine"}, "given mine"},
        {{"NETPROF_RUN=", "PALS_APID=7"}, "pals 7"},
        {{"NETPROF_RUN=mine", "PMIX_NAMESPACE=ns1", "SLURM_JOB_ID=5"}, "given mine"},
        {{"PMIX_NAMESPACE=131073"}, "pmix 2"}, // Open MPI 4: 2 * 65536 + 1, the second part of one run
        {{"PMIX_NAMESPACE=131072"}, "pmix 2"},
        {{"PMIX_NAMESPACE=65535"}, "pmix 0"},
        {{"PMIX_NAMESPACE=prterun-h1-77@1"}, "pmix prterun-h1-77"},
        {{"PMIX_NAMESPACE=1a"}, "pmix 1a"},
        {{"PMIX_NAMESPACE=ns1", "SLURM_JOB_ID=5", "SLURM_STEP_ID=2"}, "pmix ns1"},
        {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=2"}, "slurm 5.2"},
        {{"SLURM_JOB_ID=5"}, ""}, // a job has many runs
        {{"SLURM_STEP_ID=2"}, ""},
        {{"SLURM_JOB_ID=5", "SLURM_STEP_ID=2", "PALS_APID=7"}, "slurm 5.2"},
        {{"PALS_APID=7", "FLUX_JOB_ID=8"}, "pals 7"},
        {{"FLUX_JOB_ID=8", "ALPS_APP_ID=9"}, "flux 8"},
        {{"ALPS_APP_ID=9"}, "alps 9"},
        {{"PALS_APID=", "ALPS_APP_ID=9"}, "alps 9"},
    };
    static const char *const variables[] = {"NETPROF_RUN", "PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                            "PALS_APID",   "FLUX_JOB_ID",    "ALPS_APP_ID"};
    (void)state;
    for (size_t i = 0; i < COUNT(runs); i++) {
        char text[64] = "left", copies[3][64];
        for (size_t k = 0; k < COUNT(variables); k++)
            unsetenv(variables[k]);
        for (size_t k = 0; k < 3 && runs[i].environment[k]; k++) {
            snprintf(copies[k], sizeof copies[k], "%s", runs[i].environment[k]);
            char *equal = strchr(copies[k], '=');
            *equal = 0;
            setenv(copies[k], equal + 1, 1);
        }
        netprof__run_text(text, sizeof text);
        if (strcmp(text, runs[i].run) != 0) fail_msg("case %zu: %s, expected %s", i, text, runs[i].run);
    }
    strcpy(netprof__regions_state.hydra, "abc"); // MPICH's, where nobody else says it
    char text[64];
    for (size_t k = 0; k < COUNT(variables); k++)
        unsetenv(variables[k]);
    netprof__run_text(text, sizeof text);
    assert_string_equal(text, "hydra abc");
    setenv("FLUX_JOB_ID", "8", 1);
    netprof__run_text(text, sizeof text);
    assert_string_equal(text, "flux 8");
    netprof__regions_state.hydra[0] = 0;
    unsetenv("FLUX_JOB_ID");
}

// proc(5): 4 the parent, 5 the process group, 6 the session, 22 when it began.
static void fields_of_a_process(void **state)
{
    (void)state;
    assert_int_equal(netprof__process_field(getpid(), 4), getppid());
    assert_int_equal(netprof__process_field(getpid(), 5), getpgrp());
    assert_int_equal(netprof__process_field(getpid(), 6), getsid(0));
    assert_int_equal(netprof__process_field(getpid(), 3), 0); // a letter
    assert_true(netprof__process_field(getpid(), 22) > 0);
    assert_int_equal(netprof__process_field(getpid(), 22), netprof__process_field(getpid(), 22));
    assert_int_equal(netprof__process_field(getpid(), 100), 0); // there are not so many
    assert_int_equal(netprof__process_field(-1, 4), 0);
}

// All facts that a rank's file begins with, in their order.
static void read_facts(const char *path, char *text, size_t size)
{
    netprof_reader *reader = NULL;
    netprof_item item;
    size_t at = 0;
    assert_int_equal(netprof_reader_open(&reader, path, NULL, NULL), NETPROF_OK);
    do {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        if (item.type == NETPROF_ITEM_FACT)
            at += (size_t)snprintf(text + at, size - at, "%s=%s\n", item.fact->key, item.fact->value);
        assert_true(at < size);
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
}

static void facts_of_a_rank(void **state)
{
    const named rank = {"facts.netprof", {"SLURM_JOB_ID=77", "SLURM_PROCID=3", "SLURM_NTASKS=8"}, "facts-3.netprof"};
    char place[] = "/tmp/netprof-names-XXXXXX", path[400], text[2000], expected[2000], host[256];
    int status, ends[2];
    unsigned long long started;
    (void)state;
    assert_non_null(mkdtemp(place));
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        started = netprof__process_field(getpid(), 22);
        if (write(ends[1], &started, sizeof started) != sizeof started) _exit(2);
        setenv("SLURM_STEP_ID", "4", 1);
        setenv("SLURM_LOCALID", "1", 1);
        be_program(&rank, place);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &started, sizeof started), sizeof started);
    close(ends[0]);
    close(ends[1]);
    snprintf(path, sizeof path, "%s/%s", place, rank.name);
    read_facts(path, text, sizeof text);
    snprintf(expected, sizeof expected,
             "netprof=" NETPROF_VERSION_STRING "\nhost=%s\npid=%ld\ncommand=%.15s\njob=77\nrank=3\nlocal_rank=1\n"
             "rank_count=8\nrun=slurm 77.4\nprocess_start=%llu\n",
             host, (long)child, program_invocation_short_name, started);
    if (strncmp(text, expected, strlen(expected)) != 0) fail_msg("made:\n%s\nexpected:\n%s", text, expected);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(place), 0);
}

// ---- what a program sets ----

#define EXPECT(what)                                                                                                   \
    do {                                                                                                               \
        if (!(what)) _exit(1 + failed);                                                                                \
        failed++;                                                                                                      \
    } while (0)

// The exit code is the number of the expectation that was not met.
static void set_all(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    const char *seconds = "expected seconds, 0 to a million", *pattern = "expected a pattern of at most 1023 bytes";
    const char *late = "only before the first region of the process is used";
    static char name[1100];
    netprof_error error = NETPROF_ZERO;
    int failed = 0;
    EXPECT(netprof_set_flush(-0.001, &error) == NETPROF_ERR_ARG && !strcmp(error.text, seconds));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_interval(1000001, &error) == NETPROF_ERR_ARG && !strcmp(error.text, seconds));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_series(strtod("nan", NULL), &error) == NETPROF_ERR_ARG && !strcmp(error.text, seconds));
    EXPECT(!g->given_ns[NETPROF__TIME_FLUSH] && !g->given_ns[NETPROF__TIME_INTERVAL] &&
           !g->given_ns[NETPROF__TIME_SERIES]);
    EXPECT(netprof_set_flush(0, NULL) == NETPROF_OK && g->given_ns[NETPROF__TIME_FLUSH] == 1);
    EXPECT(netprof_set_flush(1000000, NULL) == NETPROF_OK && g->given_ns[NETPROF__TIME_FLUSH] == 1000000000000001);
    EXPECT(netprof_set_interval(0.5, NULL) == NETPROF_OK && g->given_ns[NETPROF__TIME_INTERVAL] == 500000001);
    EXPECT(netprof_set_series(2.25, NULL) == NETPROF_OK && g->given_ns[NETPROF__TIME_SERIES] == 2250000001);
    memset(name, 'n', 1024);
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_output(name, &error) == NETPROF_ERR_ARG && !strcmp(error.text, pattern));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_output("", &error) == NETPROF_ERR_ARG && !strcmp(error.text, pattern));
    EXPECT(netprof_set_output(NULL, NULL) == NETPROF_ERR_ARG && !g->output_given);
    name[1023] = 0;
    EXPECT(netprof_set_output(name, NULL) == NETPROF_OK && g->output_given && !strcmp(g->output, name));
    EXPECT(netprof_set_output("/dev/null", NULL) == NETPROF_OK && !strcmp(g->output, "/dev/null"));
    netprof_set_rank(5, 9);
    EXPECT(g->rank == 5 && g->size == 9);
    EXPECT(netprof_set_flush(0, NULL) == NETPROF_OK && netprof_set_series(0, NULL) == NETPROF_OK);
    NETPROF_BEGIN("first");
    NETPROF_END("first");
    EXPECT(g->output_given && !strcmp(g->output, "/dev/null") && !g->flush_step_ns && !g->series_ns);
    EXPECT(g->interval_ns == 500000000);
    EXPECT(netprof_set_flush(1, &error) == NETPROF_ERR_ARG && !strcmp(error.text, late));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_interval(1, &error) == NETPROF_ERR_ARG && !strcmp(error.text, late));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_series(1, &error) == NETPROF_ERR_ARG && !strcmp(error.text, late));
    EXPECT(g->interval_ns == 500000000 && !g->series_ns);
    _exit(0);
}

static void what_a_program_sets(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        unsetenv("NETPROF");
        unsetenv("NETPROF_OUTPUT");
        setenv("NETPROF_QUIET", "1", 1);
        set_all();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status) fail_msg("expectation %d", WEXITSTATUS(status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_of_a_process),
                                       cmocka_unit_test(files_are_called_as_said), cmocka_unit_test(facts_of_a_rank),
                                       cmocka_unit_test(what_a_program_sets),
                                       cmocka_unit_test(runs_are_named_by_the_launcher)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
