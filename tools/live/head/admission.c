#define _GNU_SOURCE
#include "admission.h"

#include "cli/messages.h"
#include "cli/terminal_text.h"
#include "live/journal/status_file.h"
#include "live/wire/frame.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ADMISSION_MOST, ADMISSION_WAITING: bounds for who is hostile.
enum { ADMISSION_SECRET = 32, ADMISSION_MOST = 65536, ADMISSION_WAITING = 16384 };
static const int64_t admission_silent_ns = 30000000000, admission_pause_ns = 500000000,
                     admission_retry_ns = 10000000000, admission_say_ns = 60000000000;

typedef struct admission_node {
    char *key; // token
    struct admission_known {
        char secret[ADMISSION_SECRET + 1];
        int64_t said_ns; // when it was said last that somebody else was refused
    } value;
} admission_node;

typedef struct admission_asked {
    char *token, secret[ADMISSION_SECRET + 1];
} admission_asked;

struct admission {
    char *directory;
    admission_node *nodes;
    status_seen seen;         // the file as it was written or read last
    admission_asked *begun;   // that the server is told of now; stb_ds
    bool is_full;             // and that was said
    int64_t next_ns;          // not before this the server is told again
    pthread_mutex_t lock;     // of what follows
    admission_asked *waiting; // stb_ds
};

// ---- the file ----

// "SECRET TOKEN", as it is in the file and in messages.
static bool admission_parse(const char *text, size_t size, admission_asked *to)
{
    char node[FRAME_NODE_MOST + 1];
    if (size <= ADMISSION_SECRET + 1 || text[ADMISSION_SECRET] != ' ' ||
        strspn(text, "0123456789abcdef") != ADMISSION_SECRET ||
        !frame_node(node, text + ADMISSION_SECRET + 1, size - ADMISSION_SECRET - 1))
        return false;
    memcpy(to->secret, text, ADMISSION_SECRET);
    to->secret[ADMISSION_SECRET] = 0;
    to->token = memory_strndup(text + ADMISSION_SECRET + 1, size - ADMISSION_SECRET - 1);
    return true;
}

static void admission_put(admission *a, const admission_asked *x)
{
    struct admission_known known = {.said_ns = 0};
    memcpy(known.secret, x->secret, sizeof known.secret);
    shput(a->nodes, x->token, known);
}

// 0, or the errno of a file that is there and cannot be read: what is known stays so.
static int admission_read(admission *a)
{
    char *path = memory_format("%s/nodes.secrets", a->directory), *line = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *f = fopen(path, "re");
    int error = f || errno == ENOENT ? 0 : errno;
    if (error) {
        free(path);
        return error;
    }
    shfree(a->nodes);
    sh_new_strdup(a->nodes);
    while (f && (n = getline(&line, &room, f)) > 0 && shlenu(a->nodes) < ADMISSION_MOST) {
        admission_asked x;
        if (line[n - 1] == '\n') line[--n] = 0;
        if (!admission_parse(line, (size_t)n, &x)) continue;
        admission_put(a, &x);
        free(x.token);
    }
    if (f) fclose(f);
    free(line);
    free(path);
    return 0;
}

static int admission_write(admission *a)
{
    char *path = memory_format("%s/nodes.secrets", a->directory), *beside = memory_format("%s.new", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    bool good = f != NULL;
    if (fd >= 0 && !f) close(fd);
    for (size_t i = 0; good && i < shlenu(a->nodes); i++)
        good = fprintf(f, "%s %s\n", a->nodes[i].value.secret, a->nodes[i].key) > 0;
    if (good) good = fflush(f) == 0 && fsync(fileno(f)) == 0;
    int error = good ? 0 : errno ? errno : ENOSPC;
    if (f && fclose(f) && !error) error = errno;
    if (!error && rename(beside, path)) error = errno;
    if (error) unlink(beside);
    status_file_is_new(a->directory, "nodes.secrets", &a->seen);
    free(path);
    free(beside);
    return error;
}

int admission_open(admission **out, const char *directory)
{
    admission *a = memory_calloc(1, sizeof *a);
    a->directory = memory_strdup(directory);
    pthread_mutex_init(&a->lock, NULL);
    sh_new_strdup(a->nodes);
    status_file_is_new(directory, "nodes.secrets", &a->seen);
    *out = a;
    int error = admission_read(a);
    return error || a->seen.inode ? error
                                  : admission_write(a); // so that whoever may not read it sees that from the start
}

size_t admission_count(const admission *a)
{
    return shlenu(a->nodes);
}

// ---- who asks ----

void admission_hear(void *user, const char *subject, const void *data, size_t size)
{
    admission *a = user;
    admission_asked x;
    char *text = memory_strndup(data, size < 2000 ? size : 0);
    (void)subject;
    if (admission_parse(text, strlen(text), &x)) {
        pthread_mutex_lock(&a->lock);
        bool room = arrlenu(a->waiting) < ADMISSION_WAITING;
        if (room) arrput(a->waiting, x);
        pthread_mutex_unlock(&a->lock);
        if (!room) free(x.token);
    }
    free(text);
}

// One name is one node's: a second one has to wait until the first is away.
static bool admission_may(admission *a, const admission_asked *x, int64_t now_ns, admission_silence silence, void *user)
{
    char node[FRAME_NODE_MOST + 1];
    ptrdiff_t i = shgeti(a->nodes, x->token);
    if (!frame_node(node, x->token, strlen(x->token))) return false;
    if (i < 0 && shlenu(a->nodes) >= ADMISSION_MOST && !a->is_full)
        warn("%zu nodes have joined, and no more can: take lines out of nodes.secrets", shlenu(a->nodes));
    if (i < 0) a->is_full = shlenu(a->nodes) >= ADMISSION_MOST;
    if (i < 0) return !a->is_full;
    struct admission_known *known = &a->nodes[i].value;
    if (strcmp(known->secret, x->secret) == 0) return true;
    bool away = silence(user, node) > admission_silent_ns;
    if (away)
        warn("%s: joined with another secret than before, and has the name from now on: its spool is new, or it is "
             "another machine",
             safe(node));
    else if (!known->said_ns || now_ns - known->said_ns > admission_say_ns)
        warn("%s: refused: somebody joins under this name with another secret, and the node that has it is heard from",
             safe(node));
    if (!away) known->said_ns = now_ns;
    return away;
}

// True: it is new, or has another secret.
static bool admission_decide(admission *a, admission_asked *x, int64_t now_ns, admission_silence silence,
                             admission_answer answer, void *user)
{
    bool good = admission_may(a, x, now_ns, silence, user);
    ptrdiff_t i = shgeti(a->nodes, x->token);
    bool same = good && i >= 0 && strcmp(a->nodes[i].value.secret, x->secret) == 0;
    if (good && !same) {
        admission_put(a, x);
        arrput(a->begun, *x);
        return true;
    }
    answer(user, x->token, good);
    free(x->token);
    return false;
}

bool admission_look(admission *a, int64_t now_ns, admission_silence silence, admission_answer answer, void *user,
                    int *error)
{
    *error = 0;
    for (size_t i = 0; i < arrlenu(a->begun); i++) { // the server was told in the turn before
        answer(user, a->begun[i].token, true);
        free(a->begun[i].token);
    }
    arrfree(a->begun);
    if (now_ns < a->next_ns) return false;
    bool changed = status_file_is_new(a->directory, "nodes.secrets", &a->seen);
    if (changed) *error = admission_read(a);
    if (*error) {
        a->seen = (status_seen){0}; // read again
        a->next_ns = now_ns + admission_retry_ns;
        return false;
    }
    pthread_mutex_lock(&a->lock);
    admission_asked *waiting = a->waiting;
    a->waiting = NULL;
    pthread_mutex_unlock(&a->lock);
    bool added = false;
    for (size_t i = 0; i < arrlenu(waiting); i++)
        added |= admission_decide(a, &waiting[i], now_ns, silence, answer, user);
    arrfree(waiting);
    if (added || changed) a->next_ns = now_ns + admission_pause_ns;
    if (added) *error = admission_write(a); // those that are not kept have to join again after the next start
    return added || changed;
}

char *admission_users(const admission *a, const char *cluster)
{
    char *text = NULL;
    size_t size;
    FILE *f = memory_check(open_memstream(&text, &size));
    for (size_t i = 0; i < shlenu(a->nodes); i++) {
        const char *token = a->nodes[i].key;
        fprintf(f,
                "    {user: \"node:%s\", password: \"%s\", permissions: {publish: [\"np.%s.data.*.%s\"],"
                " subscribe: [\"np.%s.ack.%s\"]}}\n",
                token, a->nodes[i].value.secret, cluster, token, cluster, token);
    }
    if (ferror(f) || fclose(f)) memory_exhausted();
    return text;
}

void admission_close(admission *a)
{
    if (!a) return;
    for (size_t i = 0; i < arrlenu(a->begun); i++)
        free(a->begun[i].token);
    for (size_t i = 0; i < arrlenu(a->waiting); i++)
        free(a->waiting[i].token);
    arrfree(a->begun);
    arrfree(a->waiting);
    shfree(a->nodes);
    pthread_mutex_destroy(&a->lock);
    free(a->directory);
    free(a);
}
