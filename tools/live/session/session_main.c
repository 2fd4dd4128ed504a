// netprof-session: names stretches of time in what a head has collected, and makes recordings and reports of them.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/helper_program.h"
#include "cli/options.h"
#include "cli/output.h"
#include "session_export.h"
#include "session_findings.h"
#include "session_heads.h"
#include "session_statistics.h"
#include "live/journal/status_file.h"
#include "session_status.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *directories, *directory, *nodes, *sources, *include, *exclude, *interval_text, *set_text, *since_text,
    *in_text, *output, *fail_on_text;
static int all, as_json;
static fail_on failing;

static const struct poptOption options[] = {
    {"dir", 0, POPT_ARG_STRING, &directories, 0,
     "the head's directory (else the variable NETPROF_HEAD), or of several by commas", "DIR"},
    {"nodes", 'n', POPT_ARG_STRING, &nodes, 0, "start, --since: only nodes like these, by commas", "GLOBS"},
    {"sources", 's', POPT_ARG_STRING, &sources, 0, "start: only these sources, by commas", "NAMES"},
    {"include", 'i', POPT_ARG_STRING, &include, 0, "start: only DEVICE or DEVICE/COUNTER like these, by commas",
     "GLOBS"},
    {"exclude", 'x', POPT_ARG_STRING, &exclude, 0, "start: but not those like these", "GLOBS"},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "start: at most one reading in this time", "TIME"},
    {"set", 0, POPT_ARG_STRING, &set_text, 0, "start: all counters, or the few that decide most questions", "all|fast"},
    {"since", 0, POPT_ARG_STRING, &since_text, 0,
     "start: it began this long ago; stats, export, report: of this time, without a session", "TIME"},
    {"in", 0, POPT_ARG_STRING, &in_text, 0, "start: it is to begin in this time; stop before then cancels it", "TIME"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "stop: all that go on; findings: also those that ended", NULL},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on_text, 0,
     "findings: exit with 1 for one this bad (high); unknown: for what could not be judged, too", FAIL_ON_ARGUMENT},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "list, status, findings, stats: as JSON", NULL},
    {"output", 'o', POPT_ARG_STRING, &output, 0, "export: a directory; report: as netprof report takes it", "OUT"},
    POPT_TABLEEND,
};

static int64_t session_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int session_fail(const char *name, int error)
{
    if (error == ENOENT) return fail(EXIT_FILE, "%s: there is no such session", safe(name));
    return fail(EXIT_FILE, "%s: %s", safe(name), error == EILSEQ ? "its file is no session" : strerror(error));
}

// ---- start and stop ----

static int session_start_options(session *s)
{
    int64_t since = 0, in = 0;
    if (since_text && in_text) return fail_usage("--since and --in: expected one of them");
    if (in_text && !parse_duration(in_text, &in))
        return fail_usage("--in: %s: expected a time like 2s, 1m or 8h", safe(in_text));
    if (interval_text && !parse_duration(interval_text, &s->interval_ns))
        return fail_usage("--interval: %s: expected a time like 100ms, 2s or 1m", safe(interval_text));
    if (since_text && !parse_duration(since_text, &since))
        return fail_usage("--since: %s: expected a time like 100ms, 2s or 1m", safe(since_text));
    if (set_text && strcmp(set_text, "all") != 0 && strcmp(set_text, "fast") != 0)
        return fail_usage("--set: %s: expected all or fast", safe(set_text));
    s->fast = set_text && strcmp(set_text, "fast") == 0;
    s->start_ns = session_now() - since + in;
    s->nodes = nodes;
    s->sources = sources;
    s->include = include;
    s->exclude = exclude;
    return s->start_ns > 0 ? EXIT_DONE : fail_usage("--since: %s: before 1970", safe(since_text));
}

// The one of this name; without a name the time up to now.
static int session_find(const char *name, session *s)
{
    *s = (session){.name = "view"};
    int error = name ? session_read(directory, name, s) : 0;
    if (error) return session_fail(name, error);
    if (name) return EXIT_DONE;
    int code = session_start_options(s);
    s->stop_ns = session_now();
    s->nodes = nodes ? memory_strdup(nodes) : NULL;
    s->sources = sources ? memory_strdup(sources) : NULL;
    s->include = include ? memory_strdup(include) : NULL;
    s->exclude = exclude ? memory_strdup(exclude) : NULL;
    return code;
}

static int session_start(const char *name)
{
    session there, s = {.interval_ns = 0};
    int code = session_start_options(&s);
    if (code) return code;
    int error = session_read(directory, name, &there);
    if (error != ENOENT) {
        if (!error) session_free(&there);
        return fail(EXIT_FILE, "%s: there is a session of this name", safe(name));
    }
    snprintf(s.name, sizeof s.name, "%s", name);
    error = session_write(directory, &s);
    if (error) return session_fail(name, error);
    if (!status_file_head_runs(directory))
        warn("no head runs here at the moment: agents keep what they read until one does");
    return EXIT_DONE;
}

static int session_stop_one(session *s)
{
    if (s->stop_ns) return fail(EXIT_FILE, "%s: it ended at %s", safe(s->name), words_time(s->stop_ns).text);
    int error = session_end(directory, s, session_now());
    return error ? session_fail(s->name, error) : EXIT_DONE;
}

static int session_stop(const char *name)
{
    session s, *found = NULL;
    int code = EXIT_DONE;
    if (name) {
        int error = session_read(directory, name, &s);
        if (error) return session_fail(name, error);
        code = session_stop_one(&s);
        session_free(&s);
        return code;
    }
    int error = session_list(directory, &found);
    for (size_t i = 0; i < arrlenu(found) && !code; i++)
        if (session_state_of(&found[i], session_now()) == SESSION_GOES_ON) code = session_stop_one(&found[i]);
    session_list_free(&found);
    if (!code && error) code = fail_file(EXIT_FILE, directory, "%s", strerror(error));
    return code;
}

// ---- looking ----

static void session_list_table(const session *found)
{
    static const column columns[] = {{"session", 0}, {"state", 0}, {"start", 0}, {"end", 0}, {"nodes", COLUMN_WRAP}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < arrlenu(found); i++) {
        table_cell(t, PLAIN, found[i].name);
        table_cell(t, PLAIN, session_state_name(session_state_of(&found[i], session_now())));
        table_cell(t, PLAIN, words_time(found[i].start_ns).text);
        table_cell(t, PLAIN, found[i].stop_ns ? words_time(found[i].stop_ns).text : "");
        table_cell(t, PLAIN, found[i].nodes ? found[i].nodes : "all");
    }
    table_end(t, stdout, 0);
}

static json_object *session_listed_json(const session *s)
{
    json_object *o = json_new_object();
    json_put_text(o, "session", s->name);
    json_put_text(o, "state", session_state_name(session_state_of(s, session_now())));
    json_put(o, "begin_ns", json_new_int64(s->start_ns));
    json_put(o, "end_ns", s->stop_ns ? json_new_int64(s->stop_ns) : NULL);
    json_put_text(o, "host_globs", s->nodes);
    json_put_text(o, "source_names", s->sources);
    json_put_text(o, "include_globs", s->include);
    json_put_text(o, "exclude_globs", s->exclude);
    json_put(o, "interval_s", s->interval_ns ? json_number_value((double)s->interval_ns / 1e9) : NULL);
    json_put(o, "fast", json_new_boolean(s->fast));
    return o;
}

static void session_list_json(const session *found)
{
    json_object *o = json_document("sessions"), *list = json_new_array();
    for (size_t i = 0; i < arrlenu(found); i++)
        json_append(list, session_listed_json(&found[i]));
    json_put(o, "sessions", list);
    json_print(stdout, o);
}

static int session_list_all(const char *name)
{
    session *found = NULL;
    (void)name;
    int error = session_list(directory, &found);
    if ((!error || arrlenu(found)) && as_json)
        session_list_json(found);
    else if (!error || arrlenu(found))
        session_list_table(found);
    session_list_free(&found);
    int closed = output_close();
    return error ? fail_file(EXIT_FILE, directory, "%s", strerror(error)) : closed;
}

static int session_show_status(const char *name)
{
    (void)name;
    int code = session_status(directory, session_now(), as_json), closed = output_close();
    return code ? code : closed;
}

static int session_show_findings(const char *name)
{
    (void)name;
    int code = session_findings(directory, session_now(), as_json, all, &failing), closed = output_close();
    return closed ? closed : code;
}

// ---- what is made of them ----

static int session_show_statistics(const char *name)
{
    session s;
    int code = session_find(name, &s), closed = EXIT_DONE;
    if (!code) {
        code = session_statistics(directories, &s, session_now(), as_json);
        closed = output_close();
    }
    session_free(&s);
    return code ? code : closed;
}

static int session_export_to(const char *name, const char *to, char ***files)
{
    session s;
    int code = session_find(name, &s);
    if (!code) code = session_export(directories, &s, session_now(), to, files);
    session_free(&s);
    return code;
}

static void session_free_files(char ***files, bool remove_them)
{
    for (size_t i = 0; i < arrlenu(*files); i++) {
        if (remove_them) unlink((*files)[i]);
        free((*files)[i]);
    }
    arrfree(*files);
}

static int session_export_files(const char *name)
{
    char **files = NULL;
    if (!output) return fail_usage("export: expected -o DIR");
    int code = session_export_to(name, output, &files);
    if (!code)
        warn("%s: %s in %s", name ? safe(name) : "view", words_many(arrlenu(files), "node|nodes").text, safe(output));
    session_free_files(&files, false);
    return code;
}

static int session_run_report(char **files)
{
    char *program = helper_program("netprof-report"), **words = NULL;
    int status;
    arrput(words, program);
    arrput(words, (char *)(uintptr_t) "-o");
    arrput(words, output);
    for (size_t i = 0; i < arrlenu(files); i++)
        arrput(words, files[i]);
    arrput(words, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execvp(program, words);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    arrfree(words);
    free(program);
    if (child < 0) return fail(EXIT_FILE, "netprof-report: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return fail(EXIT_FILE, "netprof-report is not installed here");
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FILE;
}

static int session_make_report(const char *name)
{
    const char *temporary = getenv("TMPDIR");
    char **files = NULL;
    if (!output) return fail_usage("report: expected -o FILE");
    char *inside = memory_format("%s/netprof-session.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    int code = mkdtemp(inside) ? EXIT_DONE : fail_file(EXIT_FILE, inside, "%s", strerror(errno));
    if (!code) {
        code = session_export_to(name, inside, &files);
        if (!code) code = session_run_report(files);
        session_free_files(&files, true);
        rmdir(inside);
    }
    free(inside);
    return code;
}

static int session_remove(const char *name)
{
    int error = session_delete(directory, name);
    return error ? session_fail(name, error) : EXIT_DONE;
}

// ---- which ----

static const struct {
    const char *name;
    int needs;  // a session's name: 1 yes, 0 no, -1 unless --all, -2 unless --since
    bool reads; // of all heads; the others know of one
    int (*run)(const char *name);
} verbs[] = {{"start", 1, false, session_start},
             {"stop", -1, false, session_stop},
             {"list", 0, false, session_list_all},
             {"status", 0, false, session_show_status},
             {"findings", 0, false, session_show_findings},
             {"stats", -2, true, session_show_statistics},
             {"export", -2, true, session_export_files},
             {"report", -2, true, session_make_report},
             {"delete", 1, false, session_remove}};

static int session_check_heads(char **heads, bool may_be_several)
{
    struct stat st;
    if (!arrlenu(heads) || (arrlenu(heads) > 1 && !may_be_several))
        return fail_usage("--dir: %s: expected the directory of one head", safe(directories));
    for (size_t i = 0; i < arrlenu(heads); i++)
        if (stat(heads[i], &st) || !S_ISDIR(st.st_mode))
            return fail_file(EXIT_FILE, heads[i], "%s", strerror(errno ? errno : ENOTDIR));
    return EXIT_DONE;
}

// The first of them that has the session.
static char *session_home(char **heads, const char *name)
{
    for (size_t i = 0; name && i < arrlenu(heads); i++) {
        session s;
        if (session_read(heads[i], name, &s)) continue;
        session_free(&s);
        return heads[i];
    }
    return heads[0];
}

static int session_run(const char **arguments, size_t count)
{
    const char *variable = getenv("NETPROF_HEAD");
    struct rlimit files; // a large journal has many
    size_t i = 0;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (!count) return fail_usage("expected start, stop, list, status, findings, stats, export, report or delete");
    while (i < sizeof verbs / sizeof *verbs && strcmp(verbs[i].name, arguments[0]) != 0)
        i++;
    if (i == sizeof verbs / sizeof *verbs)
        return fail_usage("%s: expected start, stop, list, status, findings, stats, export, report or delete",
                          safe(arguments[0]));
    bool named = verbs[i].needs > 0 || (verbs[i].needs == -1 && !all) || (verbs[i].needs == -2 && !since_text);
    if (count != (named ? 2u : 1u))
        return fail_usage(named ? "%s: expected the name of one session" : "%s: expected no more arguments",
                          verbs[i].name);
    if (named && !session_is_name(arguments[1]))
        return fail_usage(
            "%s: a session's name has 1 to 64 letters, digits, '-', '_' and '.', and begins with none of '.'",
            safe(arguments[1]));
    if (as_json && verbs[i].run != session_show_findings && verbs[i].run != session_list_all &&
        verbs[i].run != session_show_status && verbs[i].run != session_show_statistics)
        return fail_usage("--json: expected list, status, findings or stats");
    if (in_text && verbs[i].run != session_start) return fail_usage("--in: expected start");
    if (fail_on_text && verbs[i].run != session_show_findings) return fail_usage("--fail-on: expected findings");
    if (!fail_on_parse(&failing, fail_on_text)) return EXIT_USAGE;
    if (!directories && variable) directories = memory_strdup(variable);
    if (!directories || !*directories) return fail_usage("--dir DIR is needed: the head's directory");
    char **heads = session_heads_split(directories);
    int code = session_check_heads(heads, verbs[i].reads);
    if (!code) {
        directory = session_home(heads, named ? arguments[1] : NULL);
        code = verbs[i].run(named ? arguments[1] : NULL);
    }
    session_heads_free(heads);
    return code;
}

static const command session_command = {
    .name = "session",
    .summary = "name stretches of time in what a head collects; recordings and reports of them",
    .arguments = "start NAME [--since TIME | --in TIME]\nstop NAME | --all\nlist | status | findings\nstats NAME | "
                 "--since TIME\n"
                 "export NAME | --since TIME -o DIR\nreport NAME | --since TIME -o FILE\ndelete NAME",
    .text =
        "A session is a name for a stretch of time over chosen nodes and counters. Any number of them may go on at "
        "once,\n"
        "overlap, or have begun in the past (--since): nothing is read twice for them. It lies in the head's "
        "directory, to\n"
        "which this program needs access; neither a restart of the head nor of this machine ends it. The head keeps "
        "the\n"
        "readings of each session until it is deleted.\n"
        "export writes a recording for each node, which every command reads; what is missing in it, it names (facts "
        "gap_1,\n"
        "...). report makes a report of these. stats prints mean, percentiles and maximum of each rate and gauge that\n"
        "was not always 0, and how many readings there are and are missing. With the directories of several heads, of\n"
        "which one took over from another, stats, export and report take each reading once, wherever it is.\n"
        "status shows the nodes: how long ago each was heard from, how far it is behind, and how many of its ticks "
        "the\n"
        "head knows to be lost, over all its runs, and since when it counts them. findings shows what is wrong in the\n"
        "last minute, and since when, by the rules of netprof check.",
    .examples = "netprof session start run7 --dir head --nodes 'n*'\n"
                "netprof session stop run7 --dir head\n"
                "netprof session start night --dir head --in 8h\n"
                "netprof session list --dir head\n"
                "netprof session findings --dir head --fail-on critical,judged\n"
                "netprof session delete run7 --dir head",
    .exits =
        "0 done, 1 status: a node was not heard from for 30 s, or no head runs; findings: one as bad as --fail-on;\n"
        "2 wrong usage, 3 a file could not be read or written, 4 the head has nothing of the session, 5 findings:\n"
        "something that matters could not be judged.",
    .options = options,
    .run = session_run,
    .json = &as_json,
};

int main(int argc, char **argv)
{
    return command_program(&session_command, argc, argv);
}
