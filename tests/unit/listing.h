/* All that a snapshot holds as lines of text, to be compared whole with a file that is kept. A line for each source,
   device, fact and counter:

       source netdev ok
       device eth0 physical 8
         mtu: 9000
         rx_bytes [bytes counter 64 fast] 1234
         carrier [1 = up state 1] denied 13

   Include netprof.h, its implementation, and cmocka.h first. NETPROF_TEST_WRITE=FILE appends what was made, and compares
   nothing. */
#ifndef LISTING_H
#define LISTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct listing {
    char *text;
    size_t size;
    FILE *stream;
    const char *root; /* is written as ROOT */
    int identities;   /* 0: they are inodes, other ones each time */
} listing;

/* A text, with the root of the tree by its name. */
static inline void listing_text(listing *l, const char *text)
{
    const char *at = *l->root ? strstr(text, l->root) : NULL;
    if (at)
        fprintf(l->stream, "%.*sROOT%s", (int)(at - text), text, at + strlen(l->root));
    else
        fputs(text, l->stream);
}

static inline void listing_counter(listing *l, const netprof_snapshot *s, size_t i)
{
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {{NETPROF_FAST, "fast"},
                 {NETPROF_SIGNED, "signed"},
                 {NETPROF_SATURATES, "saturates"},
                 {NETPROF_STAMPED, "stamped"},
                 {NETPROF_SLOW_REFRESH, "slow"}};
    const netprof_counter *c = &s->schema->counters[i];
    fprintf(l->stream, "  %s [%s %s %u", c->name, *c->unit ? c->unit : "-", netprof_kind_name((netprof_kind)c->kind),
            c->width);
    if (c->scale != 1) fprintf(l->stream, " x%u", c->scale);
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
        if (c->flags & flags[k].flag) fprintf(l->stream, " %s", flags[k].name);
    fputs("]", l->stream);
    if (s->status[i] != NETPROF_STATUS_OK) {
        fprintf(l->stream, " %s", netprof_status_name((netprof_status)s->status[i]));
        if (s->errnos[i]) fprintf(l->stream, " %u", s->errnos[i]);
    }
    if (s->status[i] == NETPROF_STATUS_OK || s->status[i] == NETPROF_STATUS_SATURATED || s->values[i])
        fprintf(l->stream, " %llu", (unsigned long long)s->values[i]);
    if (s->stamps_ns[i] && c->flags & NETPROF_STAMPED) fprintf(l->stream, " at %lld", (long long)s->stamps_ns[i]);
    fputs("\n", l->stream);
}

static inline void listing_device(listing *l, const netprof_snapshot *s, const netprof_device *d)
{
    size_t i;
    fprintf(l->stream, "device %s%s%s", d->name, d->flags & NETPROF_DEVICE_PHYSICAL ? " physical" : "",
            d->flags & NETPROF_DEVICE_VIRTUAL ? " virtual" : "");
    if (l->identities) fprintf(l->stream, " %llu", (unsigned long long)d->identity);
    fputs("\n", l->stream);
    for (i = 0; i < d->fact_count; i++) {
        fprintf(l->stream, "  %s: ", d->facts[i].key);
        listing_text(l, d->facts[i].value);
        fputs("\n", l->stream);
    }
    for (i = d->first; i < (size_t)d->first + d->count; i++)
        listing_counter(l, s, i);
}

/* The text; free it. */
static inline char *listing_of(const netprof_snapshot *s, const char *root, int identities)
{
    listing l = {NULL, 0, NULL, root, identities};
    size_t i, k, device = 0;
    l.stream = open_memstream(&l.text, &l.size);
    assert_non_null(l.stream);
    for (i = 0; i < s->schema->source_count; i++) {
        const netprof_source_state *state = &s->schema->sources[i];
        fprintf(l.stream, "source %s %s", state->name, netprof_status_name((netprof_status)state->status));
        if (state->sys_errno) fprintf(l.stream, " %d", state->sys_errno);
        if (*state->path) fputs(" ", l.stream);
        listing_text(&l, state->path);
        fputs("\n", l.stream);
        for (k = 0; k < state->device_count; k++, device++) {
            assert_string_equal(s->schema->devices[device].source, state->name);
            listing_device(&l, s, &s->schema->devices[device]);
        }
    }
    assert_int_equal(device, s->schema->device_count);
    fprintf(l.stream, "not ok: %zu\n", (size_t)s->not_ok);
    fclose(l.stream);
    return l.text;
}

/* The text of a file below tests/unit; free it. */
static inline char *listing_kept(const char *name)
{
    char path[512], *text = NULL;
    size_t size = 0;
    int c;
    FILE *file, *stream = open_memstream(&text, &size);
    snprintf(path, sizeof path, "%s/tests/unit/%s", NETPROF_TEST_TOP, name);
    file = fopen(path, "r");
    while (file && (c = getc(file)) != EOF)
        putc(c, stream);
    if (file) fclose(file);
    fclose(stream);
    return text;
}

/* Compares line by line; frees nothing but what it made. */
static inline void listing_expect(const netprof_snapshot *s, const char *root, int identities, const char *name)
{
    char *is = listing_of(s, root, identities), *should = listing_kept(name), said[700] = "";
    const char *to = getenv("NETPROF_TEST_WRITE");
    FILE *file = to ? fopen(to, "a") : NULL;
    size_t at = 0;
    if (file) {
        fprintf(file, "==== %s\n%s", name, is);
        fclose(file);
    }
    while (is[at] && is[at] == should[at])
        at++;
    if (!to && (is[at] || should[at])) {
        while (at && is[at - 1] != '\n')
            at--;
        snprintf(said, sizeof said, "%s: made:\n%.300s\nkept:\n%.300s", name, is + at, should + at);
    }
    free(is);
    free(should);
    if (*said) fail_msg("%s", said);
}

#endif
