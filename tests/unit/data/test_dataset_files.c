// Files as a whole: what is kept where memory is bounded, who is told of each reading, devices that are away for a while,
// files that are joined, and what is said of damage.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/data/dataset.h"
#include "analysis/data/file_parts.h"
#include "support.h"

// ---- material ----

// Readings of two counters of one device; reading i has the values i and 10 i.
static const struct row two[] = {{"netdev", "eth0", "rx", .width = 64}, {"netdev", "eth0", "tx", .width = 64}};

static netprof_writer *open_sink(struct sink *to)
{
    netprof_writer *w = NULL;
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, to, NULL), NETPROF_OK);
    return w;
}

static void write_reading(netprof_writer *w, netprof_snapshot *x, size_t i)
{
    for (size_t k = 0; k < x->schema->counter_count; k++)
        x->values[k] = i * (k ? 10 : 1);
    x->begin_ns = x->end_ns = (int64_t)(i + 1) * 1000;
    x->wall_ns = INT64_C(1763643720000000000) + x->begin_ns;
    assert_int_equal(netprof_write_snapshot(w, x, NULL), NETPROF_OK);
}

// Appends a file.
static void put_file(struct sink *to, const char *host, size_t readings, int ended)
{
    netprof_writer *w = open_sink(to);
    netprof_snapshot x = snapshot_of(schema_of_rows(two, COUNT(two), host, NULL));
    for (size_t i = 0; i < readings; i++)
        write_reading(w, &x, i);
    assert_int_equal(netprof_writer_close(w, ended, NULL), NETPROF_OK);
    netprof_snapshot_free(&x);
}

static void put_regions(struct sink *to)
{
    netprof_writer *w = open_sink(to);
    const netprof_regions none = {.clock = "tsc", .warning = "", .mode = NETPROF_MODE_TIME};
    assert_int_equal(netprof_write_regions(w, &none, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
}

static dataset read_sink(const struct sink *s, const dataset_options *options)
{
    dataset set = {0};
    netprof_error error;
    if (dataset_read_memory(&set, "m", s->data, s->size, options, &error)) fail_msg("%s", error.text);
    return set;
}

static void expect_error(const char *data, size_t size, const dataset_options *options, netprof_err code,
                         const char *words)
{
    dataset set = {0};
    netprof_error error;
    assert_int_equal(dataset_read_memory(&set, "m", data, size, options, &error), code);
    assert_string_equal(error.text, words);
    assert_string_equal(error.path, "m");
    assert_int_equal(set.run_count, 0);
    dataset_free(&set);
}

// ---- bounds of memory ----

#define READING "{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"values\":{\"a\":5,\"b\":6}}]}"
static const char five[] =
    "{\"format\":\"netprof\",\"version\":2,\"schemas\":[{\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"counters\":["
    "{\"counter\":\"a\"},{\"counter\":\"b\"}]}]}],\"snapshots\":[" READING "," READING "," READING "," READING
    "," READING "]}";
enum { KEPT = 2 * 18 + 16 + 256 }; // bytes of one of them

// As many readings as fit are kept, and it is said that the rest is not there; none that fits is an error.
static void as_many_readings_as_fit(void **state)
{
    (void)state;
    for (size_t fit = 1; fit <= 5; fit++)
        for (size_t more = 0; more < KEPT; more += KEPT - 1) {
            dataset_options options = {.max_bytes = fit * KEPT + more};
            dataset set = {0};
            assert_int_equal(dataset_read_memory(&set, "m", five, sizeof five - 1, &options, NULL), NETPROF_OK);
            assert_int_equal(set.runs[0].snapshot_count, fit);
            assert_int_equal(set.runs[0].complete, fit == 5);
            assert_int_equal(set.warning_count, fit < 5);
            if (fit < 5) {
                assert_string_equal(set.warnings[0].text, "the rest was left out: more than the allowed memory");
                assert_true(set.warnings[0].line == 0 && set.warnings[0].offset == 0);
                assert_string_equal(set.warnings[0].path, "m");
            }
            dataset_free(&set);
        }
    expect_error(five, sizeof five - 1, &(dataset_options){.max_bytes = KEPT - 1}, NETPROF_ERR_LIMIT,
                 "more than the allowed memory (at snapshot 1)");
    // Of ends there are only two.
    dataset_options options = {.max_bytes = 2 * KEPT, .ends_only = 1};
    dataset set = {0};
    assert_int_equal(dataset_read_memory(&set, "m", five, sizeof five - 1, &options, NULL), NETPROF_OK);
    assert_true(set.runs[0].complete && set.runs[0].snapshot_count == 2 && set.runs[0].skipped == 3);
    dataset_free(&set);
}

// A file that is no .netprof is read as a whole, if it is no larger than allowed.
static void files_as_large_as_allowed(void **state)
{
    char *tree = tree_make(), words[64];
    (void)state;
    tree_write_bytes(tree, "a.json", five, sizeof five - 1);
    snprintf(words, sizeof words, "larger than %zu bytes", sizeof five - 2);
    for (int less = 0; less < 2; less++) {
        dataset set = {0};
        netprof_error error;
        dataset_options options = {.max_bytes = sizeof five - 1 - (size_t)less};
        netprof_err err = dataset_read(&set, tree_path(tree, "a.json"), &options, &error);
        assert_int_equal(err, less ? NETPROF_ERR_LIMIT : NETPROF_OK);
        if (less) assert_string_equal(error.text, words);
        if (less) assert_string_equal(error.path, tree_path(tree, "a.json"));
        if (!less) assert_true(set.runs[0].snapshot_count == (sizeof five - 1) / KEPT);
        dataset_free(&set);
    }
    tree_remove(tree);
}

// ---- each reading is told ----

typedef struct told {
    size_t count, wrong, stop_at;
} told;

static netprof_err tell(void *user, const dataset_run *run, size_t index, const netprof_snapshot *x)
{
    told *t = user;
    t->wrong += index != t->count || strcmp(run->path, "m") != 0 || x->values[0] != index;
    t->wrong += run->snapshot_count > index;
    t->count++;
    return t->stop_at && index + 1 == t->stop_at ? NETPROF_ERR_NOSOURCE : NETPROF_OK;
}

static void each_reading_is_told(void **state)
{
    struct sink file = {0};
    (void)state;
    put_file(&file, "h", 200, 1);
    for (int ends = 0; ends < 2; ends++) {
        told t = {0};
        dataset_options options = {.each = tell, .user = &t, .ends_only = ends};
        dataset set = read_sink(&file, &options);
        assert_true(t.count == 200 && !t.wrong);
        assert_int_equal(set.runs[0].snapshot_count, ends ? 2 : 200);
        assert_int_equal(set.runs[0].skipped, ends ? 198 : 0);
        assert_int_equal(set.runs[0].snapshots[ends ? 1 : 199].values[1], 1990);
        assert_int_equal(set.runs[0].snapshots[0].values[1], 0);
        dataset_free(&set);
    }
    told t = {.stop_at = 7};
    char words[200];
    snprintf(words, sizeof words, "%s (at snapshot 7)", netprof_strerror(NETPROF_ERR_NOSOURCE));
    expect_error((const char *)file.data, file.size, &(dataset_options){.each = tell, .user = &t}, NETPROF_ERR_NOSOURCE,
                 words);
    assert_int_equal(t.count, 7);
    sink_free(&file);
}

// ---- devices that are away ----

static const struct row there[] = {{"netdev", "eth0", "rx", .width = 64},
                                   {"netdev", "eth1", "rx", .width = 64},
                                   {"cgroup", "job", "user", .width = 64},
                                   {"rdma", "eth1", "rx", .width = 64}};

// A reading with those of the four devices that the text names: "0", "1", "j" and "r", "d" for "rdma could not be read".
static void put_devices(netprof_writer *w, const char *which, size_t i)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    for (size_t k = 0; k < COUNT(there); k++) {
        netprof_counter c = {.name = "rx", .unit = "bytes", .width = 64};
        if (k != 1) netprof_build_source(list, there[k].source);
        if (k == 3 && strchr(which, 'd')) netprof_list_state(list, NETPROF_STATUS_DENIED, EACCES, "/sys");
        if (!strchr(which, "01jr"[k])) continue;
        netprof_list_device(list, there[k].device, 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_counter(list, &c);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    netprof_snapshot x = snapshot_of(schema);
    write_reading(w, &x, i);
    netprof_snapshot_free(&x);
}

// Of the devices of the first reading: from and to which reading they were missing. Processes come and go, and a source that
// cannot be read says nothing.
static void devices_that_are_away(void **state)
{
    static const char *const readings[] = {"01jr", "0jr", "0",    "01jr", "01r", "1jrx",
                                           "1jd",  "1jr", "01jr", "1jr",  "1r"};
    static const struct {
        const char *source, *name;
        size_t from, to;
    } expected[] = {
        {"netdev", "eth1", 1, 3}, {"rdma", "eth1", 2, 3}, {"netdev", "eth0", 5, 8}, {"netdev", "eth0", 9, 0}};
    struct sink file = {0};
    netprof_writer *w = open_sink(&file);
    (void)state;
    for (size_t i = 0; i < COUNT(readings); i++)
        put_devices(w, readings[i], i);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    for (int ends = 0; ends < 2; ends++) {
        dataset set = read_sink(&file, &(dataset_options){.ends_only = ends});
        const dataset_run *run = &set.runs[0];
        assert_int_equal(run->absence_count, COUNT(expected));
        for (size_t i = 0; i < COUNT(expected); i++) {
            const dataset_absence *a = &run->absences[i];
            assert_string_equal(a->source, expected[i].source);
            assert_string_equal(a->name, expected[i].name);
            assert_int_equal(a->from, expected[i].from);
            assert_int_equal(a->to, expected[i].to);
        }
        dataset_free(&set);
    }
    sink_free(&file);
}

// The same where the readings in between are passed over.
static void away_among_readings_that_are_passed_over(void **state)
{
    struct sink file = {0};
    netprof_writer *w = open_sink(&file);
    (void)state;
    for (size_t i = 0; i < 300; i++)
        put_devices(w, i >= 130 && i < 141 ? "0jr" : "01jr", i);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    dataset set = read_sink(&file, &(dataset_options){.ends_only = 1});
    assert_int_equal(set.runs[0].absence_count, 1);
    assert_int_equal(set.runs[0].absences[0].from, 130);
    assert_int_equal(set.runs[0].absences[0].to, 141);
    assert_int_equal(set.runs[0].snapshots[1].values[1], 2990);
    dataset_free(&set);
    sink_free(&file);
}

// ---- files that are joined ----

static void expect_parts(const dataset *set, const char *path)
{
    static const size_t counts[] = {3, 4, 5}, numbers[] = {1, 2, 4};
    static const char *const hosts[] = {"h1", "h2", "h4"};
    assert_int_equal(set->run_count, 3);
    assert_int_equal(set->regions, 1);
    assert_int_equal(set->warning_count, 0);
    for (size_t i = 0; i < 3; i++) {
        const dataset_run *run = &set->runs[i];
        assert_int_equal(run->snapshot_count, counts[i]);
        assert_int_equal(run->snapshots[counts[i] - 1].values[1], 10 * (counts[i] - 1));
        assert_int_equal(run->part, numbers[i]);
        assert_int_equal(run->parts, 4);
        assert_string_equal(run->host, hosts[i]);
        assert_string_equal(run->path, path);
        assert_true(run->complete);
    }
}

// Parts of unlike sizes, one of regions alone: from memory and from a file, each is a run with its number.
static void parts_of_a_file(void **state)
{
    struct sink file = {0};
    size_t begins[5] = {0};
    char *tree = tree_make();
    parts p = {0};
    netprof_error error;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        static const char *const hosts[] = {"h1", "h2", NULL, "h4"};
        if (hosts[i])
            put_file(&file, hosts[i], i < 2 ? 3 + i : 5, 1);
        else
            put_regions(&file);
        begins[i + 1] = file.size;
    }
    dataset set = read_sink(&file, NULL);
    expect_parts(&set, "m");
    dataset_free(&set);
    tree_write_bytes(tree, "a.netprof", file.data, file.size);
    const char *path = tree_path(tree, "a.netprof");
    assert_int_equal(dataset_read(&set, path, NULL, NULL), NETPROF_OK);
    expect_parts(&set, path);
    dataset_free(&set);
    assert_int_equal(parts_count(file.data, file.size), 4);
    assert_int_equal(parts_next(file.data, file.size, 1), begins[1]);
    assert_int_equal(parts_next(file.data, file.size, begins[3]), begins[3]);
    assert_int_equal(parts_next(file.data, file.size, begins[3] + 1), file.size);
    assert_int_equal(parts_open(&p, path, &error), NETPROF_OK);
    assert_true(p.count == 4 && p.size == file.size && !p.grows);
    for (size_t i = 0; i < 4; i++) {
        unsigned char head[16];
        size_t got = 0;
        parts_stream stream = parts_begin(&p, i);
        assert_int_equal(p.at[i], begins[i]);
        assert_int_equal(parts_size(&p, i), begins[i + 1] - begins[i]);
        assert_int_equal(parts_read(&stream, head, sizeof head, &got), 0);
        assert_int_equal(got, sizeof head);
        assert_memory_equal(head, file.data + begins[i], sizeof head);
    }
    parts_close(&p);
    sink_free(&file);
    tree_remove(tree);
}

// A part that cannot be used is a warning with its place; where none can be used there is nothing.
static void parts_that_cannot_be_used(void **state)
{
    struct sink file = {0}, none = {0};
    char *tree = tree_make();
    (void)state;
    put_file(&file, "h1", 3, 1);
    size_t second = file.size;
    put_file(&file, "h2", 0, 1);
    put_file(&file, "h3", 2, 1);
    tree_write_bytes(tree, "a.netprof", file.data, file.size);
    for (int from_file = 0; from_file < 2; from_file++) {
        dataset set = {0};
        netprof_err err = from_file ? dataset_read(&set, tree_path(tree, "a.netprof"), NULL, NULL)
                                    : dataset_read_memory(&set, "m", file.data, file.size, NULL, NULL);
        assert_int_equal(err, NETPROF_OK);
        assert_int_equal(set.run_count, 2);
        assert_int_equal(set.runs[1].part, 3);
        assert_int_equal(set.warning_count, 1);
        assert_string_equal(set.warnings[0].text,
                            "this part of the file cannot be used: nothing usable in this .netprof file");
        assert_int_equal(set.warnings[0].offset, second);
        assert_int_equal(set.warnings[0].line, 0);
        dataset_free(&set);
    }
    put_file(&none, "h1", 0, 1);
    put_file(&none, "h2", 0, 1);
    expect_error((const char *)none.data, none.size, NULL, NETPROF_ERR_PARSE, "nothing usable in this .netprof file");
    tree_write_bytes(tree, "none.netprof", none.data, none.size);
    dataset set = {0};
    netprof_error error;
    assert_int_equal(dataset_read(&set, tree_path(tree, "none.netprof"), NULL, &error), NETPROF_ERR_PARSE);
    assert_string_equal(error.text, "nothing usable in this .netprof file");
    dataset_free(&set);
    sink_free(&none);
    sink_free(&file);
    tree_remove(tree);
}

static void files_that_were_not_ended(void **state)
{
    struct sink file = {0};
    (void)state;
    put_file(&file, "h1", 3, 0);
    dataset set = read_sink(&file, NULL);
    assert_int_equal(set.runs[0].snapshot_count, 3);
    assert_false(set.runs[0].complete);
    assert_int_equal(set.warning_count, 1);
    assert_string_equal(set.warnings[0].text, "the writer did not end this file: it may have more to come");
    assert_int_equal(set.warnings[0].offset, file.size);
    dataset_free(&set);
    // Of two joined, the second: its place is that in the whole.
    size_t whole = file.size;
    file.size = 0;
    put_file(&file, "h0", 2, 1);
    put_file(&file, "h1", 3, 0);
    set = read_sink(&file, NULL);
    assert_true(set.runs[0].complete && !set.runs[1].complete);
    assert_int_equal(set.warnings[0].offset, file.size);
    assert_true(file.size > whole);
    dataset_free(&set);
    sink_free(&file);
}

// What a file holds, told by its chunks, beyond the first look at it.
static void what_a_file_holds(void **state)
{
    static const size_t readings[] = {0, 1, 1500};
    char *tree = tree_make();
    const char *path = tree_path(tree, "a.netprof");
    (void)state;
    for (size_t i = 0; i < COUNT(readings); i++)
        for (int order = 0; order < 3; order++) {
            struct sink file = {0};
            if (order == 1) put_regions(&file);
            put_file(&file, "h", readings[i], 1);
            if (i == 2) assert_true(file.size > 20000);
            if (order == 2) put_regions(&file);
            for (int k = 0; i == 2 && k < 20; k++)
                put_file(&file, "h", readings[i], 1);
            if (order == 2 && i == 2) put_regions(&file);
            tree_write_bytes(tree, "a.netprof", file.data, file.size);
            unsigned expected = (readings[i] ? PARTS_SNAPSHOTS : 0) | (order ? PARTS_REGIONS : 0);
            if (parts_hold(path) != expected) fail_msg("%zu readings, %d: %u", readings[i], order, parts_hold(path));
            sink_free(&file);
        }
    struct sink file = {0};
    for (int k = 0; k < 20; k++)
        put_file(&file, "h", 1500, 1);
    put_regions(&file); // far behind the rest
    tree_write_bytes(tree, "a.netprof", file.data, file.size);
    assert_int_equal(parts_hold(path), PARTS_SNAPSHOTS | PARTS_REGIONS);
    tree_write_bytes(tree, "a.netprof", file.data + 1, file.size - 1);
    assert_int_equal(parts_hold(path), 0);
    tree_write_bytes(tree, "a.netprof", file.data, 15);
    assert_int_equal(parts_hold(path), 0);
    assert_int_equal(parts_hold(tree_path(tree, "no such file")), 0);
    assert_int_equal(parts_hold(tree), 0);
    sink_free(&file);
    tree_remove(tree);
}

// ---- kinds and names ----

static void marks_and_blanks_before_the_text(void **state)
{
    static const char refused[] =
        "expected a .netprof file, JSON of netprof or net_prof, or lines value@seconds.nanoseconds";
    char *tree = tree_make(), text[8192];
    (void)state;
    for (int mark = 0; mark < 2; mark++)
        for (int blank = 0; blank < 2; blank++)
            for (int known = 0; known < 2; known++) {
                size_t pad = blank ? 5000 : 0;
                snprintf(text, sizeof text, "%s%*s%s%*s", mark ? "\xEF\xBB\xBF" : "", (int)pad, "",
                         known ? "12@34.000000005\n" : "some text\n", 2 * 1000, "");
                tree_write_bytes(tree, "a", text, strlen(text));
                dataset set = {0};
                netprof_error error;
                netprof_err err = dataset_read(&set, tree_path(tree, "a"), NULL, &error);
                assert_int_equal(err, known ? NETPROF_OK : NETPROF_ERR_FORMAT);
                if (known) assert_int_equal(set.runs[0].snapshots[0].values[0], 12);
                if (!known) assert_string_equal(error.text, refused);
                dataset_free(&set);
            }
    expect_error("", 0, NULL, NETPROF_ERR_FORMAT, "empty");
    expect_error("\xEF\xBB\xBF", 3, NULL, NETPROF_ERR_FORMAT, "empty");
    expect_error("\xEF\xBB", 2, NULL, NETPROF_ERR_FORMAT, refused);
    tree_remove(tree);
}

static void the_name_of_a_node(void **state)
{
    static const netprof_fact facts[] = {{"host", "h"}, {"node", "n"}, {"pod", "p"}, {"pod", ""}};
    static const struct row row = {"netdev", "eth0", "rx", .width = 64};
    (void)state;
    for (size_t count = 0; count <= 3; count++) {
        dataset_run run = {.facts = (netprof_fact *)(uintptr_t)facts, .fact_count = count};
        assert_string_equal(dataset_node(&run, NULL), count ? facts[count - 1].value : "");
    }
    dataset_run empty = {.facts = (netprof_fact *)(uintptr_t)&facts[3], .fact_count = 1}, none = {0};
    assert_string_equal(dataset_node(&empty, NULL), "");
    netprof_snapshot x = snapshot_of(schema_of_rows(&row, 1, "schema's", NULL));
    assert_string_equal(dataset_node(&none, x.schema), "schema's");
    assert_string_equal(dataset_node(&empty, x.schema), "schema's");
    dataset_run with_node = {.facts = (netprof_fact *)(uintptr_t)facts, .fact_count = 2};
    assert_string_equal(dataset_node(&with_node, x.schema), "n");
    none.snapshots = &x, none.snapshot_count = 1;
    assert_string_equal(dataset_node(&none, NULL), "schema's");
    assert_string_equal(dataset_fact(&none, "host"), "schema's");
    assert_null(dataset_fact(&none, "pod"));
    netprof_snapshot_free(&x);
    static const char *const names[] = {"unknown",       ".netprof",      "netprof JSON",
                                        "net_prof JSON", "net_prof text", "unknown"};
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(dataset_format_name((dataset_format)i), names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_readings_as_fit),
        cmocka_unit_test(files_as_large_as_allowed),
        cmocka_unit_test(each_reading_is_told),
        cmocka_unit_test(devices_that_are_away),
        cmocka_unit_test(away_among_readings_that_are_passed_over),
        cmocka_unit_test(parts_of_a_file),
        cmocka_unit_test(parts_that_cannot_be_used),
        cmocka_unit_test(files_that_were_not_ended),
        cmocka_unit_test(what_a_file_holds),
        cmocka_unit_test(marks_and_blanks_before_the_text),
        cmocka_unit_test(the_name_of_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
