// A job's logs as JSON, whole: job.json beside this file holds it of the job that nccl_job.h works out by hand.
#define _GNU_SOURCE
#include "netprof.h"

#include "nccl_job.h"
#include "nccl_document.h"

static void logs_whole(void **state)
{
    nccl n;
    nccl_findings f;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    nccl_findings_make(&f, &n, NULL);
    golden_expect(without_place(document(&n, &f, NULL), tree), "nccl/job.json");
    nccl_findings_free(&f);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(logs_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
