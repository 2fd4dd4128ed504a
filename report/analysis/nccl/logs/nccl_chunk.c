#define _GNU_SOURCE // memrchr
#include "nccl_chunk.h"

#include "nccl_stream.h"
#include "analysis/base/saturating_sum.h"

#include <errno.h>
#include <stdlib.h>

enum { TEXT_MOST = 512 }; // of a name that is kept

// A text in the form in which it is kept and compared: decoded into `buffer` if it has escapes.
typedef struct plain {
    const char *at;
    size_t length;
    char buffer[TEXT_MOST];
} plain;

static void chunk_resolve(plain *to, const nccl_text *text)
{
    to->at = text->at;
    to->length = text->length;
    if (!text->escaped && text->length < TEXT_MOST) return;
    to->length = nccl_text_decode(text, to->buffer, sizeof to->buffer);
    to->at = to->buffer;
}

static bool chunk_is_text(const plain *p, const char *text)
{
    return strncmp(text, p->at, p->length) == 0 && !text[p->length];
}

static const char *chunk_keep(nccl_chunk *c, const plain *p)
{
    return nccl_arena_text(&c->arena, p->at, p->length);
}

// ---- who ----

typedef struct who {
    const nccl_chunk *chunk;
    const nccl_line *line;
    plain id, host;
} who;

static bool chunk_same_member(const void *user, uint32_t i)
{
    const who *w = user;
    const nccl_local_member *m = &w->chunk->members[i];
    return m->rank == (int64_t)w->line->header.rank && m->pid == (int64_t)w->line->metadata.pid &&
           m->ranks == (int64_t)w->line->header.ranks && m->nodes == (int64_t)w->line->header.nodes &&
           chunk_is_text(&w->id, m->id) && chunk_is_text(&w->host, m->host);
}

static void chunk_add_member(nccl_chunk *c, const who *w)
{
    plain name = {.at = ""};
    if (w->line->header.seen & 2) chunk_resolve(&name, &w->line->header.name);
    if (chunk_is_text(&name, "unknown")) name.length = 0;
    nccl_local_member m = {.id = chunk_keep(c, &w->id),
                           .name = name.length ? chunk_keep(c, &name) : "",
                           .host = chunk_keep(c, &w->host),
                           .rank = (int64_t)w->line->header.rank,
                           .ranks = (int64_t)w->line->header.ranks,
                           .nodes = (int64_t)w->line->header.nodes,
                           .pid = (int64_t)w->line->metadata.pid,
                           .first_dump_us = UINT64_MAX};
    arrput(c->members, m);
}

static uint32_t chunk_find_member(nccl_chunk *c, const nccl_line *line)
{
    who w;
    w.chunk = c;
    w.line = line;
    chunk_resolve(&w.id, &line->header.id);
    chunk_resolve(&w.host, &line->metadata.host);
    uint64_t hash = nccl_mix(nccl_hash_bytes(w.id.at, w.id.length), line->header.rank ^ line->metadata.pid << 32);
    uint32_t next = (uint32_t)arrlenu(c->members);
    uint32_t found = nccl_index_put(&c->member_index, hash, chunk_same_member, &w, next);
    if (found == next) chunk_add_member(c, &w);
    return found;
}

// ---- what ----

typedef struct what_key {
    const nccl_chunk *chunk;
    plain coll, algo, proto, timing;
} what_key;

static bool chunk_same_what(const void *user, uint32_t i)
{
    const what_key *k = user;
    const nccl_what *w = &k->chunk->whats[i];
    return chunk_is_text(&k->coll, w->coll) && chunk_is_text(&k->timing, w->timing) &&
           chunk_is_text(&k->algo, w->algo) && chunk_is_text(&k->proto, w->proto);
}

static void chunk_resolve_if(plain *to, const nccl_text *text, bool there)
{
    to->at = "";
    to->length = 0;
    if (there) chunk_resolve(to, text);
}

static uint32_t chunk_find_what(nccl_chunk *c, const nccl_perf *perf)
{
    what_key k;
    k.chunk = c;
    chunk_resolve(&k.coll, &perf->coll);
    chunk_resolve_if(&k.algo, &perf->algo, perf->seen >> NCCL_PERF_ALGO & 1);
    chunk_resolve_if(&k.proto, &perf->proto, perf->seen >> NCCL_PERF_PROTO & 1);
    chunk_resolve_if(&k.timing, &perf->timing, perf->seen >> NCCL_PERF_TIMING & 1);
    uint64_t hash = nccl_hash_bytes(k.coll.at, k.coll.length);
    hash = nccl_mix(hash, nccl_hash_bytes(k.algo.at, k.algo.length));
    hash = nccl_mix(hash, nccl_hash_bytes(k.proto.at, k.proto.length));
    hash = nccl_mix(hash, nccl_hash_bytes(k.timing.at, k.timing.length));
    uint32_t next = (uint32_t)arrlenu(c->whats);
    uint32_t found = nccl_index_put(&c->what_index, hash, chunk_same_what, &k, next);
    if (found != next) return found;
    nccl_what what = {chunk_keep(c, &k.coll), chunk_keep(c, &k.algo), chunk_keep(c, &k.proto),
                      chunk_keep(c, &k.timing)};
    arrput(c->whats, what);
    return found;
}

// ---- slots: member, what and size together ----

typedef struct slot_key {
    const nccl_chunk *chunk;
    uint32_t member, what;
    uint64_t size;
} slot_key;

static bool chunk_same_slot(const void *user, uint32_t i)
{
    const slot_key *k = user;
    const nccl_local_slot *s = &k->chunk->slots[i];
    return s->member == k->member && s->what == k->what && s->size == k->size;
}

static bool chunk_same_track(const void *user, uint32_t i)
{
    const slot_key *k = user;
    return k->chunk->tracks[i].member == k->member && k->chunk->tracks[i].what == k->what;
}

static uint32_t chunk_find_track(nccl_chunk *c, const slot_key *k)
{
    uint32_t next = (uint32_t)arrlenu(c->tracks);
    uint32_t found = nccl_index_put(&c->track_index, nccl_mix(k->member, k->what), chunk_same_track, k, next);
    nccl_track track = {.member = k->member, .what = k->what};
    if (found == next) arrput(c->tracks, track);
    return found;
}

static nccl_local_slot *chunk_find_slot(nccl_chunk *c, uint32_t member, uint32_t what, uint64_t size)
{
    slot_key k = {c, member, what, size};
    uint64_t hash = nccl_mix(nccl_mix(size, member), what);
    uint32_t next = (uint32_t)arrlenu(c->slots),
             found = nccl_index_put(&c->slot_index, hash, chunk_same_slot, &k, next);
    if (found == next) {
        nccl_local_slot slot = {.member = member, .what = what, .track = chunk_find_track(c, &k), .size = size};
        arrput(c->slots, slot);
    }
    return &c->slots[found];
}

// ---- lines ----

static void chunk_note_time(nccl_local_member *m, uint64_t dump_us)
{
    if (dump_us < m->first_dump_us) m->first_dump_us = dump_us;
    if (dump_us > m->last_dump_us) m->last_dump_us = dump_us;
}

static void chunk_add_record(nccl_chunk *c, uint32_t member, const nccl_perf *perf, uint64_t dump_us)
{
    nccl_local_slot *slot = chunk_find_slot(c, member, chunk_find_what(c, perf), perf->size);
    nccl_record record = {(uint32_t)(slot - c->slots), 0, perf->sn, perf->time_us, dump_us, perf->bus_gbs};
    if (perf->seen >> NCCL_PERF_TRACE & 1) {
        arrput(c->traces, perf->trace);
        record.trace = (uint32_t)arrlenu(c->traces);
    }
    nccl_track *t = &c->tracks[slot->track];
    if (t->any && perf->sn <= t->sn && dump_us >= t->dump_us) c->members[member].steps_back++;
    uint64_t first_sn = t->any ? t->first_sn : perf->sn;
    if (!t->any || perf->sn > t->sn) *t = (nccl_track){t->member, t->what, true, first_sn, perf->sn, dump_us};
    slot->count++;
    arrput(c->records, record);
    chunk_note_time(&c->members[member], dump_us);
}

static void chunk_add_p2p(nccl_chunk *c, uint32_t member, const nccl_perf *perf, uint64_t dump_us)
{
    int64_t peer = perf->seen >> NCCL_PERF_PEER & 1 ? (int64_t)perf->peer : -1;
    nccl_p2p_record record = {member,       chunk_find_what(c, perf), peer, perf->sn, perf->size, perf->time_us,
                              perf->bus_gbs};
    arrput(c->p2p, record);
    chunk_note_time(&c->members[member], dump_us);
}

typedef struct proxy_key {
    const nccl_chunk *chunk;
    uint32_t member;
    int64_t peer;
    plain direction;
} proxy_key;

static bool chunk_same_proxy(const void *user, uint32_t i)
{
    const proxy_key *k = user;
    const nccl_proxy *p = &k->chunk->proxies[i];
    return p->member == k->member && p->peer == k->peer && chunk_is_text(&k->direction, p->direction);
}

static nccl_proxy *chunk_find_proxy(nccl_chunk *c, const proxy_key *k)
{
    uint32_t next = (uint32_t)arrlenu(c->proxies);
    uint32_t found = nccl_index_put(&c->proxy_index, nccl_mix((uint64_t)k->peer, k->member), chunk_same_proxy, k, next);
    if (found == next) {
        nccl_proxy proxy = {.member = k->member, .peer = k->peer, .direction = chunk_keep(c, &k->direction)};
        arrput(c->proxies, proxy);
    }
    return &c->proxies[found];
}

static bool chunk_is_same_call(const nccl_parent *a, const nccl_parent *b)
{
    return a->member == b->member && a->kind == b->kind && a->sn == b->sn && a->sends == b->sends;
}

static bool chunk_same_parent(const void *user, uint32_t i)
{
    const nccl_chunk *c = ((const void *const *)user)[0];
    return chunk_is_same_call(&c->parents[i], ((const void *const *)user)[1]);
}

// Of lines that tell when it was the last ones alone are looked at: what is one transfer stands together.
static nccl_parent *chunk_find_parent_then(nccl_chunk *c, const nccl_parent *k)
{
    enum { LAST = 16 };
    size_t count = arrlenu(c->parents), first = count > LAST ? count - LAST : 0;
    for (size_t i = count; i-- > first;) {
        nccl_parent *x = &c->parents[i];
        if (x->from_us && chunk_is_same_call(x, k) && x->from_us <= k->to_us && k->from_us <= x->to_us) return x;
    }
    arrput(c->parents, *k);
    return &arrlast(c->parents);
}

static nccl_parent *chunk_find_parent(nccl_chunk *c, const nccl_parent *k)
{
    const void *user[] = {c, k};
    if (k->from_us) return chunk_find_parent_then(c, k);
    uint64_t hash = nccl_mix(nccl_mix(k->sn, (uint64_t)k->kind << 1 | k->sends), k->member);
    uint32_t next = (uint32_t)arrlenu(c->parents),
             found = nccl_index_put(&c->parent_index, hash, chunk_same_parent, user, next);
    if (found == next) arrput(c->parents, *k);
    return &c->parents[found];
}

// Neither the operation nor all of its steps tell what they moved.
static bool chunk_is_unsized(const nccl_proxy_line *p)
{
    bool by_steps = p->steps && p->timed >= p->steps && p->step_bytes;
    return !(p->seen >> NCCL_PROXY_BYTES & 1) && !by_steps;
}

// Of which call it is a part is found out when all calls are known.
static void chunk_add_parent(nccl_chunk *c, uint32_t member, const nccl_proxy_line *p, bool operation, bool sends)
{
    plain type;
    bool named = p->seen >> NCCL_PROXY_PARENT_SN & 1;
    chunk_resolve_if(&type, &p->parent, named && p->seen >> NCCL_PROXY_PARENT & 1);
    nccl_parent k = {.member = member,
                     .kind = chunk_is_text(&type, "coll")  ? NCCL_PARENT_COLL
                             : chunk_is_text(&type, "p2p") ? NCCL_PARENT_P2P
                                                           : NCCL_PARENT_UNNAMED,
                     .sends = sends,
                     .from_us = p->from_us,
                     .to_us = p->to_us};
    if (k.kind) k.sn = p->parent_sn;
    nccl_parent *x = chunk_find_parent(c, &k);
    x->lines++;
    if (operation) x->bytes = sum_capped(x->bytes, p->bytes);
    x->unsized |= operation && (chunk_is_unsized(p) || p->steps_dropped);
    x->timed = sum_capped(x->timed, p->timed);
    x->step_bytes = sum_capped(x->step_bytes, p->step_bytes);
    x->gpu_us = sum_capped(x->gpu_us, p->gpu_us);
    x->credit_us = sum_capped(x->credit_us, p->credit_us);
    x->wire_us = sum_capped(x->wire_us, p->wire_us);
    x->flush_us = sum_capped(x->flush_us, p->flush_us);
    if (p->from_us < x->from_us) x->from_us = p->from_us;
    if (p->to_us > x->to_us) x->to_us = p->to_us;
}

static void chunk_add_proxy(nccl_chunk *c, uint32_t member, const nccl_proxy_line *p)
{
    plain kind;
    proxy_key k;
    chunk_resolve_if(&kind, &p->kind, p->seen >> NCCL_PROXY_KIND & 1);
    chunk_resolve_if(&k.direction, &p->direction, p->seen >> NCCL_PROXY_DIRECTION & 1);
    bool operation = chunk_is_text(&kind, "proxy_op"), step = chunk_is_text(&kind, "proxy_step");
    // The start of an operation is left out: its end says more.
    if (!operation && !step && !chunk_is_text(&kind, "proxy_op_segment")) return;
    bool sends = chunk_is_text(&k.direction, "send");
    if (!p->operations && (sends || chunk_is_text(&k.direction, "recv"))) // of a log: the plugin's files sum up
        chunk_add_parent(c, member, p, operation, sends);
    k.chunk = c;
    k.member = member;
    k.peer = p->seen >> NCCL_PROXY_PEER & 1 && p->peer <= INT32_MAX ? (int64_t)p->peer : -1;
    nccl_proxy *x = chunk_find_proxy(c, &k);
    if (operation) {
        x->operations = sum_capped(x->operations, p->operations ? p->operations : 1);
        x->steps = sum_capped(x->steps, p->steps);
        x->steps_dropped = sum_capped(x->steps_dropped, p->steps_dropped);
        x->bytes = sum_capped(x->bytes, p->bytes);
        x->total_us = sum_capped(x->total_us, p->total_us);
        x->unsized = sum_capped(x->unsized, p->operations ? p->unsized : chunk_is_unsized(p));
    }
    x->gpu_us = sum_capped(x->gpu_us, p->gpu_us);
    x->credit_us = sum_capped(x->credit_us, p->credit_us);
    x->wire_us = sum_capped(x->wire_us, p->wire_us);
    x->flush_us = sum_capped(x->flush_us, p->flush_us);
    x->verbs_operations = sum_capped(x->verbs_operations, p->verbs_operations);
    x->socket_operations = sum_capped(x->socket_operations, p->socket_operations);
    x->timed = sum_capped(x->timed, p->timed);
    x->step_bytes = sum_capped(x->step_bytes, p->step_bytes);
}

static void chunk_add_stats(nccl_chunk *c, uint32_t member, const nccl_line *line)
{
    nccl_dump_stats *s = &c->members[member].stats;
    const nccl_stats_line *from = &line->stats;
    s->dumps++;
    s->coll_records = sum_capped(s->coll_records, from->coll_records);
    s->p2p_records = sum_capped(s->p2p_records, from->p2p_records);
    s->untimed = sum_capped(s->untimed, from->untimed_records);
    s->parts_dropped = sum_capped(s->parts_dropped, from->parts_dropped);
    if (from->coll_dropped > s->coll_dropped) s->coll_dropped = from->coll_dropped;
    if (from->p2p_dropped > s->p2p_dropped) s->p2p_dropped = from->p2p_dropped;
    chunk_note_time(&c->members[member], line->metadata.dump_us);
    bool bare_lines_follow = line->minor < 0 || line->minor >= 3;
    c->context_told = true;
    c->context = (nccl_bare_context){bare_lines_follow ? member : NCCL_NONE, line->metadata.dump_us, from->coll_records,
                                     from->p2p_records};
}

// Returns the member that a bare line belongs to; NCCL_NONE if it is unknown, or if more lines came than were
// announced.
static uint32_t chunk_bare_member(nccl_chunk *c, nccl_outcome kind)
{
    if (!c->context_told && c->begin) { // only the chunk before knows
        uint64_t *count = kind == NCCL_COLL  ? &c->inherited_coll
                          : kind == NCCL_P2P ? &c->inherited_p2p
                                             : &c->inherited_proxy;
        ++*count;
        return NCCL_INHERITED;
    }
    if (c->context.member == NCCL_NONE || kind == NCCL_PROXY) return c->context.member;
    uint64_t *left = kind == NCCL_COLL ? &c->context.coll_left : &c->context.p2p_left;
    if (!*left) return NCCL_NONE;
    --*left;
    return c->context.member;
}

void nccl_chunk_note_time(nccl_chunk *c, uint32_t member, uint64_t us)
{
    chunk_note_time(&c->members[member], us);
}

uint32_t nccl_chunk_member(nccl_chunk *c, const nccl_line *line)
{
    return chunk_find_member(c, line);
}

void nccl_chunk_use(nccl_chunk *c, nccl_line *line)
{
    uint32_t member = line->bare ? chunk_bare_member(c, line->outcome) : chunk_find_member(c, line);
    uint64_t dump_us = line->bare ? c->context.dump_us : line->metadata.dump_us;
    if (member == NCCL_NONE) {
        line->outcome = NCCL_NO_CONTEXT;
        return;
    }
    switch (line->outcome) {
    case NCCL_COLL: chunk_add_record(c, member, &line->perf, dump_us); break;
    case NCCL_P2P: chunk_add_p2p(c, member, &line->perf, dump_us); break;
    case NCCL_PROXY: chunk_add_proxy(c, member, &line->proxy); break;
    default: chunk_add_stats(c, member, line); break;
    }
}

void nccl_chunk_feed(nccl_chunk *c, const char *text, size_t length)
{
    nccl_line line;
    nccl_line_parse(&line, text, length);
    c->lines++;
    c->bytes += length + 1;
    if (line.outcome >= NCCL_COLL) {
        nccl_chunk_use(c, &line);
        if (line.minor >= 0)
            c->versions |= UINT64_C(1) << line.minor;
        else if (!line.bare)
            c->foreign_version = true;
    } else {
        c->invalid_sizes += line.invalid_size;
    }
    if (line.outcome < NCCL_COLL && line.outcome != NCCL_BLANK && !c->first_bad_line) c->first_bad_line = c->lines;
    c->outcomes[line.outcome]++;
}

// ---- bytes ----

typedef struct reader {
    nccl_chunk *chunk;
    nccl_stream *stream;
    char *buffer;
    size_t room, size; // size: bytes that wait to be used
    size_t max_line;
    uint64_t place; // in the file, of the buffer's first byte
    bool skipping;  // inside a line that is too long
} reader;

// The whole lines of the buffer. Returns false when the chunk's part of the file is over.
static bool chunk_feed_lines(reader *r)
{
    nccl_chunk *c = r->chunk;
    char *p = r->buffer, *end = p + r->size;
    bool more = true;
    for (;;) {
        if (r->place + (uint64_t)(p - r->buffer) >= c->end) {
            more = false;
            break;
        }
        char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) break;
        if (r->skipping)
            r->skipping = false;
        else
            nccl_chunk_feed(c, p, (size_t)(newline - p));
        p = newline + 1;
    }
    r->size = (size_t)(end - p);
    r->place += (uint64_t)(p - r->buffer);
    memmove(r->buffer, p, r->size);
    return more;
}

// The buffer is full without the end of a line: a larger one, or the line is given up.
static void chunk_make_room(reader *r)
{
    nccl_chunk *c = r->chunk;
    if (r->room <= r->max_line && !r->skipping) {
        r->room *= 2;
        r->buffer = memory_realloc(r->buffer, r->room + NCCL_LINE_PAD);
        return;
    }
    if (!r->skipping) {
        c->lines++;
        c->outcomes[NCCL_TOO_LONG]++;
        if (!c->first_bad_line) c->first_bad_line = c->lines;
    }
    r->skipping = true;
    c->bytes += r->size;
    r->place += r->size;
    r->size = 0;
}

static void chunk_feed_last(reader *r)
{
    nccl_chunk *c = r->chunk;
    if ((!r->size && !r->skipping) || r->place >= c->end) return;
    c->tail_cut = true;
    r->buffer[r->size] = '\n';
    memset(r->buffer + r->size + 1, 0, NCCL_LINE_PAD - 1);
    if (!r->skipping) {
        nccl_chunk_feed(c, r->buffer, r->size);
        c->bytes--;
    }
}

static void chunk_read_all(reader *r, uint64_t *done)
{
    uint64_t taken = 0;
    for (;;) {
        size_t got = nccl_stream_read(r->stream, r->buffer + r->size, r->room - r->size);
        uint64_t now = nccl_stream_taken(r->stream);
        __atomic_fetch_add(done, now - taken, __ATOMIC_RELAXED);
        taken = now;
        r->size += got;
        if (!got) {
            chunk_feed_last(r);
            return;
        }
        if (!chunk_feed_lines(r)) return;
        if (r->size == r->room) chunk_make_room(r);
    }
}

// A chunk begins with the first line that begins in it: what ends before belongs to the chunk before.
static void chunk_skip_first(reader *r)
{
    if (!r->chunk->begin) return;
    r->place = r->chunk->begin - 1;
    r->skipping = true;
}

void nccl_chunk_begin(nccl_chunk *c)
{
    nccl_local_member inherited = {.id = "", .name = "", .host = "", .first_dump_us = UINT64_MAX};
    c->context.member = NCCL_NONE;
    arrput(c->members, inherited);
}

void nccl_chunk_read(nccl_chunk *c, const char *path, size_t max_line, uint64_t *done)
{
    enum { ROOM = 256 << 10 };
    reader r = {.chunk = c, .room = ROOM, .max_line = max_line};
    nccl_chunk_begin(c);
    r.stream = nccl_stream_open(path, c->begin ? c->begin - 1 : 0);
    if (!r.stream) {
        c->error = errno;
        return;
    }
    r.buffer = memory_alloc(ROOM + NCCL_LINE_PAD);
    memset(r.buffer + ROOM, 0, NCCL_LINE_PAD);
    chunk_skip_first(&r);
    chunk_read_all(&r, done);
    c->packing = nccl_stream_packing(r.stream);
    c->problem = nccl_stream_problem(r.stream);
    c->error = nccl_stream_error(r.stream);
    c->taken = nccl_stream_taken(r.stream);
    nccl_stream_close(r.stream);
    free(r.buffer);
}

void nccl_chunk_free(nccl_chunk *c)
{
    nccl_arena_free(&c->arena);
    nccl_index_free(&c->member_index);
    nccl_index_free(&c->what_index);
    nccl_index_free(&c->slot_index);
    nccl_index_free(&c->track_index);
    nccl_index_free(&c->proxy_index);
    nccl_index_free(&c->parent_index);
    arrfree(c->members);
    arrfree(c->whats);
    arrfree(c->slots);
    arrfree(c->tracks);
    arrfree(c->records);
    arrfree(c->traces);
    arrfree(c->p2p);
    arrfree(c->proxies);
    arrfree(c->parents);
    arrfree(c->spent);
    arrfree(c->spans);
    arrfree(c->used);
    memset(c, 0, sizeof *c);
}
