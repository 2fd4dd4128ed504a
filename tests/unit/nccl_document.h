// A job's logs as one JSON document, with the view in it, wherever the test made them. Include support.h first.
#ifndef NETPROF_TESTS_NCCL_DOCUMENT_H
#define NETPROF_TESTS_NCCL_DOCUMENT_H

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "golden.h"

// What the test made lies in a directory that has another name each time.
SUPPORT json_object *without_place(json_object *o, const char *tree)
{
    char *text = strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)), *at;
    size_t length = strlen(tree);
    while ((at = strstr(text, tree)) != NULL) {
        *at = '@';
        memmove(at + 1, at + length, strlen(at + length) + 1);
    }
    json_object *clean = json_tokener_parse(text);
    assert_non_null(clean);
    json_object_put(o);
    free(text);
    return clean;
}

SUPPORT json_object *document(const nccl *n, const nccl_findings *f, const nccl_comparison *c)
{
    nccl_view v;
    nccl_view_make(&v, n, f, c, NULL);
    json_object *o = nccl_json(n, f, c);
    json_put(o, "view", nccl_view_json(&v));
    nccl_view_free(&v);
    return o;
}

#endif
