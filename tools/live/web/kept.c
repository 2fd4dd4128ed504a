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
    free(k);
}

// ---- readings ----

static bool kept_has_stamps(const netprof_snapshot *s)
{
    for (size_t i = 0; i < s->schema->counter_count; i++)
        if (s->stamps_ns[i]) return true;
    return false;
}

static void kept_make_room(kept *k, size_t counters, size_t devices, bool stamped)
{
    size_t bytes = counters * (stamped ? 17 : 9) + devices * 16;
    if (!k->values || k->bytes != bytes) {
        free(k->values);
        k->values = memory_alloc(bytes ? bytes : 1);
        k->bytes = bytes;
    }
    k->device_begin_ns = (int64_t *)(void *)(k->values + counters);
    k->device_end_ns = k->device_begin_ns + devices;
    k->stamps_ns = stamped ? k->device_end_ns + devices : NULL;
    k->status = (uint8_t *)(k->device_end_ns + devices + (stamped ? counters : 0));
}

static void kept_copy(void *to, const void *from, size_t size)
{
    if (size) memcpy(to, from, size);
}

bool kept_is_of(const kept *k, const netprof_schema *schema, const unsigned char hash[32])
{
    return k->schema && memcmp(k->hash, hash, sizeof k->hash) == 0 &&
           k->schema->counter_count == schema->counter_count && k->schema->device_count == schema->device_count;
}

void kept_take(kept *k, const kept *like, kept_schemas *schemas, const netprof_snapshot *s,
               const unsigned char hash[32])
{
    size_t counters = s->schema->counter_count, devices = s->schema->device_count;
    kept_schema *before = k->shared;
    k->shared = kept_is_of(like, s->schema, hash) ? like->shared : NULL;
    if (k->shared)
        k->shared->users++;
    else
        k->shared = kept_schemas_use(schemas, s->schema);
    kept_schemas_leave(schemas, before);
    kept_make_room(k, counters, devices, kept_has_stamps(s));
    k->schema = k->shared->schema;
    memcpy(k->hash, hash, sizeof k->hash);
    kept_copy(k->values, s->values, counters * sizeof *s->values);
    kept_copy(k->device_begin_ns, s->device_begin_ns, devices * sizeof *s->device_begin_ns);
    kept_copy(k->device_end_ns, s->device_end_ns, devices * sizeof *s->device_end_ns);
    if (k->stamps_ns) kept_copy(k->stamps_ns, s->stamps_ns, counters * sizeof *s->stamps_ns);
    kept_copy(k->status, s->status, counters);
    k->begin_ns = s->begin_ns;
    k->end_ns = s->end_ns;
    k->wall_ns = s->wall_ns;
    k->stamp_error_ns = s->stamp_error_ns;
    k->set = s->set;
}

void kept_give(const kept *k, const netprof_schema *schema, netprof_snapshot *to)
{
    size_t counters = schema->counter_count, devices = schema->device_count;
    if (netprof_snapshot_make(to, schema, NULL)) memory_exhausted();
    kept_copy(to->values, k->values, counters * sizeof *to->values);
    kept_copy(to->device_begin_ns, k->device_begin_ns, devices * sizeof *to->device_begin_ns);
    kept_copy(to->device_end_ns, k->device_end_ns, devices * sizeof *to->device_end_ns);
    if (k->stamps_ns) kept_copy(to->stamps_ns, k->stamps_ns, counters * sizeof *to->stamps_ns);
    kept_copy(to->status, k->status, counters);
    to->begin_ns = k->begin_ns;
    to->end_ns = k->end_ns;
    to->wall_ns = k->wall_ns;
    to->stamp_error_ns = k->stamp_error_ns;
    to->set = k->set;
    for (size_t i = 0; i < counters; i++)
        to->not_ok += to->status[i] != NETPROF_STATUS_OK && to->status[i] != NETPROF_STATUS_SKIPPED &&
                      to->status[i] != NETPROF_STATUS_SATURATED;
}

void kept_free(kept *k, kept_schemas *schemas)
{
    kept_schemas_leave(schemas, k->shared);
    free(k->values);
    *k = (kept){.schema = NULL};
}
