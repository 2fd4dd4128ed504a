#include "peers.h"

#include "live/journal/sessions.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t peers_every_ns = 2000000000;

static void peers_publish(const peers *p, bus *b, const char *what, const char *name, const char *text)
{
    char *subject = memory_format("np.%s.session.%s", p->cluster, what), *message = memory_format("%s\n%s", name, text);
    size_t size = strlen(message);
    if (size < bus_most(b)) bus_publish(b, subject, message, size);
    free(subject);
    free(message);
}

static bool peers_is_there(const session *all, const peers_told *t)
{
    for (size_t i = 0; i < arrlenu(all); i++)
        if (strcmp(all[i].name, t->name) == 0) return true;
    return false;
}

static void peers_forget(peers *p)
{
    for (size_t i = 0; i < arrlenu(p->told); i++)
        free(p->told[i].name);
    arrfree(p->told);
}

void peers_look(peers *p, bus *b, int64_t now_ns)
{
    session *all = NULL;
    if (now_ns < p->again_at || !bus_is_up(b)) return;
    p->again_at = now_ns + peers_every_ns;
    if (session_list(p->directory, &all) == 0) {
        for (size_t i = 0; i < arrlenu(p->told); i++) {
            char start[32];
            snprintf(start, sizeof start, "%lld", (long long)p->told[i].start_ns);
            if (!peers_is_there(all, &p->told[i])) peers_publish(p, b, "gone", p->told[i].name, start);
        }
        peers_forget(p);
        for (size_t i = 0; i < arrlenu(all); i++) {
            char *text = session_file_text(&all[i]);
            peers_publish(p, b, "set", all[i].name, text);
            arrput(p->told, ((peers_told){memory_strdup(all[i].name), all[i].start_ns}));
            free(text);
        }
    }
    session_list_free(&all);
}

static void peers_take(const char *directory, const session *s)
{
    session there;
    int error = session_read(directory, s->name, &there);
    bool ends = !error && there.start_ns == s->start_ns && !there.stop_ns && s->stop_ns;
    if (!error) session_free(&there);
    if (error == ENOENT || ends) session_write(directory, s);
}

void peers_hear(const char *directory, const char *subject, const char *data, size_t size)
{
    const char *line = memchr(data, '\n', size), *what = strrchr(subject, '.');
    session s;
    if (!line || !what) return;
    char *name = memory_strndup(data, (size_t)(line - data)),
         *text = memory_strndup(line + 1, size - (size_t)(line - data) - 1);
    if (strcmp(what, ".set") == 0 && session_parse(name, text, strlen(text), &s) == 0) {
        peers_take(directory, &s);
        session_free(&s);
    } else if (strcmp(what, ".gone") == 0 && session_read(directory, name, &s) == 0) {
        if (s.start_ns == strtoll(text, NULL, 10)) session_delete(directory, name);
        session_free(&s);
    }
    free(name);
    free(text);
}

void peers_free(peers *p)
{
    peers_forget(p);
}
