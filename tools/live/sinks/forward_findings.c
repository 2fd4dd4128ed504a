#include "forward_findings.h"

#include "cli/common.h"
#include "live/session/session_document.h"
#include "live/spool/sha256.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>

static const int64_t forward_again_ns = 60000000000;

typedef struct forward_told {
    char *key; // the document's id
    struct forward_told_value {
        char severity[12];
        int64_t end_ns, at_ns;
    } value;
} forward_told;

// The same finding has the same id, so that it is one document however often it is sent.
static void forward_id(json_object *x, char to[33])
{
    unsigned char hash[SHA256_BYTES];
    char *text = memory_format("%s\n%s\n%s\n%s\n%lld", session_text_of(x, "host"), session_text_of(x, "device"),
                               session_text_of(x, "rule"), session_text_of(x, "session"),
                               (long long)session_number_of(x, "begin_ns"));
    sha256(hash, text, strlen(text));
    for (size_t i = 0; i < 16; i++)
        sprintf(to + 2 * i, "%02x", hash[i]);
    free(text);
}

// The time of the last window that showed it, as Elasticsearch reads it.
static void forward_put_time(json_object *o, const char *key, int64_t ns)
{
    if (!ns) return;
    char *text = memory_format("%sZ", words_utc(ns, 3).text);
    char *blank = strchr(text, ' ');
    if (blank) *blank = 'T';
    json_put_text(o, key, text);
    free(text);
}

static char *forward_document(const forward *f, json_object *x)
{
    json_object *o = json_new_object();
    struct json_object_iterator at = json_object_iter_begin(x), end = json_object_iter_end(x);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
        json_put(o, json_object_iter_peek_name(&at), json_object_get(json_object_iter_peek_value(&at)));
    forward_put_time(o, "@timestamp", session_number_of(x, "last_seen_ns"));
    forward_put_time(o, "begin", session_number_of(x, "begin_ns"));
    forward_put_time(o, "end", session_number_of(x, "end_ns"));
    if (f->cluster) json_put_text(o, "cluster", f->cluster);
    char *text = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
    return text;
}

static void forward_append(char **batch, const char *text)
{
    size_t size = strlen(text);
    memcpy(arraddnptr(*batch, size), text, size);
}

static void forward_append_finding(const forward *f, char **batch, json_object *x, const char *id)
{
    char *document = forward_document(f, x);
    json_object *index = json_new_object(), *head = json_new_object();
    json_put_text(index, "_index", f->index);
    json_put_text(index, "_id", id);
    json_put(head, "index", index);
    forward_append(batch, json_to_text(head, JSON_C_TO_STRING_PLAIN));
    forward_append(batch, "\n");
    forward_append(batch, document);
    forward_append(batch, "\n");
    json_object_put(head);
    free(document);
}

// How many documents the server did not take, though it took the message.
static uint64_t forward_refused(const target *t, char **why)
{
    json_tokener *tokener = json_new_tokener(32);
    const char *body = target_body(t);
    json_object *o = *body ? json_feed_tokener(tokener, body, (int)strlen(body) + 1) : NULL;
    json_object *items = o && json_object_is_type(o, json_type_object) ? session_list_of(o, "items") : NULL;
    uint64_t refused = 0;
    for (size_t i = 0; items && i < json_object_array_length(items); i++) {
        json_object *one, *error;
        if (!json_object_object_get_ex(json_object_array_get_idx(items, i), "index", &one)) continue;
        if (session_number_of(one, "status") < 300) continue;
        if (!refused++ && json_object_object_get_ex(one, "error", &error))
            *why = memory_strdup(session_text_of(error, "reason"));
    }
    json_object_put(o);
    json_tokener_free(tokener);
    return refused;
}

static bool forward_is_due(forward_told *told, const char *id, json_object *x, int64_t wall_ns)
{
    ptrdiff_t i = shgeti(told, id);
    if (i < 0) return true;
    const struct forward_told_value *v = &told[i].value;
    int64_t end = session_number_of(x, "end_ns");
    return strcmp(v->severity, session_text_of(x, "severity")) != 0 || v->end_ns != end ||
           (!end && wall_ns - v->at_ns >= forward_again_ns);
}

static void forward_keep(forward_told **told, const char *id, json_object *x, int64_t wall_ns)
{
    struct forward_told_value v = {.end_ns = session_number_of(x, "end_ns"), .at_ns = wall_ns};
    snprintf(v.severity, sizeof v.severity, "%s", session_text_of(x, "severity"));
    shput(*told, id, v);
}

// False: it is tried again.
static bool forward_send_findings(forward *f, char *batch, uint64_t count)
{
    char *why = NULL;
    target_answer answer = target_send(f->findings, batch, arrlenu(batch));
    if (answer == TARGET_LATER) {
        f->finding_counts.failed++;
        return false;
    }
    uint64_t refused = answer == TARGET_REFUSED ? count : forward_refused(f->findings, &why);
    if (refused && !f->finding_counts.refused)
        warn("%s: %s: such findings are left out", safe(target_name(f->findings)),
             safe(why ? why : target_problem(f->findings)));
    f->finding_counts.refused += refused;
    f->finding_counts.sent += count - refused;
    free(why);
    return true;
}

void forward_findings(forward *f, int64_t wall_ns)
{
    static forward_told *told;
    static bool failing;
    char *path = memory_format("%s/findings.json", f->directory), *batch = NULL, id[33];
    json_object *o = session_read_document(path), *list = o ? session_list_of(o, "findings") : NULL;
    forward_told *next = NULL;
    uint64_t count = 0;
    free(path);
    if (!told) sh_new_strdup(told);
    sh_new_strdup(next);
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *x = json_object_array_get_idx(list, i);
        forward_id(x, id);
        if (forward_is_due(told, id, x, wall_ns)) {
            forward_append_finding(f, &batch, x, id);
            forward_keep(&next, id, x, wall_ns);
            count++;
        } else {
            ptrdiff_t k = shgeti(told, id);
            shput(next, id, told[k].value);
        }
    }
    bool sent = !count || forward_send_findings(f, batch, count);
    forward_say(&failing, f->findings, !sent, &f->finding_counts, "findings");
    forward_told *drop = sent && list ? told : next;
    if (sent && list) told = next;
    shfree(drop);
    arrfree(batch);
    json_object_put(o);
}
