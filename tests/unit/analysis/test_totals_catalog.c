// netprof_totals() has a table of its own of what counts traffic, since the header stands alone: it must say what the
// marks of the catalog say, by which the commands and reports add up.
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include "support.h"

#include "analysis/catalog/catalog.h"

static const struct {
    uint32_t mark;
    unsigned char sum;
    bool part;
} roles[] = {
    {CATALOG_RX_BYTES, NETPROF__RX_BYTES, false},         {CATALOG_TX_BYTES, NETPROF__TX_BYTES, false},
    {CATALOG_RX_PACKETS, NETPROF__RX_PACKETS, false},     {CATALOG_TX_PACKETS, NETPROF__TX_PACKETS, false},
    {CATALOG_RX_PACKETS_PART, NETPROF__RX_PACKETS, true}, {CATALOG_TX_PACKETS_PART, NETPROF__TX_PACKETS, true}};

enum { ROLES = sizeof roles / sizeof *roles, SUMMANDS = sizeof netprof__summands / sizeof *netprof__summands };

static size_t summand_of(const char *source, const char *counter, unsigned char sum)
{
    for (size_t i = 0; i < SUMMANDS; i++)
        if (strcmp(netprof__summands[i].source, source) == 0 && netprof__summands[i].sum == sum &&
            netprof__is_summand(&netprof__summands[i], counter))
            return i;
    return SUMMANDS;
}

static void test_each_mark_is_summed(void **state)
{
    const catalog_entry *entry;
    size_t checked = 0;
    (void)state;
    for (size_t at = 0; (entry = catalog_at(at)) != NULL; at++)
        for (size_t r = 0; r < ROLES; r++) {
            if (!(entry->marks & roles[r].mark)) continue;
            size_t i = summand_of(entry->source, entry->name, roles[r].sum);
            if (i == SUMMANDS) fail_msg("%s/%s is marked, and in no total", entry->source, entry->name);
            assert_int_equal(netprof__summands[i].parts,
                             roles[r].part ? catalog_count(entry->source, roles[r].mark) : 0);
            checked++;
        }
    assert_true(checked > 30);
}

static void test_each_summand_is_marked(void **state)
{
    const catalog_entry *entry;
    (void)state;
    for (size_t i = 0; i < SUMMANDS; i++) {
        const struct netprof__summand *s = &netprof__summands[i];
        size_t found = 0;
        if (s->sum == NETPROF__ERRORS) continue;
        for (size_t at = 0; (entry = catalog_at(at)) != NULL; at++) {
            size_t marked = 0;
            if (strcmp(entry->source, s->source) != 0 || !netprof__is_summand(s, entry->name)) continue;
            for (size_t r = 0; r < ROLES; r++)
                marked += roles[r].sum == s->sum && (entry->marks & roles[r].mark) && roles[r].part == (s->parts != 0);
            if (marked != 1) fail_msg("%s/%s is in a total, and not marked", s->source, entry->name);
            found++;
        }
        if (found != (s->parts ? s->parts : 1)) fail_msg("%s/%s: %zu rows", s->source, s->counter, found);
    }
}

// What the header counts as an error is trouble to the catalog.
static void test_errors_are_trouble(void **state)
{
    const catalog_entry *entry;
    (void)state;
    for (size_t i = 0; i < SUMMANDS; i++) {
        const struct netprof__summand *s = &netprof__summands[i];
        size_t found = 0;
        if (s->sum != NETPROF__ERRORS) continue;
        for (size_t at = 0; (entry = catalog_at(at)) != NULL; at++) {
            if (strcmp(entry->source, s->source) != 0 || !netprof__is_summand(s, entry->name)) continue;
            if (!catalog_is_trouble(entry->source, entry->name, entry->unit))
                fail_msg("%s/%s is an error in a total, and no trouble", entry->source, entry->name);
            found++;
        }
        if (!found) fail_msg("%s/%s is not in the catalog", s->source, s->counter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_mark_is_summed),
        cmocka_unit_test(test_each_summand_is_marked),
        cmocka_unit_test(test_errors_are_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
