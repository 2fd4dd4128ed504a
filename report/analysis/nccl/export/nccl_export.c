#define _GNU_SOURCE // gmtime_r
#include "nccl_export.h"

#include "nccl_peers_export.h"

#include "nccl_text.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <string.h>

static const nccl_communicator *tables_communicator(const nccl *n, const nccl_series *s)
{
    return &n->communicators[s->communicator];
}

static void tables_head(nccl_out *o, const char *columns)
{
    nccl_out_text(o, columns);
    nccl_out_bytes(o, "\n", 1);
}

// ---- orders of lines ----

typedef struct ordered {
    const nccl *n;
    const nccl_series *series;
} ordered;

static int tables_by_identity(const nccl *n, const nccl_series *x, const nccl_series *y)
{
    const nccl_communicator *a = tables_communicator(n, x), *b = tables_communicator(n, y);
    int order = strcmp(a->id, b->id);
    if (!order) order = (a->run > b->run) - (a->run < b->run);
    return order ? order : (a > b) - (a < b);
}

static int tables_by_kind(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    if (x->series->kind != y->series->kind) return x->series->kind < y->series->kind ? -1 : 1;
    return tables_by_identity(x->n, x->series, y->series);
}

static int tables_by_communicator(const void *a, const void *b)
{
    const ordered *x = a, *y = b;
    int order = tables_by_identity(x->n, x->series, y->series);
    return order ? order : tables_by_kind(a, b);
}

static ordered *tables_series_in_order(const nccl *n, int (*compare)(const void *, const void *))
{
    ordered *all = memory_array(NULL, n->series_count, sizeof *all);
    for (size_t i = 0; i < n->series_count; i++)
        all[i] = (ordered){n, &n->series[i]};
    qsort(all, n->series_count, sizeof *all, compare);
    return all;
}

// ---- lines.csv ----

static const char *tables_packing_name(nccl_packing p)
{
    static const char *const names[] = {"plain", "gzip", "zstd"};
    return names[p];
}

static void tables_lines_csv(const nccl *n, nccl_out *o)
{
    static const nccl_outcome outcomes[] = {NCCL_BLANK,      NCCL_BAD_JSON, NCCL_NOT_OBJECT, NCCL_NO_CONTEXT, NCCL_P2P,
                                            NCCL_DUMP_STATS, NCCL_OTHER,    NCCL_BAD_VALUE,  NCCL_COLL};
    tables_head(o, "file,gz_truncated,lines,blank,bad_json,not_object,no_context,p2p,dump_stats,other,bad_value,"
                   "coll,tail_cut,"
                   "path,proxy,too_long,invalid_sizes,duplicates,conflicts,disagreeing,first_bad_line,packing,bytes,"
                   "problem");
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        nccl_csv_name(o, f->name);
        nccl_csv_u64(o, f->cut);
        nccl_csv_u64(o, f->lines);
        for (size_t k = 0; k < sizeof outcomes / sizeof *outcomes; k++)
            nccl_csv_u64(o, f->outcomes[outcomes[k]]);
        nccl_csv_u64(o, f->tail_cut);
        nccl_csv_name(o, f->path);
        const uint64_t more[] = {
            f->outcomes[NCCL_PROXY], f->outcomes[NCCL_TOO_LONG], f->invalid_sizes, f->duplicates, f->conflicts,
            f->disagreeing,          f->first_bad_line};
        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            nccl_csv_u64(o, more[k]);
        nccl_csv_name(o, tables_packing_name(f->packing));
        nccl_csv_u64(o, f->bytes);
        nccl_csv_name(o, f->error ? strerror(f->error) : f->problem ? f->problem : "");
        nccl_csv_line_end(o);
    }
}

// ---- instances ----

// "2;5": the members that share the shortest time.
static void tables_late_ranks(const nccl *n, const nccl_instance *x, nccl_out *o)
{
    const char *between = "";
    for (uint32_t i = 0; i < x->count; i++) {
        const nccl_record *r = &n->records[x->first + i];
        if (r->time_us != x->min_us) continue;
        nccl_out_text(o, between);
        nccl_out_u64(o, (uint64_t)n->members[nccl_record_member(n, r)].rank);
        between = ";";
    }
}

static void tables_instance_cells(const nccl *n, const nccl_series *s, const nccl_instance *x, nccl_out *o)
{
    const nccl_communicator *c = tables_communicator(n, s);
    const nccl_member *late = &n->members[x->first_late];
    const nccl_process *p = &n->processes[late->process];
    nccl_csv_name(o, nccl_class_name(c->type));
    nccl_csv_name(o, n->colls[s->coll]);
    nccl_csv_u64(o, s->size);
    nccl_csv_name(o, c->id);
    nccl_csv_u64(o, x->sn);
    nccl_csv_u64(o, x->count);
    nccl_csv_i64(o, c->ranks);
    nccl_csv_u64(o, x->min_us);
    nccl_csv_u64(o, x->max_us);
    nccl_csv_number(o, x->mean_us);
    nccl_csv_number(o, x->max_bus);
    nccl_csv_number(o, x->min_bus);
    nccl_csv_i64(o, c->ranks - (int64_t)x->count);
    nccl_csv_u64(o, x->max_us - x->min_us);
    nccl_csv_i64(o, late->rank);
    nccl_csv_name(o, n->hosts[p->host].name);
    nccl_csv_i64(o, p->pid);
}

static void tables_instances_csv(const nccl *n, nccl_out *o, const ordered *order)
{
    tables_head(o, "comm_type,coll,size,id,coll_sn,log_count,n_ranks,min_us,max_us,mean_us,max_busbw,min_busbw,missing_"
                   "ranks,"
                   "skew_us,last_arrival_rank,last_arrival_host,last_arrival_pid,"
                   "communicator,run,last_arrival_ranks,last_arrival_cost_us,median_us,wire_algbw_gbs,wire_busbw_gbs,"
                   "mean_busbw_gbs,algo,proto,first_dump_us,last_dump_us");
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = order[i].series;
        for (size_t k = 0; k < s->instance_count; k++) {
            const nccl_instance *x = &n->instances[s->first_instance + k];
            const nccl_what *what = nccl_record_what(n, &n->records[x->first]);
            tables_instance_cells(n, s, x, o);
            nccl_csv_name(o, tables_communicator(n, s)->label);
            nccl_csv_u64(o, tables_communicator(n, s)->run);
            nccl_csv_name(o, "");
            tables_late_ranks(n, x, o);
            nccl_csv_u64(o, x->second_us - x->min_us);
            nccl_csv_number(o, x->median_us);
            nccl_csv_number(o, nccl_alg_gbs(s, (double)x->min_us));
            nccl_csv_number(o, nccl_bus_gbs(s, (double)x->min_us));
            nccl_csv_number(o, x->mean_bus);
            nccl_csv_name(o, what->algo);
            nccl_csv_name(o, what->proto);
            nccl_csv_u64(o, x->first_dump_us);
            nccl_csv_u64(o, x->last_dump_us);
            nccl_csv_line_end(o);
        }
    }
}

static void tables_ranks_array(const nccl *n, const nccl_instance *x, nccl_out *o, bool times)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const nccl_record *r = &n->records[x->first + i];
        nccl_out_text(o, i ? "," : "[");
        nccl_out_u64(o, times ? r->time_us : (uint64_t)n->members[nccl_record_member(n, r)].rank);
    }
    nccl_out_text(o, "]");
}

static void tables_instances_ndjson(const nccl *n, nccl_out *o, const ordered *order)
{
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = order[i].series;
        const nccl_communicator *c = tables_communicator(n, s);
        for (size_t k = 0; k < s->instance_count; k++) {
            const nccl_instance *x = &n->instances[s->first_instance + k];
            const nccl_what *what = nccl_record_what(n, &n->records[x->first]);
            nccl_json_begin(o);
            nccl_json_member_text(o, "communicator", c->label);
            nccl_json_member_text(o, "id", c->id);
            nccl_json_member_u64(o, "run", c->run);
            nccl_json_member_text(o, "comm_type", nccl_class_name(c->type));
            nccl_json_member_i64(o, "n_ranks", c->ranks);
            nccl_json_member_i64(o, "nnodes", c->nodes);
            nccl_json_member_text(o, "coll", n->colls[s->coll]);
            if (*what->algo) nccl_json_member_text(o, "algo", what->algo);
            if (*what->proto) nccl_json_member_text(o, "proto", what->proto);
            nccl_json_member_u64(o, "coll_sn", x->sn);
            nccl_json_member_u64(o, "size_bytes", s->size);
            nccl_json_member_u64(o, "wire_us", x->min_us);
            nccl_json_member_u64(o, "skew_us", x->max_us - x->min_us);
            nccl_json_member_number(o, "wire_busbw_gbs", nccl_bus_gbs(s, (double)x->min_us));
            nccl_json_key(o, "ranks");
            tables_ranks_array(n, x, o, false);
            nccl_json_key(o, "time_us");
            tables_ranks_array(n, x, o, true);
            nccl_json_member_u64(o, "first_dump_us", x->first_dump_us);
            nccl_json_member_u64(o, "last_dump_us", x->last_dump_us);
            nccl_json_end(o);
        }
    }
}

// ---- communicators, types, ranks ----

static void tables_change_cells(nccl_out *o, const nccl_change *change)
{
    nccl_csv_name(o, "");
    if (change->found) nccl_out_u64(o, change->sn);
    nccl_csv_number(o, change->found ? change->before : NAN);
    nccl_csv_number(o, change->found ? change->after : NAN);
}

static void tables_communicators_csv(const nccl *n, nccl_out *o, const ordered *order)
{
    tables_head(o, "id,comm_type,coll,size,instances,wire_us_p50,wire_us_p99,best_busbw_p50,skew_us_p50,skew_us_p99,"
                   "incomplete,"
                   "communicator,run,n_ranks,nnodes,ranks_seen,missing_records,time_us,wire_us,"
                   "wire_us_p05,wire_us_p95,skew_us_p05,skew_us_p95,"
                   "time_us_p05,time_us_p50,time_us_p95,time_us_p99,algbw_gbs_p05,algbw_gbs_p50,algbw_gbs_p95,algbw_"
                   "gbs_p99,"
                   "busbw_gbs_p05,busbw_gbs_p50,busbw_gbs_p95,busbw_gbs_p99,mean_busbw_gbs_p50,peak_gbs,peak_share,"
                   "wire_change_sn,wire_us_before,wire_us_after,skew_change_sn,skew_us_before,skew_us_after");
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = order[i].series;
        const nccl_communicator *c = tables_communicator(n, s);
        const nccl_spreads *p = &s->spreads;
        nccl_csv_name(o, c->id);
        nccl_csv_name(o, nccl_class_name(c->type));
        nccl_csv_name(o, n->colls[s->coll]);
        nccl_csv_u64(o, s->size);
        nccl_csv_u64(o, s->instance_count);
        const double first[] = {p->wire_us.p50, p->wire_us.p99, p->best_bus_gbs.p50, p->skew_us.p50, p->skew_us.p99};
        for (size_t k = 0; k < sizeof first / sizeof *first; k++)
            nccl_csv_number(o, first[k]);
        nccl_csv_u64(o, s->incomplete);
        nccl_csv_name(o, c->label);
        nccl_csv_u64(o, c->run);
        nccl_csv_i64(o, c->ranks);
        nccl_csv_i64(o, c->nodes);
        nccl_csv_u64(o, c->member_count);
        nccl_csv_u64(o, s->missing);
        nccl_csv_u64(o, s->time_us);
        nccl_csv_u64(o, s->wire_total_us);
        const double more[] = {p->wire_us.p5, p->wire_us.p95, p->skew_us.p5, p->skew_us.p95};
        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            nccl_csv_number(o, more[k]);
        nccl_csv_spread(o, &p->time_us, true);
        nccl_csv_spread(o, &p->alg_gbs, true);
        nccl_csv_spread(o, &p->bus_gbs, true);
        nccl_csv_number(o, p->mean_bus_gbs.p50);
        nccl_csv_number(o, c->peak_gbs);
        nccl_csv_number(o, s->peak_share);
        tables_change_cells(o, &s->wire_change);
        tables_change_cells(o, &s->skew_change);
        nccl_csv_line_end(o);
    }
}

static void tables_types_csv(const nccl *n, nccl_out *o)
{
    tables_head(o, "comm_type,coll,size,instances,min,mean,median,p05,p95,p99,max,std,meaning,incomplete,time_us,"
                   "wire_us,"
                   "wire_us_p05,wire_us_p50,wire_us_p95,wire_us_p99,skew_us_p05,skew_us_p50,skew_us_p95,skew_us_p99,"
                   "time_us_p05,time_us_p50,time_us_p95,time_us_p99,algbw_gbs_p05,algbw_gbs_p50,algbw_gbs_p95,algbw_"
                   "gbs_p99,"
                   "busbw_gbs_p05,busbw_gbs_p50,busbw_gbs_p95,busbw_gbs_p99,peak_gbs,peak_share");
    for (size_t i = 0; i < n->kind_count; i++) {
        const nccl_kind *k = &n->kinds[i];
        const nccl_spreads *p = &k->spreads;
        const nccl_spread *m = &p->mean_bus_gbs;
        nccl_csv_name(o, nccl_class_name(k->type));
        nccl_csv_name(o, n->colls[k->coll]);
        nccl_csv_u64(o, k->size);
        nccl_csv_u64(o, k->instances);
        const double first[] = {m->min, m->mean, m->p50, m->p5, m->p95, m->p99, m->max, m->sd};
        for (size_t j = 0; j < sizeof first / sizeof *first; j++)
            nccl_csv_number(o, first[j]);
        nccl_csv_name(o, nccl_class_meaning(k->type));
        nccl_csv_u64(o, k->incomplete);
        nccl_csv_u64(o, k->time_us);
        nccl_csv_u64(o, k->wire_us);
        const nccl_spread *spreads[] = {&p->wire_us, &p->skew_us, &p->time_us, &p->alg_gbs, &p->bus_gbs};
        for (size_t j = 0; j < sizeof spreads / sizeof *spreads; j++)
            nccl_csv_spread(o, spreads[j], true);
        nccl_csv_number(o, k->peak_gbs);
        nccl_csv_number(o, k->peak_share);
        nccl_csv_line_end(o);
    }
}

static double tables_last_share(const nccl_waiting *w)
{
    return (double)w->last_arrivals / (double)w->records;
}

static int tables_by_last_share(const void *a, const void *b)
{
    const nccl_process *x = *(const nccl_process *const *)a, *y = *(const nccl_process *const *)b;
    double p = tables_last_share(&x->waiting), q = tables_last_share(&y->waiting);
    if (p != q) return p > q ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void tables_ranks_csv(const nccl *n, nccl_out *o)
{
    const nccl_process **order = memory_array(NULL, n->process_count, sizeof *order);
    size_t count = 0;
    for (size_t i = 0; i < n->process_count; i++)
        if (n->processes[i].waiting.records) order[count++] = &n->processes[i];
    qsort(order, count, sizeof(nccl_process *), tables_by_last_share);
    tables_head(o, "host,pid,records,last_arrivals,wait_us_total,wait_us_mean,last_share,local_rank,last_alone,cost_us,"
                   "wait_us_caused,judged,judged_last_alone,judged_cost_us,behind_median_us_mean,missing,missing_tail");
    for (size_t i = 0; i < count; i++) {
        const nccl_process *p = order[i];
        const nccl_waiting *w = &p->waiting;
        nccl_csv_name(o, n->hosts[p->host].name);
        nccl_csv_i64(o, p->pid);
        nccl_csv_u64(o, w->records);
        nccl_csv_u64(o, w->last_arrivals);
        nccl_csv_u64(o, w->suffered_us);
        nccl_csv_number(o, (double)w->suffered_us / (double)w->records);
        nccl_csv_number(o, tables_last_share(w));
        nccl_csv_u64(o, p->local);
        const uint64_t more[] = {w->last_alone, w->cost_us, w->caused_us, w->judged, w->judged_last, w->judged_cost_us};
        for (size_t k = 0; k < sizeof more / sizeof *more; k++)
            nccl_csv_u64(o, more[k]);
        nccl_csv_number(o, w->judged ? w->behind_us / (double)w->judged : NAN);
        nccl_csv_u64(o, w->missing);
        nccl_csv_u64(o, w->missing_tail);
        nccl_csv_line_end(o);
    }
    free(order);
}

// ---- point to point, proxies, metrics ----

static void tables_member_cells(const nccl *n, const nccl_member *m, nccl_out *o)
{
    const nccl_communicator *c = &n->communicators[m->communicator];
    const nccl_process *p = &n->processes[m->process];
    nccl_csv_name(o, c->id);
    nccl_csv_name(o, c->label);
    nccl_csv_name(o, nccl_class_name(c->type));
    nccl_csv_i64(o, m->rank);
    nccl_csv_name(o, n->hosts[p->host].name);
    nccl_csv_i64(o, p->pid);
}

static void tables_peer_cell(nccl_out *o, int64_t peer)
{
    if (peer < 0)
        nccl_csv_name(o, "");
    else
        nccl_csv_i64(o, peer);
}

static void tables_p2p_csv(const nccl *n, nccl_out *o)
{
    tables_head(o, "id,communicator,comm_type,rank,host,pid,p2p,peer,size,timing,records,bytes,time_us_p05,time_us_"
                   "p50,time_us_p95,"
                   "time_us_p99,busbw_gbs_p05,busbw_gbs_p50,busbw_gbs_p95,busbw_gbs_p99");
    for (size_t i = 0; i < n->p2p_count; i++) {
        const nccl_p2p *p = &n->p2p[i];
        tables_member_cells(n, &n->members[p->member], o);
        nccl_csv_name(o, p->operation);
        tables_peer_cell(o, p->peer);
        nccl_csv_u64(o, p->size);
        nccl_csv_name(o, p->timing);
        nccl_csv_u64(o, p->records);
        nccl_csv_number(o, p->traffic_bytes);
        nccl_csv_spread(o, &p->time_us, true);
        nccl_csv_spread(o, &p->bus_gbs, true);
        nccl_csv_line_end(o);
    }
}

static void tables_proxies_csv(const nccl *n, nccl_out *o)
{
    tables_head(o, "id,communicator,comm_type,rank,host,pid,direction,peer,operations,steps,steps_dropped,bytes,"
                   "total_us,"
                   "gpu_produce_us,peer_credit_us,wire_us,flush_us,timed_steps,step_bytes");
    for (size_t i = 0; i < n->proxy_count; i++) {
        const nccl_proxy *p = &n->proxies[i];
        tables_member_cells(n, &n->members[p->member], o);
        nccl_csv_name(o, p->direction);
        tables_peer_cell(o, p->peer);
        const uint64_t values[] = {p->operations, p->steps,   p->steps_dropped, p->bytes, p->total_us,  p->gpu_us,
                                   p->credit_us,  p->wire_us, p->flush_us,      p->timed, p->step_bytes};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            nccl_csv_u64(o, values[k]);
        nccl_csv_line_end(o);
    }
}

static void tables_metrics_csv(const nccl *n, nccl_out *o)
{
    static const char *const labels[] = {"hostname", "node",         "gpu",        "comm_id",      "comm_name",
                                         "rank",     "nranks",       "n_nodes",    "collective",   "p2p_operation",
                                         "coll_sn",  "message_size", "algo_proto", "slurm_job_id", "version"};
    enum { LABELS = sizeof labels / sizeof *labels };
    nccl_out_text(o, "file,metric,value");
    for (size_t k = 0; k < LABELS; k++) {
        nccl_out_text(o, ",");
        nccl_out_text(o, labels[k]);
    }
    nccl_out_text(o, "\n");
    for (size_t i = 0; i < n->metric_count; i++) {
        char text[512];
        nccl_csv_name(o, n->files[n->metrics[i].file].name);
        nccl_csv_name(o, n->metrics[i].name);
        nccl_csv_number(o, n->metrics[i].value);
        for (size_t k = 0; k < LABELS; k++)
            nccl_csv_name(o, nccl_metric_label(&n->metrics[i], labels[k], text, sizeof text));
        nccl_csv_line_end(o);
    }
}

// ---- Elasticsearch: an action, then a document ----

static const char *tables_given(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

static void tables_action(nccl_out *o, const char *index, const nccl_export_options *e, const char *id)
{
    char text[2048];
    snprintf(text, sizeof text, "%.256s-%.256s-%s", tables_given(e->cluster, "unknown"),
             tables_given(e->jobid, "unknown"), id);
    nccl_out_text(o, "{\"index\":{\"_index\":");
    nccl_json_quoted(o, index);
    nccl_out_text(o, ",\"_id\":");
    nccl_json_quoted(o, text);
    nccl_out_text(o, "}}\n");
}

// The members that both kinds of documents begin with.
static void tables_document_begin(const nccl *n, nccl_out *o, const nccl_export_options *e, nccl_class type,
                                  uint32_t coll, uint64_t size, const char *ranks)
{
    char human[32], tag[96], job_tag[400];
    nccl_size_text(size, human, sizeof human);
    snprintf(tag, sizeof tag, "%s_r_%s", human, ranks);
    snprintf(job_tag, sizeof job_tag, "%.256s_%s", tables_given(e->jobid, "unknown"), tag);
    nccl_json_begin(o);
    nccl_json_member_text(o, "s_jobid", tables_given(e->jobid, "unknown"));
    nccl_json_member_text(o, "s_cluster", tables_given(e->cluster, "unknown"));
    nccl_json_member_text(o, "s_user", tables_given(e->user, "unknown"));
    nccl_json_member_text(o, "s_tag", tag);
    nccl_json_member_text(o, "s_jobid_tag", job_tag);
    nccl_json_member_text(o, "s_comm_type", nccl_class_name(type));
    nccl_json_member_text(o, "s_coll_type", n->colls[coll]);
    nccl_json_member_u64(o, "d_msg_size", size);
    nccl_json_member_text(o, "s_msg_size_human_readable", human);
    nccl_json_member_u64(o, "ts_current_time",
                         n->last_dump_us / 1000); // of the data: the same logs make the same documents
}

static void tables_detailed_document(const nccl *n, nccl_out *o, const nccl_export_options *e, const nccl_series *s,
                                     const nccl_instance *x)
{
    const nccl_communicator *c = tables_communicator(n, s);
    char ranks[32], id[1024];
    snprintf(ranks, sizeof ranks, "%lld", (long long)c->ranks);
    snprintf(id, sizeof id, "%s-%.128s-%.256s-r%lld-n%lld-%u-%llu-%llu", nccl_class_name(c->type), n->colls[s->coll],
             c->id, (long long)c->ranks, (long long)c->nodes, c->run, (unsigned long long)s->size,
             (unsigned long long)x->sn);
    tables_action(o, tables_given(e->detailed_index, "nccl-detailed"), e, id);
    tables_document_begin(n, o, e, c->type, s->coll, s->size, ranks);
    nccl_json_member_text(o, "s_comm_id", c->id);
    nccl_json_member_u64(o, "d_coll_sn", x->sn);
    nccl_json_member_number(o, "d_mean_coll_busbw", x->mean_bus);
    nccl_json_member_u64(o, "d_coll_start_timestamp_us", x->first_dump_us);
    nccl_json_member_u64(o, "d_coll_end_timestamp_us", x->last_dump_us);
    nccl_json_member_u64(o, "d_coll_duration_us", x->last_dump_us - x->first_dump_us);
    nccl_json_member_u64(o, "d_wire_us", x->min_us);
    nccl_json_member_u64(o, "d_skew_us", x->max_us - x->min_us);
    nccl_json_end(o);
}

static void tables_summary_document(const nccl *n, nccl_out *o, const nccl_export_options *e, const nccl_kind *k)
{
    char ranks[32] = "", id[512];
    for (size_t i = 0; i < n->series_count; i++) {
        char own[32];
        if (n->series[i].kind != (uint32_t)(k - n->kinds)) continue;
        snprintf(own, sizeof own, "%lld", (long long)tables_communicator(n, &n->series[i])->ranks);
        snprintf(ranks, sizeof ranks, "%s", *ranks && strcmp(ranks, own) != 0 ? "several" : own);
        if (strcmp(ranks, "several") == 0) break;
    }
    snprintf(id, sizeof id, "summary-%s-%.128s-%llu", nccl_class_name(k->type), n->colls[k->coll],
             (unsigned long long)k->size);
    tables_action(o, tables_given(e->summary_index, "nccl-summary"), e, id);
    tables_document_begin(n, o, e, k->type, k->coll, k->size, ranks);
    nccl_json_member_number(o, "d_avg_busbw", k->spreads.mean_bus_gbs.mean);
    nccl_json_member_number(o, "d_max_busbw", k->spreads.mean_bus_gbs.max);
    nccl_json_member_number(o, "d_min_busbw", k->spreads.mean_bus_gbs.min);
    nccl_json_member_u64(o, "d_op_count", k->instances);
    nccl_json_member_number(o, "d_wire_us_p50", k->spreads.wire_us.p50);
    nccl_json_member_number(o, "d_skew_us_p50", k->spreads.skew_us.p50);
    nccl_json_end(o);
}

static void tables_bulk_ndjson(const nccl *n, nccl_out *o, const ordered *order, const nccl_export_options *e)
{
    for (size_t i = 0; i < n->series_count; i++)
        for (size_t k = 0; k < order[i].series->instance_count; k++)
            tables_detailed_document(n, o, e, order[i].series, &n->instances[order[i].series->first_instance + k]);
    for (size_t i = 0; i < n->kind_count; i++)
        tables_summary_document(n, o, e, &n->kinds[i]);
}

// ---- all tables ----

static const char *const table_files[NCCL_TABLES] = {
    "lines.csv", "instances.csv", "communicators.csv", "types.csv",   "ranks.csv",        "p2p.csv",    "proxies.csv",
    "waits.csv", "adapters.csv",  "peers.csv",         "metrics.csv", "instances.ndjson", "bulk.ndjson"};

const char *nccl_table_file(nccl_table table)
{
    return table_files[table];
}

bool nccl_table_empty(const nccl *n, nccl_table table)
{
    switch (table) {
    case NCCL_P2P_CSV: return !n->p2p_count;
    case NCCL_PROXIES_CSV:
    case NCCL_PEERS_CSV: return !n->proxy_count;
    case NCCL_WAITS_CSV: return !n->spent_count;
    case NCCL_ADAPTERS_CSV: return !n->used_count;
    case NCCL_METRICS_CSV: return !n->metric_count;
    default: return false;
    }
}

netprof_err nccl_export(const nccl *n, nccl_table table, const nccl_export_options *options, netprof_write_fn write,
                        void *user)
{
    static const nccl_export_options none;
    nccl_out o;
    ordered *order =
        tables_series_in_order(n, table == NCCL_COMMUNICATORS_CSV ? tables_by_communicator : tables_by_kind);
    nccl_out_begin(&o, write, user);
    switch (table) {
    case NCCL_LINES_CSV: tables_lines_csv(n, &o); break;
    case NCCL_INSTANCES_CSV: tables_instances_csv(n, &o, order); break;
    case NCCL_COMMUNICATORS_CSV: tables_communicators_csv(n, &o, order); break;
    case NCCL_TYPES_CSV: tables_types_csv(n, &o); break;
    case NCCL_RANKS_CSV: tables_ranks_csv(n, &o); break;
    case NCCL_P2P_CSV: tables_p2p_csv(n, &o); break;
    case NCCL_PROXIES_CSV: tables_proxies_csv(n, &o); break;
    case NCCL_WAITS_CSV: nccl_waits_csv(n, &o); break;
    case NCCL_ADAPTERS_CSV: nccl_adapters_csv(n, &o); break;
    case NCCL_PEERS_CSV: nccl_peers_csv(n, &o); break;
    case NCCL_METRICS_CSV: tables_metrics_csv(n, &o); break;
    case NCCL_INSTANCES_NDJSON: tables_instances_ndjson(n, &o, order); break;
    default: tables_bulk_ndjson(n, &o, order, options ? options : &none); break;
    }
    free(order);
    return nccl_out_end(&o);
}

// ---- the exporter's tree: only the collectives that it knows ----

static bool tables_is_summarised(const nccl *n, const nccl_kind *k)
{
    static const char *const colls[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast"};
    for (size_t i = 0; i < sizeof colls / sizeof *colls; i++)
        if (strcmp(n->colls[k->coll], colls[i]) == 0) return true;
    return false;
}

size_t nccl_summary_count(const nccl *n)
{
    size_t count = 0;
    for (size_t i = 0; i < n->kind_count; i++)
        count += tables_is_summarised(n, &n->kinds[i]);
    return count;
}

static const nccl_kind *tables_summary_kind(const nccl *n, size_t i)
{
    for (size_t k = 0; k < n->kind_count; k++)
        if (tables_is_summarised(n, &n->kinds[k]) && !i--) return &n->kinds[k];
    return NULL;
}

const char *nccl_summary_path(const nccl *n, size_t i, char *text, size_t size)
{
    const nccl_kind *k = tables_summary_kind(n, i);
    char human[32];
    nccl_size_text(k->size, human, sizeof human);
    snprintf(text, size, "summary/msg_size_%llu_%s/summary_%s_%s_%llu.csv", (unsigned long long)k->size, human,
             nccl_class_name(k->type), n->colls[k->coll], (unsigned long long)k->size);
    return text;
}

// "2025-06-09 17:26:40.500", UTC: the same logs make the same files everywhere.
static void tables_date_cell(nccl_out *o, uint64_t us)
{
    char text[48];
    size_t length = 0;
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;
    nccl_csv_name(o, "");
    if (us / 1000000 > INT32_MAX * UINT64_C(64) || !gmtime_r(&seconds, &parts)) return;
    length = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    length += (size_t)snprintf(text + length, sizeof text - length, ".%03u", (unsigned)(us / 1000 % 1000));
    nccl_out_bytes(o, text, length);
}

static void tables_duration_cell(nccl_out *o, uint64_t us)
{
    char text[48];
    const double value = (double)us;
    if (us < 1000)
        snprintf(text, sizeof text, "%.1f\u03bcs", value);
    else if (us < 1000000)
        snprintf(text, sizeof text, "%.1fms", value / 1e3);
    else
        snprintf(text, sizeof text, "%.1fs", value / 1e6);
    nccl_csv_name(o, text);
}

typedef struct summary_row {
    const nccl_instance *instance;
    const nccl_communicator *communicator;
} summary_row;

static int tables_by_sn(const void *a, const void *b)
{
    const summary_row *x = a, *y = b;
    if (x->instance->sn != y->instance->sn) return x->instance->sn < y->instance->sn ? -1 : 1;
    int order = strcmp(x->communicator->id, y->communicator->id);
    return order ? order : (x->instance > y->instance) - (x->instance < y->instance);
}

static void tables_summary_line(nccl_out *o, const summary_row *row, uint64_t size)
{
    const nccl_instance *x = row->instance;
    char human[32], list[64];
    nccl_csv_name(o, row->communicator->id);
    nccl_csv_u64(o, x->sn);
    nccl_csv_u64(o, size);
    nccl_csv_name(o, "");
    nccl_out_exact(o, x->mean_bus);
    nccl_csv_u64(o, x->count);
    snprintf(list, sizeof list, "[%lld]", (long long)row->communicator->ranks);
    nccl_csv_name(o, list);
    snprintf(list, sizeof list, "[%lld]", (long long)row->communicator->nodes);
    nccl_csv_name(o, list);
    nccl_csv_u64(o, x->first_dump_us);
    nccl_csv_u64(o, x->last_dump_us);
    nccl_csv_u64(o, x->last_dump_us - x->first_dump_us);
    nccl_csv_name(o, nccl_size_text(size, human, sizeof human));
    tables_date_cell(o, x->first_dump_us);
    tables_date_cell(o, x->last_dump_us);
    tables_duration_cell(o, x->last_dump_us - x->first_dump_us);
    nccl_csv_line_end(o);
}

netprof_err nccl_summary_write(const nccl *n, size_t i, netprof_write_fn write, void *user)
{
    const nccl_kind *k = tables_summary_kind(n, i);
    size_t count = 0;
    summary_row *rows = memory_array(NULL, k->instances, sizeof *rows);
    nccl_out o;
    for (size_t s = 0; s < n->series_count; s++) {
        if (n->series[s].kind != (uint32_t)(k - n->kinds)) continue;
        for (size_t x = 0; x < n->series[s].instance_count; x++)
            rows[count++] =
                (summary_row){&n->instances[n->series[s].first_instance + x], tables_communicator(n, &n->series[s])};
    }
    qsort(rows, count, sizeof *rows, tables_by_sn);
    nccl_out_begin(&o, write, user);
    tables_head(&o,
                "id,coll_sn,coll_msg_size_bytes,mean_coll_busbw_gbs,log_count,n_ranks,nnodes,coll_start_timestamp_us,"
                "coll_end_timestamp_us,coll_duration_us,human_readable_coll_msg_size_bytes,coll_start_datetime,"
                "coll_end_datetime,coll_duration_human");
    for (size_t r = 0; r < count; r++)
        tables_summary_line(&o, &rows[r], k->size);
    free(rows);
    return nccl_out_end(&o);
}
