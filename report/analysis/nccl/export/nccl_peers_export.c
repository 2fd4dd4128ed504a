#include "nccl_peers_export.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/nccl/findings/nccl_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool peers_is_lower(const nccl_peer *x)
{
    return x->at_least && nccl_peer_tells_bytes(x);
}

// ---- CSV ----

static void peers_member_cells(const nccl *n, uint32_t member, nccl_out *o)
{
    if (member == NCCL_NONE) {
        for (int i = 0; i < 3; i++)
            nccl_csv_name(o, "");
        return;
    }
    const nccl_process *p = &n->processes[n->members[member].process];
    nccl_csv_i64(o, n->members[member].rank);
    nccl_csv_name(o, n->hosts[p->host].name);
    nccl_csv_i64(o, p->pid);
}

void nccl_peers_csv(const nccl *n, nccl_out *o)
{
    nccl_peers p;
    nccl_peers_make(&p, n);
    nccl_out_text(o,
                  "id,communicator,comm_type,sender,sender_host,sender_pid,receiver,receiver_host,receiver_pid,bytes,"
                  "sent_steps,received_steps,own_gpu_us,credit_us,wire_us,flush_us,receive_us,consume_us,"
                  "own_gpu_beside,credit_beside,wire_beside,flush_beside,bytes_lower_bound\n");
    for (size_t i = 0; i < p.count; i++) {
        const nccl_peer *x = &p.items[i];
        const nccl_communicator *c = &n->communicators[x->communicator];
        nccl_csv_name(o, c->id);
        nccl_csv_name(o, c->label);
        nccl_csv_name(o, nccl_class_name(c->type));
        peers_member_cells(n, x->sender, o);
        peers_member_cells(n, x->receiver, o);
        if (nccl_peer_tells_bytes(x))
            nccl_csv_u64(o, x->bytes);
        else
            nccl_csv_number(o, NAN);
        nccl_csv_u64(o, x->sent);
        nccl_csv_u64(o, x->received);
        for (int w = 0; w < NCCL_WAITS; w++)
            nccl_csv_number(o, x->wait_us[w]);
        nccl_csv_number(o, x->receive_us);
        nccl_csv_number(o, x->consume_us);
        for (int w = 0; w < NCCL_WAITS; w++)
            nccl_csv_number(o, x->beside[w]);
        nccl_csv_u64(o, peers_is_lower(x));
        nccl_csv_line_end(o);
    }
    nccl_peers_free(&p);
}

static void peers_where_cells(const nccl *n, uint32_t member, nccl_out *o)
{
    const nccl_communicator *c = &n->communicators[n->members[member].communicator];
    nccl_csv_name(o, c->id);
    nccl_csv_name(o, c->label);
    nccl_csv_name(o, nccl_class_name(c->type));
    peers_member_cells(n, member, o);
}

void nccl_waits_csv(const nccl *n, nccl_out *o)
{
    nccl_waits w;
    nccl_waits_make(&w, n);
    nccl_out_text(o, "id,communicator,comm_type,rank,host,pid,coll,size,calls,sending_waited_for,sent_steps,sent_bytes,"
                     "own_gpu_us,credit_us,wire_us,received_steps,received_bytes,data_us,flush_us,consume_us,"
                     "sent_bytes_lower_bound,received_bytes_lower_bound\n");
    for (size_t i = 0; i < w.count; i++)
        for (size_t k = w.items[i].first; k < w.items[i].first + w.items[i].count; k++) {
            const nccl_spent *x = &n->spent[w.ranks[k]];
            const nccl_split s = nccl_spent_split(n, x);
            const double sending[] = {x->gpu_us, x->credit_us, x->wire_us},
                         receiving[] = {x->data_us, x->flush_us, x->consume_us};
            peers_where_cells(n, x->member, o);
            nccl_csv_name(o, x->coll);
            nccl_csv_u64(o, x->size);
            nccl_csv_u64(o, x->calls);
            nccl_csv_name(o, nccl_split_mostly(&s));
            nccl_csv_u64(o, x->sent);
            nccl_csv_u64(o, x->sent_bytes);
            for (int j = 0; j < 3; j++)
                nccl_csv_number(o, sending[j]);
            nccl_csv_u64(o, x->received);
            nccl_csv_u64(o, x->received_bytes);
            for (int j = 0; j < 3; j++)
                nccl_csv_number(o, receiving[j]);
            nccl_csv_u64(o, s.sent_at_least);
            nccl_csv_u64(o, s.received_at_least);
            nccl_csv_line_end(o);
        }
    nccl_waits_free(&w);
}

// Who receives through InfiniBand or RoCE does not know how much.
static bool peers_knows_bytes(const nccl_used *x)
{
    return x->bytes || strcmp(x->direction, "recv") != 0;
}

void nccl_adapters_csv(const nccl *n, nccl_out *o)
{
    nccl_out_text(
        o, "id,communicator,comm_type,rank,host,pid,direction,transport,adapter,adapter_member,requests,bytes\n");
    for (size_t i = 0; i < n->used_count; i++) {
        const nccl_used *x = &n->used[i];
        peers_where_cells(n, x->member, o);
        nccl_csv_name(o, x->direction);
        nccl_csv_name(o, x->transport);
        nccl_csv_name(o, x->adapter);
        if (x->device >= 0)
            nccl_csv_i64(o, x->device);
        else
            nccl_csv_name(o, "");
        nccl_csv_u64(o, x->requests);
        if (peers_knows_bytes(x))
            nccl_csv_u64(o, x->bytes);
        else
            nccl_csv_name(o, "");
        nccl_csv_line_end(o);
    }
}

// ---- matrices ----

enum { PEERS_DELAY = NCCL_WAITS, PEERS_BYTES, PEERS_LOWER, PEERS_MATRICES }; // lower: of the bytes

static json_object *peers_value(const nccl_peer *x, int which)
{
    if (which == PEERS_DELAY) return json_number_value(nccl_peer_delay(x));
    if (which == PEERS_LOWER) return json_new_boolean(peers_is_lower(x));
    if (which == PEERS_BYTES) return nccl_peer_tells_bytes(x) ? json_exact_value(x->bytes) : NULL;
    return json_number_value(nccl_peer_wait(x, (nccl_wait)which));
}

// cells: by row and column, or NULL.
static json_object *peers_matrix(const nccl_peer *const *cells, size_t ranks, int which)
{
    json_object *rows = json_new_array();
    for (size_t i = 0; i < ranks; i++) {
        json_object *row = json_new_array();
        for (size_t k = 0; k < ranks; k++)
            json_append(row, cells[i * ranks + k] ? peers_value(cells[i * ranks + k], which) : NULL);
        json_append(rows, row);
    }
    return rows;
}

static json_object *peers_communicator(const nccl *n, const nccl_peer *first, size_t count)
{
    static const char *const names[PEERS_MATRICES] = {"own_gpu_us", "credit_us", "wire_us",          "flush_us",
                                                      "delay_us",   "bytes",     "bytes_lower_bound"};
    const nccl_communicator *c = &n->communicators[first->communicator];
    json_object *o = json_new_object();
    json_put_text(o, "communicator", c->label);
    json_put_text(o, "id", c->id);
    json_put_exact(o, "rank_count", (uint64_t)c->ranks);
    if (c->ranks > NCCL_PEERS_RANKS) return o;
    size_t ranks = (size_t)c->ranks;
    const nccl_peer **cells = memory_calloc(ranks * ranks, sizeof *cells);
    bool any_lower = false;
    for (size_t i = 0; i < count; i++)
        any_lower |= peers_is_lower(&first[i]);
    for (size_t i = 0; i < count; i++)
        if (first[i].sender != NCCL_NONE && first[i].receiver != NCCL_NONE)
            cells[(size_t)n->members[first[i].sender].rank * ranks + (size_t)n->members[first[i].receiver].rank] =
                &first[i];
    for (int i = 0; i < PEERS_MATRICES; i++)
        if (i != PEERS_LOWER || any_lower) json_put(o, names[i], peers_matrix(cells, ranks, i));
    free(cells);
    return o;
}

json_object *nccl_peers_json(const nccl *n)
{
    json_object *list = json_new_array();
    nccl_peers p;
    nccl_peers_make(&p, n);
    for (size_t i = 0, k; i < p.count; i = k) {
        for (k = i + 1; k < p.count && p.items[k].communicator == p.items[i].communicator;)
            k++;
        json_append(list, peers_communicator(n, &p.items[i], k - i));
    }
    nccl_peers_free(&p);
    return list;
}

// ---- by process ----

static void peers_put_split(json_object *o, const nccl_split *s)
{
    json_put_exact(o, "tx_bytes", s->sent_bytes);
    json_put_exact(o, "tx_steps", s->sent);
    json_put_number(o, "own_gpu_us", s->gpu_us);
    json_put_number(o, "credit_us", s->credit_us);
    json_put_number(o, "wire_us", s->wire_us);
    json_put_exact(o, "rx_bytes", s->received_bytes);
    json_put_exact(o, "rx_steps", s->received);
    json_put_number(o, "receive_us", s->receive_us);
    json_put_number(o, "flush_us", s->flush_us);
    json_put_number(o, "consume_us", s->consume_us);
    json_put_lower_bounds(o, s->received_at_least ? "rx_bytes" : NULL, s->sent_at_least ? "tx_bytes" : NULL);
}

json_object *nccl_proxies_json(const nccl *n)
{
    json_object *list = json_new_array();
    nccl_split *splits = nccl_splits_make(n);
    for (size_t i = 0; i < n->process_count; i++) {
        const nccl_split *s = &splits[i];
        if (!s->sent && !s->received) continue;
        json_object *o = json_new_object();
        json_put_text(o, "host", n->hosts[n->processes[i].host].name);
        json_put(o, "pid", json_new_int64(n->processes[i].pid));
        peers_put_split(o, s);
        json_append(list, o);
    }
    free(splits);
    return list;
}

// ---- by collective ----

static void peers_put_member(json_object *o, const nccl *n, uint32_t member)
{
    const nccl_process *p = &n->processes[n->members[member].process];
    json_put(o, "rank", json_new_int64(n->members[member].rank));
    json_put_text(o, "host", n->hosts[p->host].name);
    json_put(o, "pid", json_new_int64(p->pid));
}

static json_object *peers_waits_row(const nccl *n, const nccl_waits *w, const nccl_waits_row *row)
{
    json_object *o = json_new_object(), *ranks = json_new_array();
    json_put_text(o, "communicator", n->communicators[row->communicator].label);
    json_put_text(o, "coll", row->coll);
    json_put_exact(o, "size_bytes", row->size);
    json_put_exact(o, "calls", row->calls);
    json_put_text(o, "sending_waited_for", nccl_split_mostly(&row->sum));
    peers_put_split(o, &row->sum);
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const nccl_spent *x = &n->spent[w->ranks[i]];
        nccl_split s = nccl_spent_split(n, x);
        json_object *rank = json_new_object();
        peers_put_member(rank, n, x->member);
        json_put_exact(rank, "calls", x->calls);
        json_put_text(rank, "sending_waited_for", nccl_split_mostly(&s));
        peers_put_split(rank, &s);
        json_append(ranks, rank);
    }
    json_put(o, "ranks", ranks);
    return o;
}

json_object *nccl_waits_json(const nccl *n)
{
    json_object *list = json_new_array();
    nccl_waits w;
    nccl_waits_make(&w, n);
    for (size_t i = 0; i < w.count; i++)
        json_append(list, peers_waits_row(n, &w, &w.items[i]));
    nccl_waits_free(&w);
    return list;
}

// ---- devices ----

json_object *nccl_devices_json(const nccl *n)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < n->used_count; i++) {
        const nccl_used *x = &n->used[i];
        json_object *o = json_new_object();
        json_put_text(o, "communicator", n->communicators[n->members[x->member].communicator].label);
        peers_put_member(o, n, x->member);
        json_put_text(o, "transport", x->transport);
        json_put_text(o, "way", x->direction);
        json_put_text(o, "adapter", nccl_adapter_is_known(x->adapter) ? x->adapter : NULL);
        if (strchr(x->adapter, '|')) json_put_text(o, "adapter_one_of", x->adapter);
        if (x->device >= 0) json_put(o, "adapter_member", json_new_int64(x->device));
        json_put_exact(o, "requests", x->requests);
        if (peers_knows_bytes(x)) json_put_exact(o, "bytes", x->bytes);
        json_append(list, o);
    }
    return list;
}
