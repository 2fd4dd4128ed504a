#define _GNU_SOURCE // memmem
#include "pdf_update.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY = 20 }; // bytes of a line of the cross-reference table

typedef struct pdf_object_at {
    size_t object, at;
} pdf_object_at;

typedef struct pdf_file {
    buffer *out;
    const char *data; // a copy of what there was: writing moves the other
    size_t size;      // of it
    size_t table, objects;
    const char *entries, *trailer;
    size_t root, pages[4096], page_count;
    pdf_object_at *updated; // arr: what was written anew, and where
} pdf_file;

static const char *pdf_last(const pdf_file *f, const char *words)
{
    size_t length = strlen(words);
    for (size_t at = f->size; at-- > length;)
        if (memcmp(f->data + at - length, words, length) == 0) return f->data + at - length;
    return NULL;
}

// "/Root 30 0 R": 30; 0: it has no such key.
static size_t pdf_reference(const char *text, size_t size, const char *key)
{
    const char *at = memmem(text, size, key, strlen(key));
    return at ? (size_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

static bool pdf_find_table(pdf_file *f)
{
    const char *start = pdf_last(f, "startxref"), *data = f->data;
    f->table = start ? (size_t)strtoul(start + strlen("startxref"), NULL, 10) : 0;
    if (!f->table || f->table >= f->size || strncmp(data + f->table, "xref\n0 ", 7) != 0) return false;
    char *end;
    f->objects = (size_t)strtoul(data + f->table + 7, &end, 10);
    f->entries = *end == '\n' ? end + 1 : NULL;
    if (!f->entries || f->objects > (f->size - f->table) / ENTRY) return false;
    f->trailer = f->entries + f->objects * ENTRY;
    return f->trailer < start && strncmp(f->trailer, "trailer", 7) == 0;
}

// The text of an object, from its dictionary to its end; NULL: it is no dictionary alone.
static const char *pdf_object(const pdf_file *f, size_t object, size_t *size)
{
    if (!object || object >= f->objects) return NULL;
    size_t at = (size_t)strtoul(f->entries + object * ENTRY, NULL, 10);
    if (at >= f->table) return NULL;
    const char *data = f->data, *from = memmem(data + at, f->table - at, "<<", 2);
    const char *end = from ? memmem(from, f->table - (size_t)(from - data), "endobj", 6) : NULL;
    *size = end ? (size_t)(end - from) : 0;
    return end && !memmem(from, *size, "stream", 6) ? from : NULL;
}

static bool pdf_find_pages(pdf_file *f)
{
    size_t size, end = f->size - (size_t)(f->trailer - f->data);
    f->root = pdf_reference(f->trailer, end, "/Root ");
    const char *root = pdf_object(f, f->root, &size);
    const char *pages = root ? pdf_object(f, pdf_reference(root, size, "/Pages "), &size) : NULL;
    const char *kids = pages ? memmem(pages, size, "/Kids [", 7) : NULL;
    if (!kids) return false;
    char *at = (char *)kids + 7;
    for (char *next; f->page_count < sizeof f->pages / sizeof *f->pages; at = next + 4) { // " 0 R"
        size_t object = (size_t)strtoul(at, &next, 10);
        if (next == at || strncmp(next, " 0 R", 4) != 0) break;
        f->pages[f->page_count++] = object;
    }
    return f->page_count > 0;
}

// Writes the object once more, with more in its dictionary, unless it has that key already.
static void pdf_write_again(pdf_file *f, size_t object, const char *key, const char *more)
{
    size_t size;
    const char *text = pdf_object(f, object, &size);
    if (!text || memmem(text, size, key, strlen(key))) return;
    size_t last = size;
    while (last > 2 && memcmp(text + last - 2, ">>", 2) != 0)
        last--;
    arrput(f->updated, ((pdf_object_at){object, f->out->size}));
    buffer_printf(f->out, "%zu 0 obj\n", object);
    buffer_bytes(f->out, text, last - 2);
    buffer_printf(f->out, "%s\n>>\nendobj\n", more);
}

static void pdf_write_links(pdf_file *f, size_t page, const pdf_link *links, size_t count)
{
    buffer more = {0};
    buffer_text(&more, "   /Annots [");
    for (size_t i = 0; i < count; i++) {
        const pdf_link *l = &links[i];
        const double box[4] = {l->left, l->bottom, l->right, l->top};
        if (l->page != page || l->to_page >= f->page_count) continue;
        buffer_text(&more, " << /Type /Annot /Subtype /Link /Border [0 0 0] /Rect [");
        for (int k = 0; k < 4; k++) {
            buffer_text(&more, k ? " " : "");
            buffer_number(&more, box[k]);
        }
        buffer_printf(&more, "] /Dest [%zu 0 R /XYZ 0 ", f->pages[l->to_page]);
        buffer_number(&more, l->to_y);
        buffer_text(&more, " 0] >>\n");
    }
    buffer_text(&more, " ]");
    pdf_write_again(f, f->pages[page], "/Annots", more.data);
    buffer_free(&more);
}

// A table of what was written anew, and a trailer that leads to the table before it.
static void pdf_end(pdf_file *f)
{
    size_t at = f->out->size;
    const char *end = strstr(f->trailer, ">>");
    buffer_text(f->out, "xref\n0 1\n0000000000 65535 f \n");
    for (size_t i = 0; i < arrlenu(f->updated); i++)
        buffer_printf(f->out, "%zu 1\n%010zu 00000 n \n", f->updated[i].object, f->updated[i].at);
    buffer_bytes(f->out, f->trailer, (size_t)(end - f->trailer));
    buffer_printf(f->out, "   /Prev %zu\n>>\nstartxref\n%zu\n%%%%EOF\n", f->table, at);
}

bool pdf_update(buffer *pdf, const char *language, const pdf_link *links, size_t count)
{
    pdf_file f = {.out = pdf, .size = pdf->size};
    char more[160], *data = memory_calloc(1, pdf->size + 1);
    memcpy(data, pdf->data, pdf->size);
    f.data = data;
    bool known = pdf_find_table(&f) && strstr(f.trailer, ">>") && pdf_find_pages(&f);
    if (known) {
        snprintf(more, sizeof more, "   /Lang (%s)\n   /ViewerPreferences << /DisplayDocTitle true >>", language);
        pdf_write_again(&f, f.root, "/Lang", more);
        for (size_t page = 0; page < f.page_count; page++) {
            size_t here = 0;
            for (size_t i = 0; i < count; i++)
                here += links[i].page == page;
            if (here) pdf_write_links(&f, page, links, count);
        }
        if (f.updated) pdf_end(&f);
    }
    arrfree(f.updated);
    free(data);
    return known;
}
