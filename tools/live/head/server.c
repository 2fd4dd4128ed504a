#define _GNU_SOURCE
#include "server.h"

#include "cli/messages.h"
#include "cli/terminal_text.h"
#include "live/spool/seglog.h"
#include "analysis/base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t server_pause_ns = 500000000;

static int server_make_token(char to[33])
{
    unsigned char bytes[16];
    int error = seglog_random(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(to + 2 * i, "%02x", bytes[i]);
    return error;
}

// 0 or an errno.
static int server_write(const char *path, const char *text)
{
    char *beside = memory_format("%s.new", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), error = fd < 0 ? errno : 0;
    size_t size = strlen(text);
    if (!error && (fchmod(fd, 0600) || write(fd, text, size) != (ssize_t)size)) error = errno ? errno : ENOSPC;
    if (fd >= 0) close(fd);
    if (!error && rename(beside, path)) error = errno;
    free(beside);
    return error;
}

// The token that was there before, so that agents find in after the head started anew.
static int server_find_token(server *s)
{
    char *path = memory_format("%s/token", s->directory);
    FILE *f = fopen(path, "re");
    bool known = f && fgets(s->agent_token, sizeof s->agent_token, f) && strlen(s->agent_token) == 32 &&
                 s->agent_token[strspn(s->agent_token, "0123456789abcdef")] == 0;
    if (f) fclose(f);
    int error = known ? 0 : server_make_token(s->agent_token);
    if (!known && !error) {
        char line[40];
        snprintf(line, sizeof line, "%s\n", s->agent_token);
        error = server_write(path, line);
    }
    if (!error) error = server_make_token(s->head_token);
    free(path);
    return error;
}

static unsigned server_free_port(const char *host)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned port = 0;
    if (inet_pton(AF_INET, host, &a.sin_addr) == 1 && fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
        getsockname(fd, (struct sockaddr *)&a, &size) == 0)
        port = ntohs(a.sin_port);
    if (fd >= 0) close(fd);
    return port;
}

static int server_parse(server *s, const char *listen)
{
    const char *colon = strrchr(listen, ':');
    struct in_addr a;
    char *end;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    s->host = memory_strndup(listen, colon ? (size_t)(colon - listen) : 0);
    if (!colon || !colon[1] || *end || port > 65535 || inet_pton(AF_INET, s->host, &a) != 1)
        return fail_usage("--listen: %s: expected ADDRESS:PORT, such as 127.0.0.1:4222", safe(listen));
    s->port = (unsigned)port;
    if (!port && !(s->port = server_free_port(s->host)))
        return fail(EXIT_FILE, "--listen: %s: no free port there", safe(listen));
    return EXIT_DONE;
}

// The name of a file as nats-server's configuration takes it; NULL after saying what is wrong.
static char *server_file(const char *option, const char *path)
{
    char *whole = realpath(path, NULL);
    bool good = whole && !whole[strcspn(whole, "\"\\\n")];
    if (!good)
        fail_file(EXIT_FILE, path, "%s: %s", option,
                  whole ? "a name with a quote or a backslash cannot be given to nats-server" : strerror(errno));
    if (good) return whole;
    free(whole);
    return NULL;
}

// *text: the server's lines about TLS; free() it. Thousands of nodes may begin at once, hence the patience.
static int server_tls_lines(server *s, const server_tls *tls, char **text)
{
    s->tls = tls->certificate != NULL;
    *text = memory_strdup("");
    if (!s->tls) return EXIT_DONE;
    char *certificate = server_file("--tls-cert", tls->certificate),
         *key = certificate ? server_file("--tls-key", tls->key) : NULL,
         *ca = key && tls->ca ? server_file("--tls-ca", tls->ca) : NULL;
    bool good = key && (ca || !tls->ca);
    free(*text);
    *text = good
                ? memory_format("tls {\n  cert_file: \"%s\"\n  key_file: \"%s\"\n%s%s%s  timeout: 60\n}\n", certificate,
                                key, ca ? "  ca_file: \"" : "", ca ? ca : "", ca ? "\"\n  verify: true\n" : "")
                : NULL;
    free(certificate);
    free(key);
    free(ca);
    return good ? EXIT_DONE : EXIT_FILE;
}

int server_open(server *s, const char *directory, const char *listen, const char *cluster, const server_tls *tls)
{
    bool shared = s->shared;
    *s = (server){.directory = memory_strdup(directory), .cluster = memory_strdup(cluster), .shared = shared};
    s->configuration = memory_format("%s/server.conf", directory);
    int code = server_parse(s, listen);
    if (!code) code = server_tls_lines(s, tls, &s->secure);
    if (code) return code;
    int error = server_find_token(s);
    return error ? fail_file(EXIT_FILE, directory, "%s", strerror(error)) : EXIT_DONE;
}

int server_configure(server *s, const char *users)
{
    char *shared = s->shared ? memory_format(", \"np.%s.data.*.*\"", s->cluster) : memory_strdup(""),
         *heard = s->shared ? memory_format(", \"np.%s.ack.*\"", s->cluster) : memory_strdup("");
    char *text = memory_format("listen: \"%s:%u\"\n"
                               "max_payload: 8388608\n"
                               "max_pending: 268435456\n"
                               "write_deadline: \"60s\"\n"
                               "authorization {\n"
                               "  users: [\n"
                               "    {user: head, password: \"%s\"}\n"
                               "    {user: agent, password: \"%s\", permissions: {publish: [\"np.%s.join\"%s],"
                               " subscribe: [\"np.%s.joined.*\"%s]}}\n"
                               "%s"
                               "  ]\n"
                               "}\n"
                               "%s",
                               s->host, s->port, s->head_token, s->agent_token, s->cluster, shared, s->cluster, heard,
                               users, s->secure);
    int error = server_write(s->configuration, text);
    if (!error && s->pid) kill(s->pid, SIGHUP);
    free(shared);
    free(heard);
    free(text);
    return error ? fail_file(EXIT_FILE, s->configuration, "%s", strerror(error)) : EXIT_DONE;
}

// ---- its log: what it says now, and the last of what it said before ----

enum { SERVER_LOG_MOST = 4 << 20, SERVER_LOG_KEPT = 1 << 20 };

// Appended to, so that it may be cut while the server has it open.
static void server_trim_log(const char *log)
{
    struct stat st;
    int fd = open(log, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > SERVER_LOG_MOST) {
        char *kept = memory_calloc(1, SERVER_LOG_KEPT + 1), *before = memory_format("%s.1", log);
        ssize_t n = pread(fd, kept, SERVER_LOG_KEPT, st.st_size - SERVER_LOG_KEPT);
        if (n > 0 && server_write(before, kept) == 0 && ftruncate(fd, 0)) errno = 0; // it is tried again soon
        free(kept);
        free(before);
    }
    if (fd >= 0) close(fd);
}

static void server_keep_log(const char *log)
{
    char *before = memory_format("%s.1", log);
    if (rename(log, before)) errno = 0; // the first start
    free(before);
}

static void server_become(const server *s, const char *log, pid_t parent)
{
    sigset_t none;
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600), in = open("/dev/null", O_RDONLY);
    if (in >= 0) dup2(in, 0);
    if (out >= 0) {
        dup2(out, 1);
        dup2(out, 2);
    }
    setpgid(0, 0); // Ctrl-C is the head's, which ends it last
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execlp("nats-server", "nats-server", "-c", s->configuration, (char *)NULL);
    _exit(127);
}

static void server_start(server *s, const char *log, int64_t now_ns)
{
    pid_t parent = getpid();
    server_keep_log(log);
    pid_t child = fork();
    if (child == 0) server_become(s, log, parent);
    if (child < 0) {
        warn("nats-server cannot be started: %s", strerror(errno));
        s->again_at_ns = now_ns + server_pause_ns;
        return;
    }
    s->pid = child;
    s->starts++;
}

void server_look(server *s, int64_t now_ns)
{
    int status;
    if (s->pid && waitpid(s->pid, &status, WNOHANG) == s->pid) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
            warn("nats-server cannot be started: is it installed? Debian: nats-server");
        else
            warn("nats-server ended (see %s/server.log.1); it is started again", safe(s->directory));
        s->pid = 0;
        s->again_at_ns = now_ns + server_pause_ns;
    }
    if (!s->pid && now_ns < s->again_at_ns) return;
    char *log = memory_format("%s/server.log", s->directory);
    if (s->pid)
        server_trim_log(log);
    else
        server_start(s, log, now_ns);
    free(log);
}

static bool server_is_ready(const server *s)
{
    char line[512], *path = memory_format("%s/server.log", s->directory);
    FILE *f = fopen(path, "re");
    bool ready = false;
    while (f && !ready && fgets(line, sizeof line, f))
        ready = strstr(line, "Server is ready") != NULL;
    if (f) fclose(f);
    free(path);
    return ready;
}

int server_wait(server *s)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    int status;
    for (int tries = 0; s->pid && tries < 1500; tries++) {
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
            s->pid = 0;
            if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                return fail(EXIT_FILE, "nats-server cannot be started: is it installed? Debian: nats-server");
            return fail(
                EXIT_FILE,
                "nats-server does not listen at %s:%u (is another one there?); what it says is in %s/server.log",
                safe(s->host), s->port, safe(s->directory));
        }
        if (server_is_ready(s)) return EXIT_DONE;
        nanosleep(&nap, NULL);
    }
    return fail(EXIT_FILE, "nats-server does not get ready; what it says is in %s/server.log", safe(s->directory));
}

char *server_url(const server *s, const char *host)
{
    return memory_format("%s://%s:%u", s->tls ? "tls" : "nats",
                         host                              ? host
                         : strcmp(s->host, "0.0.0.0") == 0 ? "127.0.0.1"
                                                           : s->host,
                         s->port);
}

void server_close(server *s)
{
    if (s->pid) {
        kill(s->pid, SIGTERM);
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    free(s->directory);
    free(s->configuration);
    free(s->cluster);
    free(s->secure);
    free(s->host);
    *s = (server){0};
}
