/* A saved result of netprof nccl: whatever is in it, it is refused, or read so that writing and reading it again gives the
   same; and a report can be laid out of it. */
#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "analysis/base/stb_ds.h"
#include "render/pages/nccl/pages_nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static char *saved(const nccl_view *v)
{
    json_object *o = json_new_object();
    json_put(o, "format", json_new_string("netprof-nccl"));
    json_put(o, "version", json_new_int(NCCL_JSON_VERSION));
    json_put(o, "view", nccl_view_json(v));
    char *text = strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
    expect(text != NULL, "no memory");
    return text;
}

/* Layout only: no gnuplot. */
static void draw(const nccl_view *v)
{
    pages_nccl_file *files = NULL;
    document *doc = pages_nccl(v, false);
    expect(document_pages(doc, PAPER_A4) > 0, "no pages");
    document_close(doc);
    doc = pages_nccl_charts(v, &files);
    for (size_t i = 0; i < arrlenu(files); i++) {
        expect(!strstr(files[i].path, "..") && files[i].path[0] != '/', "a path that leads elsewhere");
        for (const char *c = files[i].path; *c; c++)
            expect(*c >= ' ' && *c < 127 && !strchr("\"'\\*?<>|&;$`", *c),
                   "a character that has no business in a file's name");
        for (size_t k = 0; k < i; k++)
            expect(strcmp(files[k].path, files[i].path) != 0, "two charts in one file");
    }
    arrfree(files);
    document_close(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nccl_view v, w;
    netprof_error error = {.text = ""};
    char *text = malloc(size + 1); /* json-c wants no end, but a byte behind it */
    if (!text || size > 64 << 10) {
        free(text);
        return 0;
    }
    if (size) memcpy(text, data, size);
    text[size] = 0;
    if (nccl_view_parse(&v, text, size, &error)) {
        expect(!v.memory && *error.text, "refused without a word, or with something left behind");
    } else {
        char *first = saved(&v);
        expect(nccl_view_parse(&w, first, strlen(first), NULL) == NETPROF_OK, "what was written is refused");
        char *second = saved(&w);
        expect(strcmp(first, second) == 0, "there and back is not the same");
        if (size % 64 == 0) draw(&w); // takes a hundred times as long as all else
        free(first);
        free(second);
        nccl_view_free(&v);
        nccl_view_free(&w);
    }
    free(text);
    return 0;
}
