// The head's own nats-server: a child that ends with it, and is started again when it dies.
// Thread rule: one thread.
#ifndef LIVE_SERVER_H
#define LIVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Files, PEM; NULL: none. With a certificate it speaks TLS; with `ca` it asks agents for theirs.
typedef struct server_tls {
    const char *certificate, *key, *ca;
} server_tls;

typedef struct server {
    char *directory, *configuration, *host, *cluster;
    char *secure; // the lines about TLS
    bool shared;  // with the agents' token one may publish for every node
    unsigned port;
    bool tls;
    char agent_token[33], head_token[33];
    pid_t pid; // 0: it does not run
    uint64_t starts;
    int64_t again_at_ns;
} server;

// ADDRESS:PORT; port 0: any that is free. The agents' token is made once and kept. Returns an exit code.
int server_open(server *s, const char *directory, const char *listen, const char *cluster, const server_tls *tls);
// Who may do what: the head, who has the agents' token (to join), and `users`, lines of its configuration. A server that runs
// takes it over. Returns an exit code.
int server_configure(server *s, const char *users);
// Starts it where it does not run. `now_ns`: CLOCK_MONOTONIC.
void server_look(server *s, int64_t now_ns);
// Until it listens; what else may listen there is no server of ours. Returns an exit code after saying what is wrong.
int server_wait(server *s);
char *server_url(const server *s, const char *host); // NULL: as this program reaches it; free() it
void server_close(server *s);

#endif
