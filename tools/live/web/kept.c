#include "kept.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "live/spool/sha256.h"

#include <stdlib.h>
#include <string.h>

typedef struct kept_hash {
    unsigned char bytes[SHA256_BYTES];
} kept_hash;

// By the hash of what is kept of it.
struct kept_schema {
    kept_hash content;
    const netprof_schema *schema;
    size_t users;
};

typedef struct kept_known {
    kept_hash key;
    kept_schema *value;
} kept_known;

struct kept_schemas {
    kept_known *known;
    unsigned char *bytes; // of the reading at hand; stb_ds
};

kept_schemas *kept_schemas_open(void)
{
    kept_schemas *k = memory_calloc(1, sizeof *k);
    hmdefault(k->known, NULL);
    return k;
}

// ---- what is kept of a schema ----

static bool kept_fact(const netprof_device *d, const netprof_fact *f)
{
    return strcmp(d->source, "gpu") == 0 && (strcmp(f->key, "model") == 0 || strcmp(f->key, "name") == 0);
}

static void kept_put(unsigned char **to, const void *data, size_t size)
{
    memcpy(arraddnptr(*to, size), data, size);
}

static void kept_put_text(unsigned char **to, const char *text)
{
    kept_put(to, text, strlen(text) + 1);
}

static void kept_put_counter(unsigned char **to, const netprof_counter *c)
{
    const unsigned char numbers[] = {(unsigned char)c->scale,
                                     (unsigned char)(c->scale >> 8),
                                     (unsigned char)c->flags,
                                     (unsigned char)(c->flags >> 8),
                                     c->kind,
                                     c->width};
    kept_put_text(to, c->name);
    kept_put_text(to, c->unit ? c->unit : "");
    kept_put(to, numbers, sizeof numbers);
}

static kept_hash kept_content(const netprof_schema *s)
{
    unsigned char *bytes = NULL;
    kept_hash hash;
    for (size_t i = 0; i < s->device_count; i++) {
        const netprof_device *d = &s->devices[i];
        kept_put_text(&bytes, d->source);
        kept_put_text(&bytes, d->name);
        kept_put(&bytes, &d->flags, sizeof d->flags);
        kept_put(&bytes, &d->count, sizeof d->count);
        for (size_t f = 0; f < d->fact_count; f++) {
            if (!kept_fact(d, &d->facts[f])) continue;
            kept_put_text(&bytes, d->facts[f].key);
            kept_put_text(&bytes, d->facts[f].value);
        }
        kept_put_text(&bytes, ""); // the end of its facts: no counter is called like one
        for (size_t c = d->first; c < (size_t)d->first + d->count; c++)
            kept_put_counter(&bytes, &s->counters[c]);
    }
    sha256(hash.bytes, bytes ? (const char *)bytes : "", arrlenu(bytes));
    arrfree(bytes);
    return hash;
}

static const netprof_schema *kept_build(const netprof_schema *s)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *small = NULL;
    const char *source = NULL;
    if (!list) memory_exhausted();
    for (size_t i = 0; i < s->device_count; i++) {
        const netprof_device *d = &s->devices[i];
        if (!source || strcmp(source, d->source) != 0) netprof_build_source(list, d->source);
        source = d->source;
        netprof_list_device(list, d->name, 0, d->flags);
        for (size_t f = 0; f < d->fact_count; f++)
            if (kept_fact(d, &d->facts[f])) netprof_list_fact(list, d->facts[f].key, d->facts[f].value);
        for (size_t c = d->first; c < (size_t)d->first + d->count; c++)
            netprof_list_counter(list, &s->counters[c]);
    }
    return netprof_build_end(list, &small, NULL) ? NULL : small;
}

// NULL: it cannot be made smaller, or the counters would stand elsewhere in it.
static const netprof_schema *kept_reduce(const netprof_schema *s)
{
    const netprof_schema *small = kept_build(s);
    if (small && small->counter_count == s->counter_count && small->device_count == s->device_count) return small;
    netprof_schema_release(small);
    return NULL;
}

static kept_schema *kept_schemas_use(kept_schemas *k, const netprof_schema *whole)
{
    kept_hash content = kept_content(whole);
    kept_schema *x = hmget(k->known, content);
    if (!x) {
        x = memory_calloc(1, sizeof *x);
        *x = (kept_schema){.content = content, .schema = kept_reduce(whole)};
        if (!x->schema) netprof_schema_retain(x->schema = whole);
        hmput(k->known, content, x);
    }
    x->users++;
    return x;
}

static void kept_schemas_leave(kept_schemas *k, kept_schema *x)
{
    if (!x || --x->users) return;
    hmdel(k->known, x->content);
    netprof_schema_release(x->schema);
    free(x);
}

size_t kept_schemas_count(const kept_schemas *k)
{
    return hmlenu(k->known);
}

void kept_schemas_close(kept_schemas *k)
{
    if (!k) return;
    hmfree(k->known);
    arrfree(k->bytes);
    free(k);
}

// ---- readings: most numbers are small, or the same as the one before ----

static void kept_put_number(unsigned char **to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        arrput(*to, (unsigned char)(value | 0x80));
    arrput(*to, (unsigned char)value);
}

static uint64_t kept_get_number(const unsigned char **from)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        unsigned char byte = *(*from)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
}

// Small ones of either sign are short.
static uint64_t kept_fold(uint64_t value)
{
    return value << 1 ^ (value >> 63 ? UINT64_MAX : 0);
}

static uint64_t kept_unfold(uint64_t folded)
{
    return folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0);
}

static void kept_put_time(unsigned char **to, int64_t time_ns, int64_t since_ns)
{
    kept_put_number(to, kept_fold((uint64_t)time_ns - (uint64_t)since_ns));
}

static int64_t kept_get_time(const unsigned char **from, int64_t since_ns)
{
    return (int64_t)((uint64_t)since_ns + kept_unfold(kept_get_number(from)));
}

// How many in a row have the same one, and which.
static void kept_put_statuses(unsigned char **to, const uint8_t *status, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && status[end] == status[i];)
            end++;
        kept_put_number(to, end - i);
        arrput(*to, status[i]);
    }
}

static void kept_get_statuses(const unsigned char **from, uint8_t *status, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t run = (size_t)kept_get_number(from);
        memset(status + i, *(*from)++, run);
        i += run;
    }
}

static bool kept_has_stamps(const netprof_snapshot *s)
{
    for (size_t i = 0; i < s->schema->counter_count; i++)
        if (s->stamps_ns[i]) return true;
    return false;
}

static void kept_encode(unsigned char **to, const netprof_snapshot *s)
{
    size_t counters = s->schema->counter_count;
    bool stamped = kept_has_stamps(s);
    if (*to) arrsetlen(*to, 0);
    kept_put_statuses(to, s->status, counters);
    for (size_t i = 0; i < counters; i++)
        kept_put_number(to, s->schema->counters[i].flags & NETPROF_SIGNED ? kept_fold(s->values[i]) : s->values[i]);
    for (size_t i = 0; i < s->schema->device_count; i++) {
        kept_put_time(to, s->device_begin_ns[i], s->begin_ns);
        kept_put_time(to, s->device_end_ns[i], s->device_begin_ns[i]);
    }
    arrput(*to, stamped);
    for (size_t i = 0; stamped && i < counters; i++)
        kept_put_time(to, s->stamps_ns[i], i ? s->stamps_ns[i - 1] : 0);
}

static void kept_decode(const unsigned char *from, netprof_snapshot *s)
{
    size_t counters = s->schema->counter_count;
    kept_get_statuses(&from, s->status, counters);
    for (size_t i = 0; i < counters; i++) {
        uint64_t value = kept_get_number(&from);
        s->values[i] = s->schema->counters[i].flags & NETPROF_SIGNED ? kept_unfold(value) : value;
    }
    for (size_t i = 0; i < s->schema->device_count; i++) {
        s->device_begin_ns[i] = kept_get_time(&from, s->begin_ns);
        s->device_end_ns[i] = kept_get_time(&from, s->device_begin_ns[i]);
    }
    bool stamped = *from++;
    for (size_t i = 0; stamped && i < counters; i++)
        s->stamps_ns[i] = kept_get_time(&from, i ? s->stamps_ns[i - 1] : 0);
}

bool kept_is_of(const kept *k, const netprof_schema *schema, const unsigned char hash[32])
{
    return k->schema && memcmp(k->hash, hash, sizeof k->hash) == 0 &&
           k->schema->counter_count == schema->counter_count && k->schema->device_count == schema->device_count;
}

static void kept_keep_bytes(kept *k, const unsigned char *bytes)
{
    if (!k->data || k->bytes != arrlenu(bytes)) {
        free(k->data);
        k->bytes = arrlenu(bytes);
        k->data = memory_alloc(k->bytes);
    }
    memcpy(k->data, bytes, k->bytes);
}

void kept_take(kept *k, const kept *like, kept_schemas *schemas, const netprof_snapshot *s,
               const unsigned char hash[32])
{
    kept_schema *before = k->shared;
    k->shared = kept_is_of(like, s->schema, hash) ? like->shared : NULL;
    if (k->shared)
        k->shared->users++;
    else
        k->shared = kept_schemas_use(schemas, s->schema);
    kept_schemas_leave(schemas, before);
    kept_encode(&schemas->bytes, s);
    kept_keep_bytes(k, schemas->bytes);
    k->schema = k->shared->schema;
    memcpy(k->hash, hash, sizeof k->hash);
    k->begin_ns = s->begin_ns;
    k->end_ns = s->end_ns;
    k->wall_ns = s->wall_ns;
    k->stamp_error_ns = s->stamp_error_ns;
    k->set = s->set;
}

void kept_give(const kept *k, const netprof_schema *schema, netprof_snapshot *to)
{
    if (netprof_snapshot_make(to, schema, NULL)) memory_exhausted();
    to->begin_ns = k->begin_ns;
    to->end_ns = k->end_ns;
    to->wall_ns = k->wall_ns;
    to->stamp_error_ns = k->stamp_error_ns;
    to->set = k->set;
    kept_decode(k->data, to);
    for (size_t i = 0; i < schema->counter_count; i++)
        to->not_ok += to->status[i] != NETPROF_STATUS_OK && to->status[i] != NETPROF_STATUS_SKIPPED &&
                      to->status[i] != NETPROF_STATUS_SATURATED;
}

void kept_free(kept *k, kept_schemas *schemas)
{
    kept_schemas_leave(schemas, k->shared);
    free(k->data);
    *k = (kept){.schema = NULL};
}
