#define _GNU_SOURCE
#include "forward_model.h"

#include "cli/common.h"
#include "live/session/session_document.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void forward_say(bool *was, const target *t, bool fails, const forward_counts *c, const char *noun)
{
    if (fails && !*was)
        warn("%s: %s; it is tried again", safe(target_name(t)), safe(target_problem(t)));
    else if (!fails && *was)
        warn("%s: takes %s again; %s dropped so far", safe(target_name(t)), noun, words_exact(c->dropped).text);
    *was = fails;
}

char *forward_state_path(const forward *f)
{
    return memory_format("%s/state.json", f->work);
}

void forward_read_state(forward *f)
{
    char *path = forward_state_path(f);
    json_object *o = session_read_document(path), *nodes;
    free(path);
    sh_new_strdup(f->nodes);
    sh_new_strdup(f->left_out);
    // Intervals of another length have other numbers.
    if (o && session_number_of(o, "interval_ns") == f->filter.interval_ns &&
        json_object_object_get_ex(o, "nodes", &nodes) && json_object_is_type(nodes, json_type_object)) {
        struct json_object_iterator at = json_object_iter_begin(nodes), end = json_object_iter_end(nodes);
        for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
            shput(f->nodes, json_object_iter_peek_name(&at), json_object_get_int64(json_object_iter_peek_value(&at)));
    }
    json_object_put(o);
}

int forward_write_state(const forward *f)
{
    json_object *o = json_new_object(), *nodes = json_new_object();
    for (size_t i = 0; i < shlenu(f->nodes); i++)
        json_put(nodes, f->nodes[i].key, json_new_int64(f->nodes[i].value));
    json_put(o, "interval_ns", json_new_int64(f->filter.interval_ns));
    json_put(o, "nodes", nodes);
    const char *text = json_to_text(o, JSON_C_TO_STRING_PLAIN);
    char *path = forward_state_path(f), *beside = memory_format("%s.new", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), error = fd < 0 ? errno : 0;
    size_t size = strlen(text);
    if (!error && write(fd, text, size) != (ssize_t)size) error = errno ? errno : ENOSPC;
    if (fd >= 0) close(fd);
    if (!error && rename(beside, path)) error = errno;
    free(path);
    free(beside);
    json_object_put(o);
    return error;
}

void forward_free(forward *f)
{
    target_close(f->lines);
    target_close(f->findings);
    shfree(f->nodes);
    shfree(f->left_out);
    arrfree(f->tags);
    free(f->work);
}
