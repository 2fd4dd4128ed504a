// net_prof's raw text with a list of names, whole: values and stamps by their place, what is cut, and lists that are of no use;
// and a file whose reading fails.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/data/dataset.h"
#include "support.h"

static char *place;

static int begin(void **state)
{
    (void)state;
    place = tree_make();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(place);
    return 0;
}

static const char names[] =
    "-r--r--r-- 1 root root 4096 Jan 1 00:00 hni_sts_tx_ok_octets\n\nmine \t\r\n  hni_sts_rx_ok_octets";

// Three names: two whole NICs, and a part of a third one. The fifth line is none.
static const char text[] =
    "\r\n 11@100.000000005\n12@100.000000001\r\n18446744073709551615@99.999999999\n21@0.000000000\n"
    "22@7\n23@101.500000000\n31@98.000000000\n \n";

static void by_place(void **state)
{
    static const struct {
        uint64_t value;
        int64_t stamp_ns;
        int status, sys_errno;
    } rows[] = {{11, INT64_C(100000000005), NETPROF_STATUS_OK, 0},
                {12, INT64_C(100000000001), NETPROF_STATUS_OK, 0},
                {UINT64_MAX, INT64_C(99999999999), NETPROF_STATUS_OK, 0},
                {21, 0, NETPROF_STATUS_OK, 0},
                {0, 0, NETPROF_STATUS_UNREADABLE, EBADMSG},
                {23, INT64_C(101500000000), NETPROF_STATUS_OK, 0},
                {31, INT64_C(98000000000), NETPROF_STATUS_OK, 0},
                {0, 0, NETPROF_STATUS_ABSENT, 0},
                {0, 0, NETPROF_STATUS_ABSENT, 0}};
    static const char *const counters[] = {"hni_sts_tx_ok_octets", "mine", "hni_sts_rx_ok_octets"};
    static const int64_t begins[] = {INT64_C(99999999999), INT64_C(101500000000), INT64_C(98000000000)},
                         ends[] = {INT64_C(100000000005), INT64_C(101500000000), INT64_C(98000000000)};
    char words[400];
    dataset set = {0};
    (void)state;
    tree_write(place, "names", "%s", names);
    const char *list = tree_path(place, "names");
    assert_int_equal(dataset_read_memory(&set, "t", text, sizeof text - 1, &(dataset_options){.names = list}, NULL),
                     NETPROF_OK);
    assert_int_equal(set.run_count, 1);
    assert_false(set.runs[0].complete);
    assert_int_equal(set.runs[0].snapshot_count, 1);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    assert_int_equal(s->schema->counter_count, COUNT(rows));
    assert_int_equal(s->schema->device_count, 3);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const netprof_counter *c = &s->schema->counters[i];
        assert_true(s->values[i] == rows[i].value);
        assert_true(s->stamps_ns[i] == rows[i].stamp_ns);
        assert_int_equal(s->status[i], rows[i].status);
        assert_int_equal(s->errnos[i], rows[i].sys_errno);
        assert_string_equal(c->name, counters[i % 3]);
        assert_int_equal(c->device, i / 3);
        assert_int_equal(c->width, 56);
        assert_true(c->flags & NETPROF_STAMPED);
        assert_string_equal(c->unit, i % 3 == 1 ? "" : "bytes");
        assert_int_equal(c->kind, NETPROF_KIND_COUNTER);
    }
    assert_int_equal(s->not_ok, 3);
    for (size_t d = 0; d < 3; d++) {
        char name[8];
        snprintf(name, sizeof name, "cxi%zu", d);
        assert_string_equal(s->schema->devices[d].name, name);
        assert_string_equal(s->schema->devices[d].source, "cxi");
        assert_true(s->device_begin_ns[d] == begins[d] && s->device_end_ns[d] == ends[d]);
    }
    assert_true(s->begin_ns == begins[2] && s->end_ns == ends[1] && s->wall_ns == begins[2]);
    assert_int_equal(set.warning_count, 2);
    snprintf(
        words, sizeof words,
        "7 lines: expected a multiple of 3, one for each name of %s; there are 2 whole NICs and 1 lines of one more",
        list);
    assert_string_equal(set.warnings[0].text, words);
    assert_int_equal(set.warnings[0].line, 7);
    assert_string_equal(set.warnings[1].text, "expected value@seconds.nanoseconds for mine of cxi1");
    assert_int_equal(set.warnings[1].line, 5);
    assert_string_equal(set.warnings[1].path, "t");
    dataset_free(&set);
}

static void expect_error(const char *data, const char *list, netprof_err code, uint64_t line, const char *words)
{
    dataset set = {0};
    netprof_error error = {.text = ""};
    assert_int_equal(dataset_read_memory(&set, "t", data, strlen(data), &(dataset_options){.names = list}, &error),
                     code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.path, list);
    assert_string_equal(error.text, words);
    assert_int_equal(error.offset, line);
    assert_int_equal(error.sys_errno, code == NETPROF_ERR_IO ? ENOENT : 0);
    dataset_free(&set);
}

static void lists_of_no_use(void **state)
{
    const char *list = tree_path(place, "list");
    (void)state;
    tree_write(place, "list", "a\nb\n\nx a\n");
    expect_error("1@2.000000003\n", list, NETPROF_ERR_PARSE, 4, "the name a is there twice");
    tree_write(place, "list", "\n \t\n\r\n");
    expect_error("1@2.000000003\n", list, NETPROF_ERR_PARSE, 0, "expected a counter name on each line");
    assert_int_equal(unlink(list), 0);
    expect_error("1@2.000000003\n", list, NETPROF_ERR_IO, 0, strerror(ENOENT));
}

// Without a list the names are those of a card: of the older one where the lines do not fit the newer one's.
static void names_of_cards(void **state)
{
    char words[200];
    dataset set = {0};
    (void)state;
    assert_int_equal(dataset_read_memory(&set, "t", "1@2.000000003\n", 14, NULL, NULL), NETPROF_OK);
    size_t count = set.runs[0].snapshots[0].schema->counter_count;
    assert_true(count > 1000);
    assert_int_equal(set.warning_count, 1);
    snprintf(
        words, sizeof words,
        "1 lines: expected a multiple of %zu, one for each name of Cassini-1; there are 0 whole NICs and 1 lines of "
        "one more",
        count);
    assert_string_equal(set.warnings[0].text, words);
    dataset_free(&set);
}

// Which digits are a value and a stamp.
static void one_line(void **state)
{
    static const struct {
        const char *line;
        bool is;
    } rows[] = {{"1@2.000000003", true},
                {"0@0.000000000", true},
                {"18446744073709551615@1.000000000", true},
                {"18446744073709551616@1.000000000", false},
                {"184467440737095516150@1.000000000", false},
                {"1@9223372035.999999999", true},
                {"1@9223372036.000000000", false},
                {"1@2.00000003", false},
                {"1@2.0000000030", false},
                {"1@2", false},
                {"1@.000000003", false},
                {"1@2.00000000x", false},
                {"1@2,000000003", false},
                {"1 @2.000000003", false},
                {"-1@2.000000003", false}};
    (void)state;
    tree_write(place, "names", "a\nb\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char data[100];
        dataset set = {0};
        snprintf(data, sizeof data, "5@6.000000007\n%s\n", rows[i].line);
        dataset_options options = {.names = tree_path(place, "names")};
        assert_int_equal(dataset_read_memory(&set, "t", data, strlen(data), &options, NULL), NETPROF_OK);
        bool is = set.runs[0].snapshots[0].status[1] == NETPROF_STATUS_OK;
        if (is != rows[i].is) fail_msg("%s", rows[i].line);
        assert_int_equal(set.warning_count, !is);
        assert_int_equal(set.runs[0].complete, is);
        dataset_free(&set);
    }
}

// The kernel refuses to read what is at the first address: the words are its own.
static void reading_fails(void **state)
{
    dataset set = {0};
    netprof_error error = {.text = ""};
    (void)state;
    assert_int_equal(dataset_read(&set, "/proc/self/mem", NULL, &error), NETPROF_ERR_IO);
    assert_string_equal(error.text, strerror(EIO));
    assert_string_equal(error.path, "/proc/self/mem");
    assert_int_equal(error.code, NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, EIO);
    assert_int_equal(error.offset, 0);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(by_place, begin, end),
        cmocka_unit_test_setup_teardown(lists_of_no_use, begin, end),
        cmocka_unit_test_setup_teardown(one_line, begin, end),
        cmocka_unit_test(names_of_cards),
        cmocka_unit_test(reading_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
