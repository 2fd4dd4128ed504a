// The box of the report of regions: answers about the worst, at most so many.
#include "pages_regions_verdict.h"
#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { VERDICT_LINES = 6 };

// What happened to the network meanwhile is a line of its own, where there is room: it stands beside the sentence, and is no
// part of it.
static size_t regions_verdict_add_note(document *doc, const regions_note *n, size_t room)
{
    if (!n->meanwhile || room < 2) {
        document_answer(doc, n->severity, n->question, n->text);
        return 1;
    }
    char *beside = memory_strdup(n->text + n->meanwhile);
    if (*beside >= 'a' && *beside <= 'z') *beside = (char)(*beside - 'a' + 'A');
    char *before = memory_format("%.*s", (int)(n->meanwhile - strlen("; ")), n->text);
    document_answer(doc, n->severity, n->question, before);
    document_answer(doc, SEVERITY_INFO, "Beside it", beside); // no cause: coincidence
    free(beside);
    free(before);
    return 2;
}

// Whether the box has no room for a note: what else there is gives way to the answers about the worst, and that all is complete
// is said in the foot as well.
static bool regions_verdict_gives_way(const regions_note *n, size_t told)
{
    if (told <= VERDICT_LINES) return false;
    if (strcmp(n->question, "Also") == 0) return n->severity < SEVERITY_HIGH;
    return n->severity == SEVERITY_OK && strcmp(n->question, "Complete?") == 0;
}

void pages_regions_verdict(document *doc, const regions *r)
{
    const regions_note *next = NULL; // last, whatever its severity
    size_t told = r->note_count, shown = 0;
    bool *left_out = memory_calloc(r->note_count + 1, sizeof *left_out);
    for (size_t i = 0; i < r->note_count; i++) {
        told += r->notes[i].meanwhile > 0;
        if (strcmp(r->notes[i].question, "Look next") == 0) next = &r->notes[i];
    }
    for (size_t i = r->note_count; i-- > 0;) { // the least of them first
        left_out[i] = regions_verdict_gives_way(&r->notes[i], told);
        told -= left_out[i];
    }
    size_t room = VERDICT_LINES - (next != NULL);
    for (size_t i = 0; i < r->note_count && shown < room; i++)
        if (&r->notes[i] != next && !left_out[i]) shown += regions_verdict_add_note(doc, &r->notes[i], room - shown);
    if (next) document_answer(doc, next->severity, next->question, next->text);
    free(left_out);
}
