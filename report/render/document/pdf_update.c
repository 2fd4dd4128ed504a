#define _GNU_SOURCE // memmem
#include "pdf_update.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY = 20 }; // bytes of a line of the cross-reference table

typedef struct pdf_object_at {
    size_t object, at;
} pdf_object_at;

typedef struct pdf_file {
    buffer *out;
    const pdf_extras *extras;
    const char *data; // a copy of what there was: writing moves the other
    size_t size;      // of it
    size_t table, objects;
    const char *entries, *trailer;
    size_t root, pages[4096], page_count;
    size_t tree, *sections; // of tags: its root; arr of those of sections, in their order
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
    if (!object || object >= f->objects || f->entries[object * ENTRY + ENTRY - 3] != 'n') return NULL;
    size_t at = (size_t)strtoul(f->entries + object * ENTRY, NULL, 10);
    if (at >= f->table) return NULL;
    const char *begin = f->data + at, *end = memmem(begin, f->table - at, "endobj", 6);
    const char *from = end ? memmem(begin, (size_t)(end - begin), "<<", 2) : NULL;
    *size = from ? (size_t)(end - from) : 0;
    return from && !memmem(from, *size, "stream", 6) ? from : NULL;
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

// ---- the tree of tags ----

// Elements are written in the order in which they were begun. Where there are other sections than were drawn, nothing is said of
// any.
static void pdf_find_sections(pdf_file *f)
{
    size_t size;
    const char *root = pdf_object(f, f->root, &size);
    f->tree = root ? pdf_reference(root, size, "/StructTreeRoot ") : 0;
    for (size_t i = 1; i < f->objects && f->tree; i++) {
        const char *text = pdf_object(f, i, &size);
        if (text && memmem(text, size, "/S /Sect\n", 9)) arrput(f->sections, i);
    }
    if (arrlenu(f->sections) != f->extras->section_count) arrsetlen(f->sections, 0);
}

// Foreign text as PDF has it: ASCII in parentheses, else UTF-16.
static void pdf_write_text(buffer *out, const char *text)
{
    bool plain = true;
    for (const char *at = text; *at; at++)
        plain = plain && (unsigned char)*at >= ' ' && (unsigned char)*at < 0x7f;
    buffer_text(out, plain ? "(" : "<FEFF");
    for (const char *at = text; *at;) {
        uint32_t code = 0;
        size_t length = utf8_character(at, &code);
        if (!length) code = 0xfffd, length = 1;
        if (plain)
            buffer_printf(out, "%s%c", strchr("()\\", *at) ? "\\" : "", *at);
        else if (code < 0x10000)
            buffer_printf(out, "%04X", (unsigned)code);
        else
            buffer_printf(out, "%04X%04X", (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                          (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
        at += length;
    }
    buffer_text(out, plain ? ")" : ">");
}

static void pdf_write_visible(buffer *out, const char *text)
{
    char *visible = text_visible(text);
    pdf_write_text(out, visible);
    free(visible);
}

// ---- writing ----

static void pdf_begin_object(pdf_file *f, size_t object)
{
    arrput(f->updated, ((pdf_object_at){object, f->out->size}));
    buffer_printf(f->out, "%zu 0 obj\n", object);
}

// Writes the object once more, with more in its dictionary, and where `from` is in it `to` in its place; unless it has that key
// already.
static void pdf_write_again(pdf_file *f, size_t object, const char *key, const char *more, const char *from,
                            const char *to)
{
    size_t size;
    const char *text = pdf_object(f, object, &size), *at = NULL;
    if (!text || memmem(text, size, key, strlen(key))) return;
    size_t last = size;
    while (last > 2 && memcmp(text + last - 2, ">>", 2) != 0)
        last--;
    if (from) at = memmem(text, last, from, strlen(from));
    pdf_begin_object(f, object);
    if (at) {
        buffer_bytes(f->out, text, (size_t)(at - text));
        buffer_text(f->out, to);
        last -= (size_t)(at - text) + strlen(from);
        text = at + strlen(from);
    }
    buffer_bytes(f->out, text, last - 2);
    buffer_printf(f->out, "%s\n>>\nendobj\n", more);
}

static bool pdf_is_drawn(const pdf_file *f, const pdf_link *l)
{
    return l->page < f->page_count && l->to_page < f->page_count;
}

// A link and its element are two objects, one behind the other: the k-th link's are the first new object + 2 k.
static size_t pdf_link_object(const pdf_file *f, size_t link)
{
    return f->objects + 2 * link;
}

static bool pdf_in_tree(const pdf_file *f, const pdf_link *l)
{
    return l->section < arrlenu(f->sections);
}

static void pdf_write_link(pdf_file *f, size_t link)
{
    const pdf_link *l = &f->extras->links[link];
    const double box[4] = {l->left, l->bottom, l->right, l->top};
    buffer *out = f->out;
    pdf_begin_object(f, pdf_link_object(f, link));
    buffer_text(out, "<< /Type /Annot /Subtype /Link /F 4 /Border [0 0 0] /Rect [");
    for (int k = 0; k < 4; k++) {
        buffer_text(out, k ? " " : "");
        buffer_number(out, box[k]);
    }
    buffer_printf(out, "] /Dest [%zu 0 R /XYZ 0 ", f->pages[l->to_page]);
    buffer_number(out, l->to_y);
    buffer_printf(out, " 0]\n   /P %zu 0 R /Contents ", f->pages[l->page]);
    pdf_write_visible(out, l->text ? l->text : "");
    if (pdf_in_tree(f, l)) buffer_printf(out, " /StructParent %zu", f->page_count + link);
    buffer_text(out, " >>\nendobj\n");
    if (!pdf_in_tree(f, l)) return;
    pdf_begin_object(f, pdf_link_object(f, link) + 1);
    buffer_printf(out, "<< /Type /StructElem /S /Link /P %zu 0 R /Pg %zu 0 R\n", f->sections[l->section],
                  f->pages[l->page]);
    buffer_printf(out, "   /K << /Type /OBJR /Obj %zu 0 R /Pg %zu 0 R >> >>\nendobj\n", pdf_link_object(f, link),
                  f->pages[l->page]);
}

static void pdf_write_page(pdf_file *f, size_t page)
{
    buffer more = {0};
    size_t count = 0;
    buffer_text(&more, "   /Tabs /S\n   /Annots [");
    for (size_t i = 0; i < f->extras->link_count; i++) {
        const pdf_link *l = &f->extras->links[i];
        if (l->page != page || !pdf_is_drawn(f, l)) continue;
        buffer_printf(&more, " %zu 0 R", pdf_link_object(f, i));
        count++;
    }
    buffer_text(&more, " ]");
    if (count) pdf_write_again(f, f->pages[page], "/Annots", more.data, NULL, NULL);
    buffer_free(&more);
}

// A section's element: the links in it behind what it has, and what is said in its place.
static void pdf_write_section(pdf_file *f, size_t section)
{
    size_t size, links = 0;
    const char *text = pdf_object(f, f->sections[section], &size);
    const char *kids = text ? memmem(text, size, "/K ", 3) : NULL, *spoken = f->extras->spoken[section];
    buffer from = {0}, to = {0}, more = {0};
    if (kids && kids[3] == '[' && !memchr(kids, ']', strcspn(kids, "\n")))
        kids = NULL; // over several lines: left as it is
    if (kids) buffer_bytes(&from, kids, strcspn(kids, "\n"));
    if (kids) buffer_bytes(&to, kids, strcspn(kids, "\n"));
    if (kids && kids[3] == '[') // "/K [ 3 4 ]"
        to.size = (size_t)(strrchr(to.data, ']') - to.data);
    else if (kids) { // "/K 3"
        buffer_free(&to);
        buffer_printf(&to, "/K [ %s", from.data + 3);
    }
    for (size_t i = 0; i < f->extras->link_count && kids; i++)
        if (f->extras->links[i].section == section && pdf_is_drawn(f, &f->extras->links[i]) && ++links)
            buffer_printf(&to, " %zu 0 R", pdf_link_object(f, i) + 1);
    if (kids) buffer_text(&to, " ]");
    if (spoken) {
        buffer_text(&more, "   /Alt ");
        pdf_write_visible(&more, spoken);
        pdf_write_again(f, f->sections[section], "/Alt", more.data, "/S /Sect\n", "/S /Figure\n");
    } else if (links)
        pdf_write_again(f, f->sections[section], "/Alt", "", from.data, to.data);
    buffer_free(&from);
    buffer_free(&to);
    buffer_free(&more);
}

// From an annotation back to its element.
static void pdf_write_parents(pdf_file *f)
{
    size_t size;
    const char *root = pdf_object(f, f->tree, &size);
    buffer to = {0};
    for (size_t i = 0; i < f->extras->link_count; i++)
        if (pdf_is_drawn(f, &f->extras->links[i]) && pdf_in_tree(f, &f->extras->links[i]))
            buffer_printf(&to, "   %zu %zu 0 R\n", f->page_count + i, pdf_link_object(f, i) + 1);
    buffer_text(&to, "  ]\n");
    if (root && to.size > 4)
        pdf_write_again(f, pdf_reference(root, size, "/ParentTree "), "/Limits", "", "  ]\n", to.data);
    buffer_free(&to);
}

// A table of what was written anew, and a trailer that leads to the table before it and counts what is new.
static void pdf_end(pdf_file *f)
{
    static const char key[] = "/Size ";
    size_t at = f->out->size;
    const char *end = strstr(f->trailer, ">>"), *count = strstr(f->trailer, key) + strlen(key);
    buffer_text(f->out, "xref\n0 1\n0000000000 65535 f \n");
    for (size_t i = 0; i < arrlenu(f->updated); i++)
        buffer_printf(f->out, "%zu 1\n%010zu 00000 n \n", f->updated[i].object, f->updated[i].at);
    buffer_bytes(f->out, f->trailer, (size_t)(count - f->trailer));
    buffer_printf(f->out, "%zu", f->objects + 2 * f->extras->link_count);
    count += strspn(count, "0123456789");
    buffer_bytes(f->out, count, (size_t)(end - count));
    buffer_printf(f->out, "   /Prev %zu\n>>\nstartxref\n%zu\n%%%%EOF\n", f->table, at);
}

static void pdf_write_all(pdf_file *f)
{
    char more[160];
    snprintf(more, sizeof more, "   /Lang (%s)\n   /ViewerPreferences << /DisplayDocTitle true >>",
             f->extras->language);
    pdf_write_again(f, f->root, "/Lang", more, NULL, NULL);
    for (size_t page = 0; page < f->page_count; page++)
        pdf_write_page(f, page);
    for (size_t i = 0; i < f->extras->link_count; i++)
        if (pdf_is_drawn(f, &f->extras->links[i])) pdf_write_link(f, i);
    for (size_t i = 0; i < arrlenu(f->sections); i++)
        pdf_write_section(f, i);
    pdf_write_parents(f);
    if (f->updated) pdf_end(f);
}

bool pdf_update(buffer *pdf, const pdf_extras *extras)
{
    pdf_file f = {.out = pdf, .extras = extras, .size = pdf->size};
    char *data = memory_calloc(1, pdf->size + 1);
    memcpy(data, pdf->data, pdf->size);
    f.data = data;
    bool known = pdf_find_table(&f) && strstr(f.trailer, ">>") && strstr(f.trailer, "/Size ") && pdf_find_pages(&f);
    if (known) {
        pdf_find_sections(&f);
        pdf_write_all(&f);
    }
    arrfree(f.updated);
    arrfree(f.sections);
    free(data);
    return known;
}
