/* netprof merge of one to four files, whatever is in them: refused, or the output holds each file that was not left out as
   it is, byte for byte, and merged again nothing is added. */
#define _GNU_SOURCE
#include "pieces.h"
#include "analysis/data/file_parts.h"
#include "cli/messages.h"
#include "commands/commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char outputs[2][64];

/* Stands in for output_close(), which closes the standard output for good. */
int __wrap_output_close(void);
int __wrap_output_close(void)
{
    return EXIT_DONE;
}

static void tidy(void)
{
    for (int i = 0; i < 2; i++)
        unlink(outputs[i]);
}

static void start(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (*outputs[0]) return;
    for (int i = 0; i < 2; i++)
        snprintf(outputs[i], sizeof *outputs, "%s/netprof-fuzz-merge-%d-%d", base, (int)getpid(), i);
    atexit(tidy);
}

static void set_option(const char *name, const char *value)
{
    for (const struct poptOption *o = command_merge.options; o->longName || o->arg; o++) {
        if (!o->longName || strcmp(o->longName, name) != 0) continue;
        if (value) {
            free(*(char **)o->arg);
            *(char **)o->arg = strdup(value);
        } else {
            *(int *)o->arg = 1;
        }
    }
}

static int merge(const char **paths, size_t count, const char *to)
{
    unlink(to);
    set_option("output", to);
    return command_merge.run(paths, count);
}

static uint8_t *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    *size = 0;
    if (!file) return NULL;
    uint8_t *all = malloc(1 << 20);
    expect(all != NULL);
    *size = fread(all, 1, 1 << 20, file);
    fclose(file);
    return all;
}

/* Each part of the output is a part of an input. */
static void check_output(const uint8_t *all, size_t size, const pieces *p)
{
    expect(size > 0);
    for (size_t at = 0; at < size;) {
        size_t next = parts_next(all, size, at + 1);
        bool found = false;
        for (size_t i = 0; i < p->count && !found; i++)
            found = memmem(p->data[i], p->size[i], all + at, next - at) != NULL;
        expect(found);
        at = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pieces p;
    size_t n, m;
    if (size > 1 << 16) return 0;
    start();
    set_option("force", NULL);
    set_option("quiet", NULL);
    pieces_take(&p, data, size);
    const char *paths[PIECES_MOST + 1] = {NULL};
    for (size_t i = 0; i < p.count; i++)
        paths[i] = p.paths[i];
    int code = p.count ? merge(paths, p.count, outputs[0]) : EXIT_FILE;
    expect(code == EXIT_DONE || code == EXIT_WORTH_FAILING || code == EXIT_FILE);
    uint8_t *all = contents(outputs[0], &n);
    expect((all != NULL) == (p.count && code != EXIT_FILE));
    if (all) {
        const char *first = outputs[0];
        check_output(all, n, &p);
        int second = merge(&first, 1, outputs[1]);
        expect(second == EXIT_DONE || second == code); // what was damaged may have been left out
        uint8_t *again = contents(outputs[1], &m);
        // Without other files between them, more may be seen to be copies of one another.
        expect(again && m <= n && (m < n || memcmp(all, again, n) == 0));
        const pieces joined = {.count = 1, .data = {all}, .size = {n}};
        check_output(again, m, &joined);
        free(again);
    }
    free(all);
    pieces_free(&p);
    return 0;
}
