/* Files of phases: every mark has a time that the text names and a name of at most 200 bytes that stands in the text; no
   line gives more than one. */
#include "analysis/job/job_report.h"
#include "analysis/job/job_store.h"
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does the text hold these bytes? */
static bool holds(const uint8_t *data, size_t size, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(data + i, name, n) == 0) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    job_report r = {0};
    size_t lines = 1;
    char *text = malloc(size + 1); /* of exactly this size: nothing beyond its end may be read */
    r.reader = calloc(1, sizeof *r.reader);
    expect(text && r.reader);
    text = realloc(text, size ? size : 1);
    if (size) memcpy(text, data, size);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    job_parse_phases(&r, "x.phases", text, size);
    expect(arrlenu(r.reader->marks) <= lines);
    for (size_t i = 0; i < arrlenu(r.reader->marks); i++) {
        const job_mark *m = &r.reader->marks[i];
        expect(m->at_ns >= 0 && m->at_ns <= INT64_C(9000000001) * 1000000000);
        if (!m->name) continue;
        size_t n = strlen(m->name);
        expect(n <= 200 && !memchr(m->name, '\n', n) && holds(data, size, m->name));
    }
    expect(r.warning_count <= 2);
    free(text);
    job_report_free(&r);
    return 0;
}
