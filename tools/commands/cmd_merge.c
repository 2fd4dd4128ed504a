// netprof merge: the files of a job's nodes in one, each as it is.
#define _GNU_SOURCE
#include "analysis/base/stb_ds.h"
#include "analysis/data/clocks.h"
#include "commands.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/whole_file.h"
#include "commands/print/json_csv.h"
#include "analysis/base/output_file.h"
#include "analysis/data/file_parts.h"
#include "analysis/base/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *output;
static int force, quiet, as_json, as_csv;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "where to: .netprof, or - for the standard output", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "also files of different jobs", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "only what is wrong", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "what was joined, as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "the same as CSV: a line for each file", NULL},
    POPT_TABLEEND,
};

enum { BLOCK = 1 << 18 }; // of bytes that are compared or copied

// One of the files to join: a whole file, or one that was put together with others before.
typedef struct piece {
    const char *path;
    size_t part;
    uint64_t at, size, hash; // in its file; of all its bytes
    char *node, *boot, *job, *step, *rank;
    clocks_input clock; // names are those above
    size_t snapshots, deltas, regions;
    bool complete;
    bool dropped;
} piece;

typedef struct merging {
    listing files;
    piece *pieces;
    size_t count, duplicates, cut;
} merging;

// ---- which files ----

static int cmd_merge_add_paths(listing *files, const char *const *arguments, size_t count)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < count && !code; i++) {
        if (listing_is_directory(arguments[i]))
            code = inputs_list(files, arguments[i]);
        else
            listing_add(files, arguments[i]);
    }
    return code;
}

// ---- what a piece holds ----

// Reads the bytes of a piece; size and hash: of those read so far.
typedef struct hashing {
    parts_stream stream;
    uint64_t size, hash;
} hashing;

static hashing cmd_merge_hashing_of(const parts *of, size_t part)
{
    return (hashing){parts_begin(of, part), 0, UINT64_C(14695981039346656037)}; // FNV-1a
}

// A netprof_read_fn.
static int cmd_merge_read_hashing(void *user, void *to, size_t size, size_t *got)
{
    hashing *h = user;
    const unsigned char *bytes = to;
    int failed = parts_read(&h->stream, to, size, got);
    for (size_t i = 0; i < *got; i++)
        h->hash = (h->hash ^ bytes[i]) * UINT64_C(1099511628211);
    h->size += *got;
    return failed;
}

typedef struct fact_list {
    netprof_fact *all;
    size_t count;
} fact_list;

static void cmd_merge_keep_facts(fact_list *to, const netprof_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (netprof_fact_of(to->all, to->count, facts[i].key)) continue; // the run's own before its schema's
        arrput(to->all, ((netprof_fact){memory_strdup(facts[i].key), memory_strdup(facts[i].value)}));
        to->count = arrlenu(to->all);
    }
}

static char *cmd_merge_first_fact(const fact_list *f, const char *const *keys)
{
    for (; *keys; keys++) {
        const char *value = netprof_fact_of(f->all, f->count, *keys);
        if (value && *value) return memory_strdup(value);
    }
    return NULL;
}

static void cmd_merge_take_facts(piece *p, fact_list *f)
{
    p->node = cmd_merge_first_fact(f, (const char *const[]){"pod", "node", "host", NULL});
    p->boot = cmd_merge_first_fact(f, (const char *const[]){"boot_id", NULL});
    p->job = cmd_merge_first_fact(f, (const char *const[]){"job_id", "job", NULL});
    p->step = cmd_merge_first_fact(f, (const char *const[]){"job_step", NULL});
    p->rank = cmd_merge_first_fact(f, (const char *const[]){"rank", NULL});
    p->clock.name = p->node;
    p->clock.boot_id = p->boot;
    clocks_take_facts(&p->clock, f->all, f->count);
    for (size_t i = 0; i < f->count; i++) {
        free((char *)(uintptr_t)f->all[i].key);
        free((char *)(uintptr_t)f->all[i].value);
    }
    arrfree(f->all);
}

static void cmd_merge_take_time(piece *p, int64_t wall_ns, int64_t mono_ns)
{
    if (!p->clock.wall_ns) {
        p->clock.wall_ns = wall_ns;
        p->clock.mono_ns = mono_ns;
    }
    p->clock.end_wall_ns = wall_ns;
    p->clock.end_mono_ns = mono_ns;
}

static void cmd_merge_take_item(merging *m, piece *p, const netprof_item *item, fact_list *facts)
{
    switch (item->type) {
    case NETPROF_ITEM_FACT: cmd_merge_keep_facts(facts, item->fact, 1); break;
    case NETPROF_ITEM_SNAPSHOT:
        if (!p->snapshots++)
            cmd_merge_keep_facts(facts, item->snapshot->schema->facts, item->snapshot->schema->fact_count);
        cmd_merge_take_time(p, item->snapshot->wall_ns, item->snapshot->begin_ns);
        break;
    case NETPROF_ITEM_DELTA:
        if (!p->deltas++) cmd_merge_keep_facts(facts, item->delta->schema->facts, item->delta->schema->fact_count);
        cmd_merge_take_time(p, item->delta->wall_begin_ns, 0);
        cmd_merge_take_time(p, item->delta->wall_end_ns, 0);
        break;
    case NETPROF_ITEM_REGIONS:
        p->regions++;
        cmd_merge_take_time(p, item->regions->wall_ns, 0);
        break;
    case NETPROF_ITEM_DAMAGE:
        p->complete = false;
        warn("%s: byte %llu: %s (%llu bytes); what can be read is kept", safe(p->path),
             (unsigned long long)(p->at + item->offset), safe(item->text), (unsigned long long)item->size);
        break;
    case NETPROF_ITEM_END:
        if (p->complete && !item->complete)
            warn("%s: byte %llu: the writer did not end this file: it may have more to come", safe(p->path),
                 (unsigned long long)(p->at + item->offset));
        p->complete = p->complete && item->complete;
        m->cut += !p->complete;
        break;
    case NETPROF_ITEM_EVENTS: break; // copied as they are
    case NETPROF_ITEM_FILE: break;
    }
}

// Reads all of it, so that errors are reported now and not when the job is analysed.
static int cmd_merge_look(merging *m, piece *p, const parts *of)
{
    netprof_error error = {.code = NETPROF_OK};
    netprof_reader *reader = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    fact_list facts = {0};
    hashing bytes = cmd_merge_hashing_of(of, p->part);
    netprof_err failed = netprof_reader_open_fn(&reader, cmd_merge_read_hashing, &bytes, NULL, &error);
    while (!failed && item.type != NETPROF_ITEM_END) {
        failed = netprof_reader_next(reader, &item, &error);
        if (failed) break;
        if (!parts_is_to_come(of, p->part, &item))
            cmd_merge_take_item(m, p, &item, &facts);
        else if (item.type == NETPROF_ITEM_END)
            warn("%s: %s", safe(p->path), PARTS_GROWS);
    }
    p->size = bytes.size, p->hash = bytes.hash;
    cmd_merge_take_facts(p, &facts);
    netprof_reader_close(reader);
    return failed ? fail_error(p->path, &error) : EXIT_DONE;
}

static int cmd_merge_add_file(merging *m, const char *path)
{
    netprof_error error = {.code = NETPROF_OK};
    parts all = {0};
    if (parts_open(&all, path, &error)) {
        if (error.code == NETPROF_ERR_FORMAT)
            return fail_file(EXIT_FILE, path, "expected a .netprof file; netprof convert makes one of others");
        return fail_error(path, &error);
    }
    int code = EXIT_DONE;
    for (size_t i = 0; i < all.count && !code; i++) {
        piece *p = arraddnptr(m->pieces, 1);
        m->count = arrlenu(m->pieces);
        *p = (piece){.path = path, .part = i, .at = all.at[i], .complete = true};
        code = cmd_merge_look(m, p, &all);
        if (!code && !p->snapshots && !p->deltas && !p->regions) {
            warn("%s: byte %llu: neither readings nor regions: left out", safe(path), (unsigned long long)p->at);
            p->dropped = true;
        }
    }
    parts_close(&all);
    return code;
}

// ---- duplicates ----

static int cmd_merge_say_changed(const piece *p)
{
    return fail_file(EXIT_FILE, p->path, "it changed while it was read");
}

static bool cmd_merge_open_again(const piece *p, parts *all, parts_stream *stream)
{
    bool good = !parts_open(all, p->path, NULL) && p->part < all->count;
    if (good)
        *stream = parts_begin(all, p->part);
    else
        cmd_merge_say_changed(p);
    return good;
}

// *same: equal up to the end of the first.
static int cmd_merge_compare_bytes(const piece *a, parts_stream *from, const piece *b, parts_stream *other, bool *same)
{
    char *x = memory_alloc(2 * BLOCK), *y = x + BLOCK;
    int code = EXIT_DONE;
    *same = true;
    for (uint64_t left = a->size; left && *same && !code;) {
        size_t wanted = left < BLOCK ? (size_t)left : BLOCK, n = 0, m = 0;
        if (parts_read(from, x, wanted, &n) || n < wanted)
            code = cmd_merge_say_changed(a);
        else if (parts_read(other, y, wanted, &m) || m < wanted)
            code = cmd_merge_say_changed(b);
        else
            *same = memcmp(x, y, wanted) == 0;
        left -= wanted;
    }
    free(x);
    return code;
}

// *begins: one is the beginning of the other, or equal: a copy made while the recording grew ends early.
static int cmd_merge_begins_other(const piece *shorter, const piece *longer, bool *begins)
{
    parts a = {0}, b = {0};
    parts_stream from, other;
    *begins = false;
    if (shorter->size == longer->size && shorter->hash != longer->hash) return EXIT_DONE;
    int code = cmd_merge_open_again(shorter, &a, &from) && cmd_merge_open_again(longer, &b, &other)
                   ? cmd_merge_compare_bytes(shorter, &from, longer, &other, begins)
                   : EXIT_FILE;
    parts_close(&a);
    parts_close(&b);
    return code;
}

static bool cmd_merge_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool cmd_merge_may_be_same(const piece *a, const piece *b)
{
    return !a->dropped && !b->dropped && a->clock.wall_ns == b->clock.wall_ns && a->clock.mono_ns == b->clock.mono_ns &&
           cmd_merge_same_text(a->node, b->node) && cmd_merge_same_text(a->boot, b->boot) &&
           cmd_merge_same_text(a->rank, b->rank);
}

static int cmd_merge_drop_duplicates(merging *m)
{
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = i + 1; k < m->count; k++) { // sorted: equal ones are neighbours
            piece *a = &m->pieces[i], *b = &m->pieces[k];
            if (a->clock.wall_ns != b->clock.wall_ns || !cmd_merge_same_text(a->node, b->node)) break;
            if (!cmd_merge_may_be_same(a, b)) continue;
            piece *shorter = a->size <= b->size ? a : b, *longer = shorter == a ? b : a;
            bool same;
            int code = cmd_merge_begins_other(shorter, longer, &same);
            if (code) return code;
            if (!same) continue;
            shorter->dropped = true;
            m->duplicates++;
            // The output of an earlier call, which is joined again like any file, holds the others once more.
            if (!quiet && !output_file_is(output, a->path) && !output_file_is(output, b->path))
                warn("%s: %s as %s: left out", safe(shorter->path),
                     shorter->size == longer->size ? "the same" : "an earlier copy of the same", safe(longer->path));
            if (shorter == a) break;
        }
    return EXIT_DONE;
}

// ---- order ----

// n2 before n10.
static int cmd_merge_compare_names(const char *a, const char *b)
{
    a = a ? a : "", b = b ? b : "";
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            size_t zeros_a = strspn(a, "0"), zeros_b = strspn(b, "0");
            size_t n = strspn(a + zeros_a, "0123456789"), k = strspn(b + zeros_b, "0123456789");
            int order = n != k ? (n > k) - (n < k) : strncmp(a + zeros_a, b + zeros_b, n);
            if (order || zeros_a != zeros_b) return order ? order : zeros_a < zeros_b ? -1 : 1;
            a += zeros_a + n, b += zeros_b + k;
            continue;
        }
        if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++, b++;
    }
    return (*a != 0) - (*b != 0);
}

static int cmd_merge_compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

// Ordered by content, never by file name: the same files give the same bytes.
static int cmd_merge_compare_pieces(const void *x, const void *y)
{
    const piece *a = x, *b = y;
    int order = cmd_merge_compare_names(a->job, b->job);
    if (!order) order = cmd_merge_compare_names(a->node, b->node);
    if (!order) order = (a->clock.wall_ns > b->clock.wall_ns) - (a->clock.wall_ns < b->clock.wall_ns);
    if (!order) order = cmd_merge_compare_names(a->rank, b->rank);
    if (!order) order = cmd_merge_compare_numbers(a->size, b->size);
    return order ? order : cmd_merge_compare_numbers(a->hash, b->hash);
}

// ---- jobs ----

static int cmd_merge_check_jobs(const merging *m)
{
    const piece *first = NULL;
    for (size_t i = 0; i < m->count; i++) {
        const piece *p = &m->pieces[i];
        if (p->dropped || !p->job) continue;
        if (first && strcmp(first->job, p->job) != 0) {
            if (!force)
                return fail(EXIT_FILE, "%s is of job %s, %s of job %s; --force joins them all the same",
                            safe(first->path), safe(first->job), safe(p->path), safe(p->job));
            warn("%s is of job %s, %s of job %s", safe(first->path), safe(first->job), safe(p->path), safe(p->job));
        }
        first = p;
    }
    return EXIT_DONE;
}

// ---- writing ----

// Copies as much as was read before, also of a recording that still grows. If those bytes changed, the output is dropped.
static int cmd_merge_copy_piece(const piece *p, whole_file *to)
{
    parts all = {0};
    hashing bytes;
    char *block = memory_alloc(BLOCK);
    int code = cmd_merge_open_again(p, &all, &bytes.stream) ? EXIT_DONE : EXIT_FILE;
    if (!code) bytes = cmd_merge_hashing_of(&all, p->part);
    for (size_t got = 1; !code && got && bytes.size < p->size;) {
        uint64_t left = p->size - bytes.size;
        if (cmd_merge_read_hashing(&bytes, block, left < BLOCK ? (size_t)left : BLOCK, &got))
            code = cmd_merge_say_changed(p);
        else if (whole_file_write(to, block, got))
            code = EXIT_FILE; // whole_file_close() says why
    }
    if (!code && (bytes.size != p->size || bytes.hash != p->hash)) code = cmd_merge_say_changed(p);
    free(block);
    parts_close(&all);
    return code;
}

static int cmd_merge_write_all(const merging *m)
{
    whole_file *to = whole_file_open(output);
    int code = to ? EXIT_DONE : EXIT_FILE;
    for (size_t i = 0; i < m->count && !code; i++)
        if (!m->pieces[i].dropped) code = cmd_merge_copy_piece(&m->pieces[i], to);
    int closed = to ? whole_file_close(to, !code) : code;
    return code ? code : closed;
}

// ---- what was joined ----

static int cmd_merge_find_clocks(const merging *m, clocks *c)
{
    clocks_input *in = memory_calloc(m->count + 1, sizeof *in);
    clocks_event *events = memory_calloc(m->count + 1, sizeof *events);
    char **keys = memory_calloc(m->count + 1, sizeof *keys);
    size_t count = 0, event_count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const piece *p = &m->pieces[i];
        if (p->dropped || (!p->snapshots && !p->deltas)) continue;
        if (p->job && p->step && p->clock.wall_ns) {
            keys[event_count] = memory_format("%s.%s", p->job, p->step);
            events[event_count] = (clocks_event){count, keys[event_count], p->clock.wall_ns, CLOCKS_STEP_BEGIN_NS / 2};
            event_count++;
        }
        in[count++] = p->clock;
    }
    clocks_find(c, in, count, events, event_count);
    for (size_t i = 0; i < event_count; i++)
        free(keys[i]);
    free(keys);
    free(events);
    free(in);
    return EXIT_DONE;
}

static uint64_t cmd_merge_bytes_of(const merging *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->count; i++)
        sum += m->pieces[i].dropped ? 0 : m->pieces[i].size;
    return sum;
}

static json_object *cmd_merge_json(const merging *m, const clocks *c)
{
    json_object *o = json_document("merge"), *list = json_new_array(), *about = json_new_object();
    size_t next = 0;
    json_put_text(o, "output", output);
    for (size_t i = 0; i < m->count; i++) {
        const piece *p = &m->pieces[i];
        bool timed = !p->dropped && (p->snapshots || p->deltas);
        json_object *one = json_new_object();
        json_put_text(one, "file", p->path);
        json_put(one, "byte", json_exact_value(p->at));
        json_put(one, "bytes", json_exact_value(p->size));
        json_put_text(one, "host", p->node);
        json_put_text(one, "job", p->job);
        if (p->rank) json_put(one, "rank", json_new_int64(strtoll(p->rank, NULL, 10)));
        json_put(one, "snapshot_count", json_exact_value(p->snapshots));
        json_put(one, "delta_count", json_exact_value(p->deltas));
        json_put(one, "region_count", json_exact_value(p->regions));
        json_put(one, "begin_ns", json_new_int64(p->clock.wall_ns));
        json_put(one, "end_ns", json_new_int64(p->clock.end_wall_ns));
        json_put(one, "complete", json_new_boolean(p->complete));
        json_put(one, "is_left_out", json_new_boolean(p->dropped));
        if (timed) {
            const clocks_run *r = &c->runs[next++];
            json_put(one, "clock_offset_ns", json_new_int64(r->offset_ns));
            json_put(one, "clock_uncertainty_ns", r->error_ns < 0 ? NULL : json_new_int64(r->error_ns));
            json_put(one, "clock_set_ns", json_new_int64(r->set_ns));
        }
        json_append(list, one);
    }
    json_put(o, "files", list);
    json_put(about, "clock_uncertainty_ns", c->error_ns < 0 ? NULL : json_new_int64(c->error_ns));
    json_put_text(about, "text", c->text);
    json_put(o, "clocks", about);
    return o;
}

static void cmd_merge_print_csv(json_object *o)
{
    static const char *const keys[] = {"file",
                                       "byte",
                                       "bytes",
                                       "host",
                                       "job",
                                       "rank",
                                       "snapshot_count",
                                       "delta_count",
                                       "region_count",
                                       "begin_ns",
                                       "end_ns",
                                       "complete",
                                       "is_left_out",
                                       "clock_offset_ns",
                                       "clock_uncertainty_ns",
                                       "clock_set_ns",
                                       NULL};
    json_csv_print(stdout, json_object_object_get(o, "files"), keys);
    json_object_put(o);
}

static void cmd_merge_print_text(const merging *m, const clocks *c, FILE *to)
{
    size_t kept = 0, nodes = 0;
    const char *last = NULL;
    for (size_t i = 0; i < m->count; i++) {
        const piece *p = &m->pieces[i];
        if (p->dropped) continue;
        kept++;
        nodes += !last || !cmd_merge_same_text(last, p->node);
        last = p->node ? p->node : "";
    }
    fprintf(to, "%s: %s of %s, %s\n", safe(output), words_many(kept, "file").text, words_many(nodes, "node").text,
            words_amount((double)cmd_merge_bytes_of(m), "bytes").text);
    if (c->text && *c->text) fprintf(to, "%s\n", safe(c->text + strspn(c->text, " ")));
}

static void cmd_merge_free_all(merging *m)
{
    for (size_t i = 0; i < m->count; i++) {
        piece *p = &m->pieces[i];
        free(p->node);
        free(p->boot);
        free(p->job);
        free(p->step);
        free(p->rank);
    }
    arrfree(m->pieces);
    listing_free(&m->files);
}

static int cmd_merge_run(const char **arguments, size_t count)
{
    merging m = {0};
    clocks c = {0};
    if (!count) return fail_usage("expected the files of a job, or a directory of them");
    if (!output) return fail_usage("-o FILE is needed");
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if ((as_json || as_csv) && strcmp(output, "-") == 0)
        return fail_usage("--%s and -o - both want the standard output", as_json ? "json" : "csv");
    int code = cmd_merge_add_paths(&m.files, arguments, count);
    for (size_t i = 0; i < m.files.count && !code; i++)
        code = cmd_merge_add_file(&m, m.files.paths[i]);
    if (!code && m.count) qsort(m.pieces, m.count, sizeof *m.pieces, cmd_merge_compare_pieces);
    if (!code) code = cmd_merge_drop_duplicates(&m);
    if (!code) code = cmd_merge_check_jobs(&m);
    if (!code && !cmd_merge_bytes_of(&m))
        code = fail_file(EXIT_FILE, arguments[0], "neither readings nor regions to join");
    if (!code) code = cmd_merge_find_clocks(&m, &c);
    if (!code) code = cmd_merge_write_all(&m);
    if (!code && as_json)
        json_print(stdout, cmd_merge_json(&m, &c));
    else if (!code && as_csv)
        cmd_merge_print_csv(cmd_merge_json(&m, &c));
    else if (!code && !quiet)
        cmd_merge_print_text(&m, &c, strcmp(output, "-") == 0 ? stderr : stdout);
    if (!code) code = output_close();
    if (!code && m.cut) code = EXIT_WORTH_FAILING;
    clocks_free(&c);
    cmd_merge_free_all(&m);
    return code;
}

const command command_merge = {
    .name = "merge",
    .summary = "join the files of a job's nodes into one",
    .arguments = "FILE|DIR... -o OUT",
    .text =
        "Joins recordings, snapshots and regions of the nodes of one job into one file, which every command reads as "
        "the\n"
        "files it was made of: a run each, with its host and facts. Each file is checked and copied as it is. The "
        "order\n"
        "is that of nodes and time: the same files give the same bytes. A file that is there twice, or also as an "
        "earlier\n"
        "copy, is taken once; files of different jobs are refused. Also says how far the clocks of the nodes may be\n"
        "apart. A directory stands for the *.netprof in it.",
    .examples = "netprof merge node1.netprof node2.netprof node3.netprof -o job.netprof\n"
                "netprof merge --force -q ranks -o job.netprof",
    .exits = "0 done, 1 done but parts of the files were damaged or are missing, 2 wrong usage, 3 a file could not be\n"
             "used or written, or the files are of different jobs.",
    .options = options,
    .run = cmd_merge_run,
    .json = &as_json,
};
