#include "nccl_inputs.h"

#include "output.h"
#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CONFIG = 1 << 20 }; // bytes

// ---- the configuration file: [section], key = value, # and ; begin comments ----

static char *nccl_inputs_trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        text[--length] = 0;
    return text;
}

static void nccl_inputs_keep_value(nccl_config *config, const char *section, const char *key, const char *value)
{
    const struct {
        const char *section, *key;
        char **to;
    } known[] = {{"paths", "default_log_root", &config->log_root},
                 {"kibana", "kibana_project_detailed", &config->detailed_index},
                 {"kibana", "kibana_project_summary", &config->summary_index}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(section, known[i].section) != 0 || strcmp(key, known[i].key) != 0) continue;
        free(*known[i].to);
        *known[i].to = memory_strdup(value);
    }
}

static int nccl_inputs_read_line(nccl_config *config, char *section, size_t size, char *line)
{
    char *text = nccl_inputs_trim(line), *equals;
    if (!*text || *text == '#' || *text == ';') return 0;
    if (*text == '[') {
        char *end = strchr(text, ']');
        if (!end) return -1;
        *end = 0;
        snprintf(section, size, "%s", nccl_inputs_trim(text + 1));
        return 0;
    }
    equals = text + strcspn(text, "=:");
    if (!*equals) return -1;
    *equals = 0;
    nccl_inputs_keep_value(config, section, nccl_inputs_trim(text), nccl_inputs_trim(equals + 1));
    return 0;
}

int nccl_config_read(nccl_config *config, const char *path)
{
    FILE *file = readable_stream(path);
    char section[64] = "", *line = NULL;
    size_t room = 0, number = 0;
    int code = EXIT_DONE;
    struct stat st;
    if (!file) return fail_file(EXIT_FILE, path, "%s", readable_error(errno));
    if (fstat(fileno(file), &st) == 0 && st.st_size > MOST_CONFIG)
        code = fail_file(EXIT_FILE, path, "larger than 1 MiB");
    while (!code && getline(&line, &room, file) >= 0) {
        number++;
        if (nccl_inputs_read_line(config, section, sizeof section, line))
            code =
                fail_at(EXIT_FILE, (message_place){.file = path, .line = number}, "expected [section] or key = value");
    }
    if (!code && ferror(file)) code = fail_file(EXIT_FILE, path, "%s", strerror(errno));
    free(line);
    fclose(file);
    return code;
}

void nccl_config_free(nccl_config *config)
{
    free(config->log_root);
    free(config->detailed_index);
    free(config->summary_index);
    *config = (nccl_config){NULL, NULL, NULL};
}

// ---- a job ----

// The pattern with every {jobid} replaced; NULL if it has none.
static char *nccl_inputs_with_job(const char *pattern, const char *jobid)
{
    static const char mark[] = "{jobid}";
    const char *at = strstr(pattern, mark);
    if (!at) return NULL;
    char *text = memory_format("%.*s%s%s", (int)(at - pattern), pattern, jobid, at + sizeof mark - 1);
    char *again = nccl_inputs_with_job(text, jobid);
    if (!again) return text;
    free(text);
    return again;
}

static void nccl_inputs_add_places(char ***places, const char *root, const char *jobid)
{
    char *exact = nccl_inputs_with_job(root, jobid);
    if (exact) {
        arrput(*places, exact);
        return;
    }
    arrput(*places, memory_format("%s/nccl-inspector-%s", root, jobid));
    arrput(*places, memory_format("%s/%s", root, jobid));
}

// The job's working directory as Slurm reports it; NULL without Slurm, or for a job that it has forgotten.
static char *nccl_inputs_slurm_directory(const char *jobid)
{
    char *question = memory_format("scontrol show job %s 2>/dev/null", jobid), *line = NULL, *found = NULL;
    FILE *from = popen(question, "re");
    size_t room = 0;
    while (from && getline(&line, &room, from) >= 0) {
        char *text = nccl_inputs_trim(line);
        if (!found && strncmp(text, "WorkDir=", 8) == 0) found = memory_strdup(text + 8);
    }
    if (from) pclose(from);
    free(line);
    free(question);
    return found;
}

char *nccl_job_directory(const nccl_config *config, const char *jobid, const char **roots, size_t root_count,
                         char ***tried)
{
    struct stat st;
    const char *submitted = getenv("SLURM_SUBMIT_DIR");
    for (size_t i = 0; i < root_count; i++)
        nccl_inputs_add_places(tried, roots[i], jobid);
    if (config->log_root) nccl_inputs_add_places(tried, config->log_root, jobid);
    if (!root_count) nccl_inputs_add_places(tried, ".", jobid);
    if (!root_count && submitted && *submitted) nccl_inputs_add_places(tried, submitted, jobid);
    for (size_t i = 0; i < arrlenu(*tried); i++)
        if (stat((*tried)[i], &st) == 0) return memory_strdup((*tried)[i]);
    char *directory = root_count ? NULL : nccl_inputs_slurm_directory(jobid);
    if (!directory) return NULL;
    size_t known = arrlenu(*tried);
    nccl_inputs_add_places(tried, directory, jobid);
    free(directory);
    for (size_t i = known; i < arrlenu(*tried); i++)
        if (stat((*tried)[i], &st) == 0) return memory_strdup((*tried)[i]);
    return NULL;
}

void nccl_tried_free(char **tried)
{
    for (size_t i = 0; i < arrlenu(tried); i++)
        free(tried[i]);
    arrfree(tried);
}

void nccl_no_logs_hint(void)
{
    fputs("Looked for files that end in .log, .jsonl (also with .gz or .zst) or .prom, at any depth.\n"
          "What commonly leaves no logs behind:\n"
          "  NCCL_PROFILER_PLUGIN does not name libnccl-profiler-inspector.so, or it could not be loaded\n"
          "  NCCL_INSPECTOR_ENABLE is not 1\n"
          "  NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS: 0 in NCCL 2.28 and 2.29, and -1 since 2.30, "
          "mean that\n"
          "    nothing is ever written, not at the end either, whatever the manual of 2.30 says\n"
          "  NCCL_INSPECTOR_DUMP_DIR has more than one missing directory (only the last is made), or is "
          "local to each node;\n"
          "    without it logs go to nccl-inspector-JOBID, or nccl-inspector-unknown-jobid, in the job's "
          "working directory\n"
          "  NCCL_INSPECTOR_PROM_DUMP=1 writes .prom files instead, and deletes them at the end of the job\n"
          "  since 2.30, messages below NCCL_INSPECTOR_DUMP_MIN_SIZE_BYTES (8192) and calls without times of "
          "the GPU are left out\n"
          "  containers with equal host names and process ids overwrite each other's file in a shared "
          "directory\n",
          stderr);
}

// ---- peaks ----

static bool nccl_inputs_read_peak(nccl_peak_list *list, char *item)
{
    char *equals = strrchr(item, '='), *end;
    const char *number = equals ? equals + 1 : item;
    double gbs = strtod(number, &end);
    if (equals) *equals = 0;
    if (end == number || *end || !(gbs > 0) || gbs > 1e9 || (equals && !*item)) return false;
    list->items[list->count++] = (nccl_peak){equals ? item : "*", gbs};
    return true;
}

int nccl_peaks_read(nccl_peak_list *list, const char *text)
{
    *list = (nccl_peak_list){NULL, 0, NULL};
    if (!text) return EXIT_DONE;
    list->text = memory_strdup(text);
    list->items = memory_calloc(strlen(text) + 1, sizeof *list->items);
    char *rest = list->text, *item;
    while ((item = strsep(&rest, ",")))
        if (!nccl_inputs_read_peak(list, item))
            return fail_usage("--peak: %s: expected GB/s, or PATTERN=GB/s by commas", safe(text));
    return EXIT_DONE;
}

void nccl_peaks_free(nccl_peak_list *list)
{
    free(list->items);
    free(list->text);
    *list = (nccl_peak_list){NULL, 0, NULL};
}

// ---- reading ----

static void nccl_inputs_show_progress(void *user, uint64_t done, uint64_t total)
{
    enum { WIDTH = 30 };
    int filled = total ? (int)(done * WIDTH / total) : 0;
    (void)user;
    progress("[%.*s%*s] %3d %% of %s", filled, "##############################", WIDTH - filled, "",
             total ? (int)(done * 100 / total) : 0, words_amount((double)total, "bytes").text);
}

// Warns about files that could not be opened or read to the end; the output counts unusable lines.
static void nccl_inputs_say_problems(const nccl *n)
{
    enum { SAID = 10 };
    size_t said = 0;
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        if (!f->error && !f->problem) continue;
        if (said++ < SAID)
            warn("%s: %s%s", safe(f->path), f->error ? strerror(f->error) : f->problem,
                 f->problem && !f->error ? "; what came before is used" : "");
    }
    if (said > SAID) warn("%zu more such files", said - SAID);
}

int nccl_logs_read(nccl *n, const char *const *paths, size_t count, const nccl_reading *reading)
{
    netprof_error error;
    nccl_options how = {.threads = reading->threads};
    if (reading->peaks) {
        how.peaks = reading->peaks->items;
        how.peak_count = reading->peaks->count;
    }
    if (!reading->quiet && isatty(STDERR_FILENO)) how.progress = nccl_inputs_show_progress;
    netprof_err result = nccl_read(n, paths, count, &how, &error);
    progress_end();
    nccl_inputs_say_problems(n);
    if (!result) return EXIT_DONE;
    int code = fail_error(result == NETPROF_ERR_NOSOURCE ? paths[0] : NULL, &error);
    if (code == EXIT_NOTHING) nccl_no_logs_hint();
    return code;
}

size_t nccl_own_recordings(const nccl *n, const char **paths)
{
    size_t count = 0;
    const nccl_file **best = memory_calloc(n->host_count, sizeof *best);
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        if (f->snapshots < 2 || f->host == NCCL_NONE) continue;
        if (!best[f->host] || f->snapshots > best[f->host]->snapshots) best[f->host] = f;
    }
    for (size_t i = 0; i < n->host_count; i++)
        if (best[i]) paths[count++] = best[i]->path;
    free(best);
    return count;
}
