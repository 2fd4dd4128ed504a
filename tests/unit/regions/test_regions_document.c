// All that is known of regions of a job, whole: regions.json beside this file holds it of six ranks on two hosts, whose steps
// are made of work, messages with NIC counters and a barrier; rank 4 works longest, and its NIC is held and repeats. And of five
// ranks of which MPI alone tells, one of which works longer from the middle on. And of three ranks that enter one name in several
// places, also within itself: the list of names adds up what the tree tells.
#define _GNU_SOURCE
#include "netprof.h"

#include "builtin_rules.h"
#include "support.h"
#include "regions_job.h"

#include "analysis/base/json.h"
#include "analysis/base/json_values.h"
#include "analysis/regions/regions.h"
#include "analysis/regions/regions_flat.h"
#include "golden.h"

#include <math.h>

#define NUMBER(o, x, field) json_put_number(o, #field, (double)(x)->field)
#define INDEX(o, x, field)  json_put_number(o, #field, (x)->field == REGIONS_NONE ? NAN : (double)(x)->field)
#define TEXT(o, x, field)   json_put_text(o, #field, (x)->field)

// ---- the job ----

enum { RANKS = 6, STEPS = 10, SENT = 0, RECEIVED = 1, PAUSED = 2, RETRIES = 3 };

static const netprof_schema *one_nic(void)
{
    static const char *const names[] = {"hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets", "hni_tx_paused_0",
                                        "pct_retry_srb_requests"};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_fact(list, "speed_mbps", "200000");
    netprof_list_fact(list, "port_speed", "BS_200G");
    for (size_t i = 0; i < COUNT(names); i++)
        netprof_list_counter(list,
                             &(netprof_counter){.name = names[i], .unit = "", .width = 56, .flags = NETPROF_FAST});
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// One port of a known speed and one of which none is told; or an interface that is no port.
static const netprof_schema *other_nics(bool ports)
{
    static const char *const names[][2] = {{"rx_bytes", "tx_bytes"}, {"hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets"}};
    static const char *const devices[][2] = {{"veth0", NULL}, {"cxi0", "cxi1"}};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_build_source(list, ports ? "cxi" : "netdev");
    for (size_t i = 0; i < 2 && devices[ports][i]; i++) {
        netprof_list_device(list, devices[ports][i], 0, ports ? NETPROF_DEVICE_PHYSICAL : 0);
        if (ports && !i) netprof_list_fact(list, "speed_mbps", "200000");
        for (size_t k = 0; k < 2; k++)
            netprof_list_counter(
                list, &(netprof_counter){.name = names[ports][k], .unit = "", .width = 56, .flags = NETPROF_FAST});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// Rank 0 has both ports, rank 1 the interface, rank 2 the port whose speed is known; each calls for 100 ms.
static void record_other_nics(const char *tree)
{
    const netprof_schema *schemas[] = {other_nics(true), other_nics(false), one_nic()};
    static const uint64_t sums[][4] = {{1000, 2000, 4000, 8000}, {300, 500}, {70000, 90000, 0, 11}};
    static const char *const hosts[] = {"h1", "h2", "h3"};
    static job_rank r;
    for (long rank = 0; rank < 3; rank++) {
        job_begin(&r, rank, hosts[rank]);
        r.mode = NETPROF_MODE_FAST;
        r.schema = schemas[rank];
        r.sweep_ns = 7000;
        job_call(&r, 0, "all", 100000000);
        if (rank == 0) job_call(&r, 0, "ports", 100000000);
        if (rank == 1) job_call(&r, 0, "interface", 100000000);
        for (size_t n = 0; n < r.node_count; n++)
            for (size_t k = 0; k < COUNT(*sums); k++)
                job_count(&r, 0, r.nodes[n].path, k, sums[rank][k]);
        job_write(&r, tree);
        netprof_schema_release(schemas[rank]);
    }
}

static void record(const char *tree, long rank, const netprof_schema *schema)
{
    static job_rank r;
    const uint64_t ms = 1000000;
    bool late = rank == 4;
    job_begin(&r, rank, rank < 3 ? "h1" : "h2");
    r.rank_count = RANKS;
    r.mode = NETPROF_MODE_FAST;
    r.schema = schema;
    r.sweep_ns = 6200;
    r.overhead_ps = 20000;
    r.mismatched = rank == 1;
    r.dropped = rank == 2 ? 3 : 0;
    job_call(&r, 0, "main", 1100 * ms);
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t work = (late ? 80 : 50) + (uint64_t)rank + i % 3, send = late ? 9 : 5;
        job_call(&r, 0, "main/step", (100 + i) * ms);
        job_call(&r, 0, "main/step/compute", work * ms);
        job_call(&r, 0, "main/step/MPI_Sendrecv", send * ms);
        job_call(&r, 0, "main/step/MPI_Barrier", (98 - work - send) * ms);
    }
    job_call(&r, 0, "main/write", (20 + (uint64_t)rank) * ms);
    job_call(&r, 1, "helper", 300 * ms);
    job_bytes(&r, 0, "main/step/MPI_Sendrecv", 1000000000);
    job_bytes(&r, 0, "main/write", 4096);
    job_find(&r, 0, "main/step/MPI_Sendrecv")->concurrency = 3 * STEPS;
    job_count(&r, 0, "main/step/MPI_Sendrecv", SENT, 1100000000);
    job_count(&r, 0, "main/step/MPI_Sendrecv", RECEIVED, 900000000);
    job_count(&r, 0, "main/step/MPI_Sendrecv", PAUSED, late ? 40000000 : 0);
    job_count(&r, 0, "main/step/MPI_Sendrecv", RETRIES, late ? 7 : 0);
    job_write(&r, tree);
}

// ---- a job that MPI alone tells of ----

enum { MEETINGS = 64, FIVE = 5 };

static double work_ns(long rank, int step)
{
    double part = (double)((rank * 7 + step * 3) % 5 - 2) / 40; // a twentieth more or less
    return 10e6 * (1 + part) + (rank == 1 && step >= MEETINGS / 2 ? 8e6 : 0);
}

static double step_ns(int step)
{
    double longest = 0;
    for (long rank = 0; rank < FIVE; rank++)
        longest = fmax(longest, work_ns(rank, step));
    return longest;
}

// As libnetprof-mpi.so writes it: how much of each of 64 stretches the rank was inside MPI, in so many calls each. Rank 3 asks
// for what comes, and all share two CPUs.
static void record_mpi(const char *tree, long rank, size_t calls)
{
    static job_rank r;
    char inside[64 * 8], number[6][32];
    double begin = 0, run = 0, parts[MEETINGS] = {0};
    size_t used = 0;
    for (int k = 0; k < MEETINGS; k++)
        run += step_ns(k);
    const double block = floor(run / MEETINGS);
    job_begin(&r, rank, "h1");
    r.rank_count = FIVE;
    r.wall_ns = (int64_t)block * 1000000;
    job_call(&r, 0, "MPI_Init", 2000000);
    for (int k = 0; k < MEETINGS; k++) {
        double from = begin + work_ns(rank, k), to = begin + step_ns(k);
        job_calls(&r, 0, "MPI_Allreduce", calls, (uint64_t)((to - from) / (double)calls) + 1000);
        if (rank == 3) job_calls(&r, 0, "MPI_Test", 4, 20000);
        for (int b = 0; b < MEETINGS; b++)
            parts[b] += fmax(fmin(to, (b + 1) * block) - fmax(from, b * block), 0) / block;
        begin = to;
    }
    job_call(&r, 0, "MPI_Finalize", 1000000);
    r.elapsed_ns = (int64_t)run + 3000000;
    for (int b = 0; b < MEETINGS; b++)
        used += (size_t)snprintf(inside + used, sizeof inside - used, "%s%d", b ? "," : "", (int)(parts[b] * 10000));
    const double numbers[] = {1e6 * block, (1e6 + MEETINGS) * block, block, 1e6, 0.4e9 + 0.1e9 * (double)rank, 20e6};
    for (size_t i = 0; i < COUNT(numbers); i++)
        snprintf(number[i], sizeof number[i], "%.0f", numbers[i]);
    const netprof_fact facts[] = {{"mpi_began_ns", number[0]},   {"mpi_ended_ns", number[1]},
                                  {"mpi_block_ns", number[2]},   {"mpi_first_block", number[3]},
                                  {"mpi_inside", inside},        {"mpi_cpus", "0-1"},
                                  {"cpu_ns", number[4]},         {"cpu_wait_ns", number[5]},
                                  {"mpi_polled_ns", "30000000"}, {"mpi_between_polls_ns", "60000000"}};
    job_write_with(&r, tree, facts, COUNT(facts) - (rank == 3 ? 0 : 2));
}

// ---- one name in several places ----

// Of "halo" 3 calls beside 1 in the step; one more lies within each of the first. All sums are of their own.
static void record_again(const char *tree, long rank, const netprof_schema *schema)
{
    static const char *const halos[] = {"main/halo", "main/halo/halo", "main/step/halo"};
    static job_rank r;
    const uint64_t ms = 1000000, own = (uint64_t)rank + 1;
    job_begin(&r, rank, rank < 2 ? "h1" : "h2");
    r.rank_count = 3;
    r.mode = NETPROF_MODE_FAST;
    r.schema = schema;
    r.sweep_ns = 5000;
    r.overhead_ps = 30000;
    r.readings = 50 + own;
    r.reading_ns = 700 * own;
    job_call(&r, 0, "main", 900 * ms);
    for (uint64_t i = 0; i < 3; i++) {
        job_call(&r, 0, "main/halo", (50 + 7 * own + i) * ms);
        job_call(&r, 0, "main/halo/halo", (20 + 3 * own + i) * ms);
    }
    job_call(&r, 0, "main/step", 500 * ms);
    job_call(&r, 0, "main/step/halo", (100 + 11 * own) * ms);
    if (rank == 1) job_call(&r, 0, "main/step/halo", 40 * ms);
    if (rank == 2) job_call(&r, 0, "main/only", 13 * ms);
    if (rank == 1) job_call(&r, 1, "main", 30 * ms);
    if (rank == 1) job_call(&r, 1, "main/halo", 17 * ms);
    for (uint64_t i = 0; i < COUNT(halos); i++) {
        job_node *n = job_find(&r, 0, halos[i]);
        n->unread = i == 2 && rank == 1;
        n->concurrency = 3 * (n->call_count - n->unread);
        job_bytes(&r, 0, halos[i], 1000 * (i + 1) * own);
        for (size_t k = 0; k < 4; k++)
            job_count(&r, 0, halos[i], k, (i + 2) * (k + 3) * 1000 * own);
    }
    job_write(&r, tree);
}

// ---- as JSON ----

static json_object *of_rank(const regions_rank *x)
{
    json_object *o = json_new_object();
    TEXT(o, x, label), TEXT(o, x, command), TEXT(o, x, version), TEXT(o, x, warning), TEXT(o, x, end);
    NUMBER(o, x, number), NUMBER(o, x, pid), NUMBER(o, x, host), NUMBER(o, x, mode), NUMBER(o, x, elapsed_ns);
    NUMBER(o, x, sweep_ns), NUMBER(o, x, threads), NUMBER(o, x, time_ns), NUMBER(o, x, calls);
    NUMBER(o, x, mismatched), NUMBER(o, x, dropped), NUMBER(o, x, overhead_ps), NUMBER(o, x, complete);
    const regions_times *t = &x->times;
    NUMBER(o, t, known), NUMBER(o, t, run_ns), NUMBER(o, t, apart_ns), NUMBER(o, t, mpi_ns), NUMBER(o, t, peer_ns);
    NUMBER(o, t, all_ns), NUMBER(o, t, work_ns), NUMBER(o, t, doubt_ns), NUMBER(o, t, polls_ns);
    NUMBER(o, t, meetings), NUMBER(o, t, polls);
    return o;
}

static void put_calls(json_object *o, const regions_calls *x)
{
    NUMBER(o, x, calls), NUMBER(o, x, measured), NUMBER(o, x, open), NUMBER(o, x, aborted), NUMBER(o, x, total_ns);
    NUMBER(o, x, inclusive_ns), NUMBER(o, x, exclusive_ns), NUMBER(o, x, min_ns), NUMBER(o, x, max_ns);
    NUMBER(o, x, variance_ns2), NUMBER(o, x, bytes);
}

static json_object *of_reading(const regions_reading *x)
{
    json_object *o = json_new_object();
    NUMBER(o, x, host), NUMBER(o, x, rank), NUMBER(o, x, thread), NUMBER(o, x, readers), NUMBER(o, x, state);
    NUMBER(o, x, calls), NUMBER(o, x, unread), NUMBER(o, x, time_ns), NUMBER(o, x, open), NUMBER(o, x, uncertain);
    NUMBER(o, x, no_port), NUMBER(o, x, bytes[0]), NUMBER(o, x, bytes[1]), NUMBER(o, x, bytes_per_s[0]);
    NUMBER(o, x, bytes_per_s[1]), NUMBER(o, x, line_bytes_per_s), NUMBER(o, x, share), INDEX(o, x, busiest);
    NUMBER(o, x, paused), INDEX(o, x, most_paused), NUMBER(o, x, retries_known), NUMBER(o, x, retries);
    return o;
}

static json_object *of_nic(const regions_nic *x)
{
    json_object *o = json_new_object();
    NUMBER(o, x, state), NUMBER(o, x, uncertain), NUMBER(o, x, no_port), NUMBER(o, x, hosts), NUMBER(o, x, limit_ns);
    NUMBER(o, x, bytes[0]), NUMBER(o, x, bytes[1]), NUMBER(o, x, bytes_per_s[0]), NUMBER(o, x, bytes_per_s[1]);
    NUMBER(o, x, line_bytes_per_s), NUMBER(o, x, share), INDEX(o, x, busiest), NUMBER(o, x, paused);
    INDEX(o, x, most_paused), NUMBER(o, x, retries_known), NUMBER(o, x, retries), NUMBER(o, x, sent_over_declared);
    return o;
}

static json_object *of_node(const regions_node *x, const char *path)
{
    json_object *o = json_new_object(), *cells = json_new_array(), *readings = json_new_array();
    json_put_text(o, "path", path);
    NUMBER(o, x, kind), NUMBER(o, x, span), INDEX(o, x, parent), NUMBER(o, x, end), NUMBER(o, x, depth);
    NUMBER(o, x, child_count), NUMBER(o, x, threads), NUMBER(o, x, bytes), NUMBER(o, x, sampled), NUMBER(o, x, share);
    NUMBER(o, x, own_share), NUMBER(o, x, run_share), NUMBER(o, x, own_run_share), NUMBER(o, x, mean_ns);
    NUMBER(o, x, median_ns), NUMBER(o, x, deviation_ns), NUMBER(o, x, fastest_ns), NUMBER(o, x, slowest_ns);
    NUMBER(o, x, fastest), NUMBER(o, x, slowest), NUMBER(o, x, max_over_mean), NUMBER(o, x, imbalance_ns);
    INDEX(o, x, odd), NUMBER(o, x, odd_over_median), NUMBER(o, x, odd_distance_ns), NUMBER(o, x, odd_notable);
    NUMBER(o, x, first_finding), NUMBER(o, x, finding_count);
    put_calls(o, &x->sums);
    for (size_t c = 0; c < x->cell_count; c++) {
        const regions_cell *cell = &x->cells[c];
        json_object *of = json_new_object();
        NUMBER(of, cell, rank), NUMBER(of, cell, threads), NUMBER(of, cell, longest_ns);
        put_calls(of, &cell->sums);
        json_append(cells, of);
    }
    for (size_t c = 0; c < x->reading_count; c++)
        json_append(readings, of_reading(&x->readings[c]));
    json_put(o, "cells", cells);
    json_put(o, "readings", readings);
    json_put(o, "nic", of_nic(&x->nic));
    return o;
}

static json_object *of_alone(const regions_alone *x)
{
    json_object *o = json_new_object();
    INDEX(o, x, rank), NUMBER(o, x, share), NUMBER(o, x, others), NUMBER(o, x, low), NUMBER(o, x, high);
    NUMBER(o, x, from_s), NUMBER(o, x, until_s), NUMBER(o, x, from_begin), NUMBER(o, x, to_end), NUMBER(o, x, more);
    NUMBER(o, x, silent);
    return o;
}

static json_object *of_waits(const regions_waits *x)
{
    json_object *o = json_new_object(), *late = json_new_array();
    NUMBER(o, x, known), NUMBER(o, x, mpi), NUMBER(o, x, run_ns), NUMBER(o, x, longest_ns), NUMBER(o, x, mpi_share);
    NUMBER(o, x, wait_share), NUMBER(o, x, work_ns), NUMBER(o, x, wait_ns);
    NUMBER(o, x, in_turn), INDEX(o, x, host), NUMBER(o, x, gain_ns), INDEX(o, x, where), INDEX(o, x, waits_in);
    INDEX(o, x, held), INDEX(o, x, held_in), INDEX(o, x, held_until), NUMBER(o, x, held_ns), INDEX(o, x, early);
    NUMBER(o, x, even_ns), INDEX(o, x, crowded), NUMBER(o, x, cpu_wait_share), NUMBER(o, x, crowd_explains);
    INDEX(o, x, in_doubt);
    for (size_t i = 0; i < x->late_count; i++) {
        json_object *one = json_new_object();
        const regions_late *l = &x->late[i];
        NUMBER(one, l, rank), NUMBER(one, l, excess_ns), NUMBER(one, l, from_s), NUMBER(one, l, until_s);
        json_append(late, one);
    }
    json_put(o, "late", late);
    json_put(o, "alone", of_alone(&x->alone));
    return o;
}

static json_object *of_step(const regions_step *x)
{
    json_object *o = json_new_object(), *parts = json_new_array();
    INDEX(o, x, node), INDEX(o, x, rank), NUMBER(o, x, calls), NUMBER(o, x, longer);
    for (size_t i = 0; i < x->count; i++) {
        const regions_step_part *p = &x->parts[i];
        json_object *one = json_new_object();
        INDEX(one, p, node), NUMBER(one, p, median_ns), NUMBER(one, p, rank_ns);
        json_append(parts, one);
    }
    json_put(o, "parts", parts);
    return o;
}

static json_object *of_notes(const regions *r)
{
    json_object *notes = json_new_array();
    for (size_t i = 0; i < r->note_count; i++) {
        const regions_note *x = &r->notes[i];
        json_object *o = json_new_object();
        NUMBER(o, x, severity), TEXT(o, x, text), TEXT(o, x, title), TEXT(o, x, question), INDEX(o, x, node);
        INDEX(o, x, rank), NUMBER(o, x, meanwhile);
        json_append(notes, o);
    }
    return notes;
}

static json_object *of_findings(const regions *r)
{
    json_object *all = json_new_array();
    for (size_t i = 0; i < r->finding_count; i++) {
        const regions_finding *x = &r->findings[i];
        json_object *o = json_new_object();
        json_put_text(o, "rule", x->rule->name);
        NUMBER(o, x, severity), NUMBER(o, x, value), TEXT(o, x, claim), NUMBER(o, x, node), NUMBER(o, x, host);
        NUMBER(o, x, device), NUMBER(o, x, places), NUMBER(o, x, hosts), INDEX(o, x, part);
        json_append(all, o);
    }
    return all;
}

static json_object *of_regions(const regions *r)
{
    json_object *o = json_new_object(), *ranks = json_new_array(), *nodes = json_new_array(), *hosts = json_new_array();
    TEXT(o, r, title), NUMBER(o, r, severity), TEXT(o, r, job), TEXT(o, r, command), NUMBER(o, r, rank_count_told);
    NUMBER(o, r, missing_count), NUMBER(o, r, elapsed_ns), NUMBER(o, r, time_ns), NUMBER(o, r, lived_ns);
    NUMBER(o, r, span_nodes), NUMBER(o, r, calls), NUMBER(o, r, mismatched), NUMBER(o, r, dropped), NUMBER(o, r, runs);
    NUMBER(o, r, children), NUMBER(o, r, readings), NUMBER(o, r, overhead_share), NUMBER(o, r, warning_count);
    NUMBER(o, r, files), NUMBER(o, r, files_without), NUMBER(o, r, damaged);
    char *run = regions_run_text(r);
    json_put_text(o, "run", run);
    free(run);
    for (size_t i = 0; i < r->host_count; i++) {
        json_object *host = json_new_object();
        TEXT(host, &r->hosts[i], name), NUMBER(host, &r->hosts[i], rank_count);
        json_append(hosts, host);
    }
    for (size_t i = 0; i < r->rank_count; i++)
        json_append(ranks, of_rank(&r->ranks[i]));
    for (size_t i = 0; i < r->node_count; i++) {
        char *path = regions_path(r, i);
        json_append(nodes, of_node(&r->nodes[i], path));
        free(path);
    }
    json_put(o, "hosts", hosts);
    json_put(o, "ranks", ranks);
    json_put(o, "nodes", nodes);
    json_put(o, "waits", of_waits(&r->waits));
    json_put(o, "step", of_step(&r->step));
    json_put(o, "notes", of_notes(r));
    json_put(o, "findings", of_findings(r));
    return o;
}

static json_object *of_names(const regions *r)
{
    json_object *names = json_new_array();
    regions_flat flat;
    regions_flatten(&flat, r);
    for (size_t i = 0; i < flat.node_count; i++)
        json_append(names, of_node(&flat.nodes[i], flat.nodes[i].name));
    regions_flat_free(&flat);
    return names;
}

static json_object *of_tree(char *tree)
{
    const char *paths[] = {tree};
    regions r = {0};
    netprof_error error = {.code = NETPROF_OK};
    if (regions_read(&r, paths, 1, &(regions_options){.rules = &built_in}, &error)) fail_msg("%s", error.text);
    json_object *o = of_regions(&r);
    json_put(o, "names", of_names(&r));
    regions_free(&r);
    tree_remove(tree);
    return o;
}

// Of a document one member alone.
static void put_part(json_object *to, const char *key, json_object *all, const char *part)
{
    json_put(to, key, json_object_get(json_object_object_get(all, part)));
    json_object_put(all);
}

static void all_that_is_known(void **state)
{
    const netprof_schema *schema = one_nic();
    json_object *o = json_new_object();
    char *tree = tree_make();
    (void)state;
    for (long rank = 0; rank < RANKS; rank++)
        record(tree, rank, schema);
    json_put(o, "with_counters", of_tree(tree));
    tree = tree_make();
    for (long rank = 0; rank < 3; rank++)
        record_again(tree, rank, schema);
    json_put(o, "of_names_again", of_tree(tree));
    netprof_schema_release(schema);
    tree = tree_make();
    for (long rank = 0; rank < FIVE; rank++)
        record_mpi(tree, rank, 1);
    json_put(o, "of_mpi", of_tree(tree));
    tree = tree_make();
    for (long rank = 0; rank < FIVE; rank++)
        record_mpi(tree, rank, 8); // enough to tell in turn who is late: it is the same one, told once
    put_part(o, "of_mpi_often", of_tree(tree), "waits");
    json_object_object_del(json_object_object_get(o, "of_mpi_often"), "alone"); // as before
    tree = tree_make();
    record_other_nics(tree);
    put_part(o, "of_other_nics", of_tree(tree), "nodes");
    golden_expect(o, "regions/regions.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_is_known)};
    return cmocka_run_group_tests(tests, load, unload);
}
