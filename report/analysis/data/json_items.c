#include "json_items.h"

#include "analysis/base/stb_ds.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char json_items_early[] = "the file ends too early";

// ---- parsing ----

// How many bytes from here on are ASCII, or are none, up to what the tokener takes at once.
static size_t json_items_run(const char *text, size_t size, bool *ascii)
{
    size_t most = size < INT_MAX / 2 ? size : INT_MAX / 2, n = 0;
    *ascii = !(text[0] & 0x80);
    while (n < most && !(text[n] & 0x80) == *ascii)
        n++;
    return n;
}

// The value that the text is, or NULL with the place and the reason: null, and *reason is NULL, is a value, too.
static json_object *json_items_parse(const char *text, size_t size, bool whole, int depth, size_t *stop,
                                     const char **reason)
{
    json_tokener *tokener = json_new_tokener(depth);
    enum json_tokener_error code = json_tokener_continue;
    json_object *value = NULL;
    for (*stop = 0; *stop < size && code == json_tokener_continue;) {
        // json-c 0.18 takes every byte beyond ASCII for a control character, which it refuses where it is strict.
        bool ascii;
        size_t part = json_items_run(text + *stop, size - *stop, &ascii);
        json_tokener_set_flags(tokener, (ascii ? JSON_TOKENER_STRICT : 0) | JSON_TOKENER_ALLOW_TRAILING_CHARS);
        value = json_feed_tokener(tokener, text + *stop, (int)part);
        code = json_tokener_get_error(tokener);
        *stop += json_tokener_get_parse_end(tokener);
    }
    if (code == json_tokener_continue && whole) { // a number ends where something else begins
        value = json_feed_tokener(tokener, " ", 1);
        code = json_tokener_get_error(tokener);
    }
    *reason = code == json_tokener_success    ? NULL
              : code == json_tokener_continue ? json_items_early
                                              : json_tokener_error_desc(code);
    json_tokener_free(tokener);
    return value;
}

// The intact part before `stop`, with the open brackets closed: all that a cut file still says. free() it.
static char *json_items_mend(const char *text, size_t stop, size_t *size)
{
    char stack[JSON_ITEMS_DEPTH];
    size_t depth = 0, safe_depth = 0, safe = 0;
    bool quoted = false;
    for (size_t i = 0; i < stop; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\') i++;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (depth == JSON_ITEMS_DEPTH) break;
            stack[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (!depth || stack[--depth] != c) break;
            safe = i + 1;
            safe_depth = depth;
        } else if (c == ',') {
            safe = i;
            safe_depth = depth;
        }
    }
    char *mended = memory_alloc(safe + safe_depth + 1);
    memcpy(mended, text, safe);
    while (safe_depth)
        mended[safe++] = stack[--safe_depth];
    mended[safe] = 0;
    *size = safe;
    return mended;
}

static json_object *json_items_parse_mended(const char *text, size_t stop, int depth)
{
    size_t size, ignored;
    const char *unused;
    char *mended = json_items_mend(text, stop, &size);
    json_object *value = json_items_parse(mended, size, true, depth, &ignored, &unused);
    free(mended);
    return value;
}

// ---- where the items are ----

// How far the text has been looked through.
typedef struct json_scan {
    const char *text;
    size_t size, at;
    char open[JSON_ITEMS_DEPTH]; // what closes the brackets that are open
    size_t depth;
    size_t key, key_end; // the last string of the outermost object
    json_items *list;    // the list that it is in
    json_document *document;
    char *rest; // the text without items, an stb_ds array
    size_t copied;
} json_scan;

static void json_scan_copy(json_scan *s, const char *from, size_t size)
{
    if (size) memcpy(arraddnptr(s->rest, size), from, size);
}

// The end of the string that begins here: behind its quote, or the end of the text.
static size_t json_scan_string(const json_scan *s)
{
    size_t i = s->at + 1;
    while (i < s->size && s->text[i] != '"')
        i += s->text[i] == '\\' ? 2 : 1;
    return i < s->size ? i + 1 : s->size;
}

// The list whose name stands before the bracket here.
static json_items *json_scan_list(json_scan *s)
{
    size_t length = s->key_end - s->key;
    if (s->depth != 1 || s->open[0] != '}' || s->text[s->at] != '[') return NULL;
    json_items *found = NULL;
    if (length == 11 && memcmp(s->text + s->key, "\"snapshots\"", 11) == 0) found = &s->document->snapshots;
    if (length == 8 && memcmp(s->text + s->key, "\"deltas\"", 8) == 0) found = &s->document->deltas;
    if (found) *found = (json_items){arrlenu(s->document->items), 0}; // of two with one name the last counts
    return found;
}

// Passes over one string, bracket or other character. False where brackets do not match.
static bool json_scan_step(json_scan *s)
{
    char c = s->text[s->at];
    if (c == '"') {
        size_t end = json_scan_string(s);
        if (s->depth == 1) s->key = s->at, s->key_end = end;
        s->at = end;
        return true;
    }
    if (c == '{' || c == '[') {
        if (s->depth == JSON_ITEMS_DEPTH) return false;
        json_items *list = json_scan_list(s);
        if (list) s->list = list;
        s->open[s->depth++] = c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
        if (!s->depth || s->open[s->depth - 1] != c) return false;
        if (--s->depth == 1) s->list = NULL;
    }
    s->at++;
    return true;
}

static bool json_scan_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Passes over an item of a list, which begins here. False when it does not end.
static bool json_scan_item(json_scan *s)
{
    json_item item = {s->at, s->size};
    bool ends = true;
    while (s->at < s->size && ends) {
        if (s->depth == 2 && (s->text[s->at] == ',' || s->text[s->at] == ']')) break;
        ends = json_scan_step(s);
    }
    ends = ends && s->at < s->size;
    if (ends) {
        for (item.end = s->at; json_scan_is_space(s->text[item.end - 1]);)
            item.end--;
    }
    json_scan_copy(s, s->text + s->copied, item.begin - s->copied);
    json_scan_copy(s, ends ? "null" : "null,", ends ? 4 : 5); // the comma: it stays when the brackets are closed
    s->copied = item.end;
    arrput(s->document->items, item);
    s->list->count++;
    return ends;
}

// Finds the items. True unless the text ends, or is damaged, within one.
static bool json_scan_items(json_scan *s)
{
    bool ends = true;
    while (ends && s->at < s->size) {
        char c = s->text[s->at];
        if (s->list && s->depth == 2 && c != ',' && c != ']' && !json_scan_is_space(c)) {
            ends = json_scan_item(s);
            continue;
        }
        if (!json_scan_step(s) || ((c == ']' || c == '}') && !s->depth)) break; // what follows is nobody's
    }
    if (ends) json_scan_copy(s, s->text + s->copied, s->size - s->copied);
    return ends;
}

// The place in the text of a place in what is left of it without items.
static size_t json_items_place(const json_document *d, size_t place)
{
    for (size_t i = 0; i < arrlenu(d->items) && place > d->items[i].begin; i++)
        place = place < d->items[i].begin + 4 ? d->items[i].begin : place + d->items[i].end - d->items[i].begin - 4;
    return place;
}

static void json_items_warn(dataset_input *in, json_document *d, size_t stop, const char *reason)
{
    d->intact = stop;
    in->run.complete = false;
    dataset_warn(in, dataset_line_at(in, stop), stop, "%s; what comes before was used", reason);
}

// What stands behind a whole document is not read, and that is said.
static void json_items_look_behind(dataset_input *in, const json_scan *s)
{
    size_t at = s->at;
    if (s->depth || !at || !strchr("]}", s->text[at - 1])) return;
    while (at < s->size && json_scan_is_space(s->text[at]))
        at++;
    if (at == s->size) return;
    in->run.complete = false;
    dataset_warn(in, dataset_line_at(in, at), at, "what follows is behind the end of the document, and is not used");
}

netprof_err json_document_read(dataset_input *in, json_document *d)
{
    size_t stop;
    const char *reason;
    *d = (json_document){.intact = in->size};
    json_scan scan = {.text = in->data, .size = in->size, .document = d};
    if (!json_scan_items(&scan)) // the last item will say what is wrong with it
        d->root = json_items_parse_mended(scan.rest, arrlenu(scan.rest), JSON_ITEMS_DEPTH);
    if (!d->root) {
        d->root = json_items_parse(scan.rest, arrlenu(scan.rest), false, JSON_ITEMS_DEPTH, &stop, &reason);
        if (d->root) json_items_look_behind(in, &scan);
    }
    if (!d->root) {
        if (!reason) reason = "expected an object or a list";
        d->root = json_items_parse_mended(scan.rest, stop, JSON_ITEMS_DEPTH);
        stop = json_items_place(d, stop);
        if (d->root) json_items_warn(in, d, stop, reason);
    }
    arrfree(scan.rest);
    if (d->root) return NETPROF_OK;
    uint64_t line = dataset_line_at(in, stop);
    return dataset_fail(in, NETPROF_ERR_PARSE, line, "line %llu: %s", (unsigned long long)line, reason);
}

bool json_document_item(dataset_input *in, json_document *d, json_object *list, const json_items *items, size_t i,
                        json_object **item)
{
    *item = NULL;
    if (!list || i >= json_object_array_length(list)) return false;
    *item = json_object_get(json_object_array_get_idx(list, i));
    if (*item || i >= items->count) return true;
    json_item place = d->items[items->first + i];
    if (place.begin >= d->intact) return false;
    const char *text = in->data + place.begin, *reason;
    size_t stop, size = place.end - place.begin;
    *item = json_items_parse(text, size, place.end < in->size, JSON_ITEMS_DEPTH - 2, &stop, &reason);
    for (; !reason && stop < size; stop++)
        if (!json_scan_is_space(text[stop])) reason = json_tokener_error_desc(json_tokener_error_parse_array);
    if (!reason && place.end < in->size) return true;
    if (reason) {
        json_object_put(*item);
        *item = json_items_parse_mended(text, stop, JSON_ITEMS_DEPTH - 2);
    }
    json_items_warn(in, d, place.begin + stop, reason ? reason : json_items_early);
    return *item != NULL;
}

void json_document_free(json_document *d)
{
    json_object_put(d->root);
    arrfree(d->items);
}
