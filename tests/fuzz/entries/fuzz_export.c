/* Files, whatever is in them, as tables in every format: exported, or refused; what was refused leaves nothing behind, and
   as JSON it is JSON. */
#define _GNU_SOURCE
#include "few_counters.h"
#include "pieces.h"
#include "analysis/base/json.h"
#include "analysis/rules/rules.h"
#include "cli/messages.h"
#include "export/export.h"
#include "export/export_formats.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[64], output[128];

/* Each input asks for netprof's own rules, as a program does once: they are read once here, and not freed. (Linked with
   --wrap.) */
void __real_rules_builtin(rules *set);
void __wrap_rules_builtin(rules *set);
void __wrap_rules_free(rules *set);

void __wrap_rules_builtin(rules *set)
{
    static rules once;
    if (!once.count) __real_rules_builtin(&once);
    *set = once;
}

void __wrap_rules_free(rules *set)
{
    *set = (rules){0};
}

static void empty(const char *path)
{
    char name[512];
    DIR *d = opendir(path);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (unlink(name)) empty(name), rmdir(name);
    }
    closedir(d);
}

static size_t entries(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    expect(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void tidy(void)
{
    empty(directory);
    rmdir(directory);
}

static void start(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (*directory) return;
    snprintf(directory, sizeof directory, "%s/netprof-fuzz-XXXXXX", base);
    expect(mkdtemp(directory) != NULL);
    snprintf(output, sizeof output, "%s/out", directory);
    atexit(tidy);
}

static void check_json(void)
{
    static char text[4 << 20];
    FILE *file = fopen(output, "rb");
    expect(file != NULL);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    if (n == sizeof text - 1) return;
    json_tokener *t = json_new_tokener(32);
    json_object *o = json_feed_tokener(t, text, (int)n);
    expect(o != NULL);
    json_object_put(o);
    json_tokener_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // A database takes as long as a hundred of the others. (Parquet is written by DuckDB, where that is there.)
    static const char *const formats[] = {"csv", "json", "csv", "perfetto", "csv", "json", "csv", "perfetto"};
    pieces p;
    if (size < 2 || size > 1 << 16) return 0;
    start();
    pieces_take(&p, data + 1, size - 1);
    export_options o = {.driver = export_format_named(data[0] == 7 ? "sqlite" : formats[data[0] & 7]),
                        .path = output,
                        .what = WHAT_ALL};
    o.wide = data[0] & 8 && !o.driver->events;
    o.plain = data[0] & 16;
    if (data[0] & 32) o.what = WHAT_SERIES | WHAT_FINDINGS;
    if (o.driver->missing || !p.count) {
        pieces_free(&p);
        return 0;
    }
    const char *paths[PIECES_MOST + 1] = {NULL};
    for (size_t i = 0; i < p.count; i++)
        paths[i] = p.paths[i];
    export_sink *sink = export_open(&o);
    expect(sink != NULL);
    int code = export_files(sink, paths, p.count);
    bool keep = code == EXIT_DONE || code == EXIT_WORTH_FAILING;
    int closed = export_close(sink, keep);
    expect(code == EXIT_DONE || code == EXIT_WORTH_FAILING || code == EXIT_FILE || code == EXIT_NOTHING);
    expect(entries(directory) == (keep && !closed));
    if (keep && !closed && (strcmp(o.driver->name, "json") == 0 || o.driver->events)) check_json();
    if (keep && unlink(output)) empty(directory);
    pieces_free(&p);
    return 0;
}
