// Samples of Prometheus files: name{label="value",...} number
#include "nccl_parts.h"
#include "nccl_stream.h"
#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static const char *metrics_skip_name(const char *p)
{
    while (isalnum((unsigned char)*p) || *p == '_' || *p == ':')
        p++;
    return p;
}

// Returns the end of the closing brace, NULL when it is missing.
static const char *metrics_skip_labels(const char *p)
{
    while (*p && *p != '}') {
        if (*p++ != '"') continue;
        while (*p && *p != '"')
            p += *p == '\\' && p[1] ? 2 : 1;
        if (!*p++) return NULL;
    }
    return *p ? p + 1 : NULL;
}

static void metrics_read_sample(nccl *n, uint32_t file, const char *line)
{
    nccl_store *memory = n->memory;
    const char *name_end = metrics_skip_name(line), *labels = name_end, *p = name_end;
    double value;
    if (*p == '{') {
        labels = p + 1;
        p = metrics_skip_labels(labels);
    }
    nccl_file *f = &n->files[file];
    const char *number = p ? p + strspn(p, " \t") : NULL;
    char *end = NULL;
    if (number) value = strtod(number, &end); // numbers keep their point: the program sets no locale for them
    if (name_end == line || !number || end == number || strspn(end, " \t\r0123456789") != strlen(end)) {
        f->outcomes[NCCL_BAD_VALUE]++;
        if (!f->first_bad_line) f->first_bad_line = f->lines;
        return;
    }
    size_t length = labels == name_end ? 0 : (size_t)(p - 1 - labels);
    nccl_metric m = {file, nccl_arena_text(&memory->arena, line, (size_t)(name_end - line)),
                     nccl_arena_text(&memory->arena, length ? labels : "", length), value};
    arrput(n->metrics, m);
    n->metric_count = arrlenu(n->metrics);
}

static void metrics_read_lines(nccl *n, uint32_t file, char *text, size_t size)
{
    nccl_file *f = &n->files[file];
    for (size_t at = 0; at < size;) {
        char *end = memchr(text + at, '\n', size - at), *line = text + at;
        size_t length = end ? (size_t)(end - line) : size - at;
        at += length + 1;
        line[length] = 0;
        f->lines++;
        line += strspn(line, " \t\r");
        if (!*line || *line == '#')
            f->outcomes[NCCL_BLANK]++;
        else if (strlen(line) + (size_t)(line - (text + at - length - 1)) != length)
            f->outcomes[NCCL_BAD_VALUE]++; // NUL
        else
            metrics_read_sample(n, file, line);
    }
}

void nccl_metrics_read(nccl *n, uint32_t file)
{
    enum { MOST = 16 << 20 };
    nccl_file *f = &n->files[file];
    nccl_stream *s = nccl_stream_open(f->path, 0);
    if (!s) {
        f->error = errno;
        return;
    }
    char *text = memory_alloc(MOST + 1);
    size_t size = nccl_stream_read(s, text, MOST);
    f->bytes = size;
    f->error = nccl_stream_error(s);
    metrics_read_lines(n, file, text, size);
    nccl_stream_close(s);
    free(text);
    n->lines += f->lines;
    n->bytes += f->bytes;
}

const char *nccl_metric_label(const nccl_metric *m, const char *label, char *text, size_t size)
{
    size_t length = strlen(label), n = 0;
    const char *p = m->labels;
    while (*p) {
        const char *name = p + strspn(p, ", \t"), *end = metrics_skip_name(name);
        p = strchr(end, '"');
        if (!p) break;
        bool wanted = (size_t)(end - name) == length && memcmp(name, label, length) == 0;
        for (p++; *p && *p != '"'; p++) {
            if (*p == '\\' && p[1]) p++;
            if (wanted && n + 1 < size) text[n++] = *p == 'n' && p[-1] == '\\' ? '\n' : *p;
        }
        if (wanted) break;
        if (*p) p++;
    }
    text[n] = 0;
    return text;
}
