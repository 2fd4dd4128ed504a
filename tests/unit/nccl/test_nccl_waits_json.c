// What netprof's plugin recorded as JSON, whole: waits.json beside this file holds it of a job in which rank 3 sends slowly.
#define _GNU_SOURCE
#include "netprof.h"

#include "nccl_all_to_all.h"
#include "nccl_document.h"

static void recorded_whole(void **state)
{
    results r = {.tree = tree_make()};
    (void)state;
    write_all_to_all(r.tree, from_3, 1);
    read_results(&r);
    golden_expect(without_place(document(&r.n, &r.f, NULL), r.tree), "nccl/waits.json");
    results_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
