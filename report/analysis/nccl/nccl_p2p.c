// Point to point, proxies, and the samples of Prometheus files.
#include "nccl_private.h"
#include "nccl_stream.h"
#include "analysis/base/saturating_sum.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

// ---- point to point ----

typedef struct sent {
    uint32_t member;
    const nccl_what *what; // of the chunk
    int64_t peer;
    uint64_t sn, size, time_us;
    double bus_gbs;
} sent;

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_group(const sent *x, const sent *y)
{
    int order = compare(x->member, y->member);
    if (!order) order = strcmp(x->what->coll, y->what->coll);
    if (!order) order = (x->peer > y->peer) - (x->peer < y->peer);
    if (!order) order = strcmp(x->what->timing, y->what->timing);
    return order ? order : compare(x->size, y->size);
}

static int by_sent(const void *a, const void *b)
{
    const sent *x = a, *y = b;
    int order = by_group(x, y);
    if (!order) order = compare(x->sn, y->sn);
    if (!order) order = compare(x->time_us, y->time_us);
    return order ? order : (x->bus_gbs > y->bus_gbs) - (x->bus_gbs < y->bus_gbs);
}

static bool is_copy(const sent *x, const sent *y)
{
    return by_group(x, y) == 0 && x->sn == y->sn && x->time_us == y->time_us;
}

static bool add_group(nccl *n, const sent *s, size_t count, double *work)
{
    nccl_memory *memory = n->memory;
    nccl_p2p *p = &n->p2p[n->p2p_count++];
    const char *operation = nccl_arena_text(&memory->arena, s->what->coll, strlen(s->what->coll));
    const char *timing = nccl_arena_text(&memory->arena, s->what->timing, strlen(s->what->timing));
    *p = (nccl_p2p){.member = s->member,
                    .peer = s->peer,
                    .operation = operation,
                    .timing = timing,
                    .size = s->size,
                    .records = count,
                    .traffic_bytes = (double)s->size * (double)count};
    for (size_t i = 0; i < count; i++)
        work[i] = (double)s[i].time_us;
    p->time_us = nccl_spread_of(work, count);
    for (size_t i = 0; i < count; i++)
        work[i] = s[i].bus_gbs;
    p->bus_gbs = nccl_spread_of(work, count);
    return operation && timing;
}

static size_t collect(nccl *n, nccl_chunk *chunks, size_t count, sent *all)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < chunks[i].p2p_count; k++) {
            const nccl_p2p_record *r = &chunks[i].p2p[k];
            uint32_t member = r->member == NCCL_NONE ? NCCL_NONE : chunks[i].members[r->member].global;
            if (member == NCCL_NONE) continue;
            all[total++] = (sent){member, &chunks[i].whats[r->what], r->peer, r->sn, r->size, r->time_us, r->bus_gbs};
        }
    (void)n;
    return total;
}

static bool merge_sent(nccl *n, nccl_chunk *chunks, size_t count)
{
    size_t room = 0, kept = 0, groups = 0;
    for (size_t i = 0; i < count; i++)
        room += chunks[i].p2p_count;
    if (!room) return true;
    sent *all = malloc(room * sizeof *all);
    double *work = malloc(room * sizeof *work);
    bool good = all && work;
    size_t total = good ? collect(n, chunks, count, all) : 0;
    if (total) qsort(all, total, sizeof *all, by_sent);
    for (size_t i = 0; i < total; i++) { // copies of a log hold the same records
        if (kept && is_copy(&all[kept - 1], &all[i])) continue;
        groups += !kept || by_group(&all[kept - 1], &all[i]) != 0;
        all[kept++] = all[i];
    }
    n->p2p = calloc(groups + 1, sizeof *n->p2p);
    good = good && n->p2p;
    for (size_t i = 0, k; good && i < kept; i = k) {
        for (k = i + 1; k < kept && by_group(&all[i], &all[k]) == 0;)
            k++;
        n->members[all[i].member].p2p_records += k - i;
        good = add_group(n, all + i, k - i, work);
    }
    free(all);
    free(work);
    return good;
}

// ---- proxies ----

typedef struct proxied {
    nccl_proxy proxy;
    uint32_t file;
} proxied;

static int by_pair(const nccl_proxy *x, const nccl_proxy *y)
{
    int order = compare(x->member, y->member);
    if (!order) order = (x->peer > y->peer) - (x->peer < y->peer);
    return order ? order : strcmp(x->direction, y->direction);
}

static int by_proxy(const void *a, const void *b)
{
    const proxied *x = a, *y = b;
    int order = by_pair(&x->proxy, &y->proxy);
    return order ? order : compare(x->file, y->file);
}

static void add_proxy(nccl_proxy *to, const nccl_proxy *from)
{
    to->operations = sum_capped(to->operations, from->operations);
    to->steps = sum_capped(to->steps, from->steps);
    to->steps_dropped = sum_capped(to->steps_dropped, from->steps_dropped);
    to->bytes = sum_capped(to->bytes, from->bytes);
    to->total_us = sum_capped(to->total_us, from->total_us);
    to->gpu_us = sum_capped(to->gpu_us, from->gpu_us);
    to->credit_us = sum_capped(to->credit_us, from->credit_us);
    to->wire_us = sum_capped(to->wire_us, from->wire_us);
}

// Parts of one file are summed; of copies of it the one that tells most holds.
static bool keep_proxies(nccl *n, const proxied *all, size_t total)
{
    nccl_memory *memory = n->memory;
    n->proxies = calloc(total + 1, sizeof *n->proxies);
    if (!n->proxies) return false;
    for (size_t i = 0, k; i < total; i = k) {
        nccl_proxy sum = all[i].proxy, *to = n->proxy_count ? &n->proxies[n->proxy_count - 1] : NULL;
        for (k = i + 1; k < total && by_proxy(&all[i], &all[k]) == 0; k++)
            add_proxy(&sum, &all[k].proxy);
        if (to && by_pair(to, &sum) == 0) {
            sum.direction = to->direction;
            if (sum.operations > to->operations) *to = sum;
            continue;
        }
        sum.direction = nccl_arena_text(&memory->arena, sum.direction, strlen(sum.direction));
        if (!sum.direction) return false;
        n->proxies[n->proxy_count++] = sum;
    }
    return true;
}

static bool merge_proxies(nccl *n, nccl_chunk *chunks, size_t count)
{
    size_t room = 0, total = 0;
    for (size_t i = 0; i < count; i++)
        room += chunks[i].proxy_count;
    if (!room) return true;
    proxied *all = malloc(room * sizeof *all);
    if (!all) return false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < chunks[i].proxy_count; k++) {
            all[total] = (proxied){chunks[i].proxies[k], chunks[i].file};
            all[total].proxy.member = chunks[i].members[all[total].proxy.member].global;
            if (all[total].proxy.member != NCCL_NONE) total++;
        }
    if (total) qsort(all, total, sizeof *all, by_proxy);
    bool good = keep_proxies(n, all, total);
    free(all);
    return good;
}

bool nccl_merge_p2p(nccl *n, nccl_chunk *chunks, size_t count)
{
    return merge_sent(n, chunks, count) && merge_proxies(n, chunks, count);
}

// ---- Prometheus: name{label="value",...} number ----

static const char *skip_name(const char *p)
{
    while (isalnum((unsigned char)*p) || *p == '_' || *p == ':')
        p++;
    return p;
}

// Behind the closing brace, NULL when there is none; the labels between.
static const char *skip_labels(const char *p)
{
    while (*p && *p != '}') {
        if (*p++ != '"') continue;
        while (*p && *p != '"')
            p += *p == '\\' && p[1] ? 2 : 1;
        if (!*p++) return NULL;
    }
    return *p ? p + 1 : NULL;
}

static bool read_sample(nccl *n, uint32_t file, const char *line, size_t *room)
{
    nccl_memory *memory = n->memory;
    const char *name_end = skip_name(line), *labels = name_end, *p = name_end;
    double value;
    if (*p == '{') {
        labels = p + 1;
        p = skip_labels(labels);
    }
    nccl_file *f = &n->files[file];
    const char *number = p ? p + strspn(p, " \t") : NULL;
    char *end = NULL;
    if (number) value = strtod(number, &end); // numbers keep their point: the program sets no locale for them
    if (name_end == line || !number || end == number || strspn(end, " \t\r0123456789") != strlen(end)) {
        f->outcomes[NCCL_BAD_VALUE]++;
        if (!f->first_bad_line) f->first_bad_line = f->lines;
        return true;
    }
    if (!NCCL_ROOM(n->metrics, n->metric_count, *room)) return false;
    nccl_metric *m = &n->metrics[n->metric_count++];
    size_t length = labels == name_end ? 0 : (size_t)(p - 1 - labels);
    *m = (nccl_metric){file, nccl_arena_text(&memory->arena, line, (size_t)(name_end - line)),
                       nccl_arena_text(&memory->arena, length ? labels : "", length), value};
    return m->name && m->labels;
}

static bool read_lines(nccl *n, uint32_t file, char *text, size_t size)
{
    nccl_file *f = &n->files[file];
    size_t room = n->metric_count;
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
        else if (!read_sample(n, file, line, &room))
            return false;
    }
    return true;
}

bool nccl_metrics_read(nccl *n, uint32_t file)
{
    enum { MOST = 16 << 20 };
    nccl_file *f = &n->files[file];
    nccl_stream *s = nccl_stream_open(f->path, 0);
    if (!s) {
        f->error = errno;
        return true;
    }
    char *text = malloc(MOST + 1);
    size_t size = text ? nccl_stream_read(s, text, MOST) : 0;
    f->bytes = size;
    f->error = nccl_stream_error(s);
    bool good = text && read_lines(n, file, text, size);
    nccl_stream_close(s);
    free(text);
    n->lines += f->lines;
    n->bytes += f->bytes;
    return good;
}

const char *nccl_metric_label(const nccl_metric *m, const char *label, char *text, size_t size)
{
    size_t length = strlen(label), n = 0;
    const char *p = m->labels;
    while (*p) {
        const char *name = p + strspn(p, ", \t"), *end = skip_name(name);
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
