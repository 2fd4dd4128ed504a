// Who is which node, at the head's own nats-server: each has a secret that its agent made, with which it may publish under its own
// name and no other. Whoever has the agents' token may join under a name that nobody has, or whose node was not heard from for
// 30 s: one without a disk has a new secret after each start.
//
// Thread rule: admission_hear() on any thread; the rest on one.
#ifndef LIVE_ADMISSION_H
#define LIVE_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct admission admission;

// Another program's words: how long a node was silent, ns; INT64_MAX: it was never heard from.
typedef int64_t (*admission_silence)(void *user, const char *node);
// What is answered: whether the node of this token is let in.
typedef void (*admission_answer)(void *user, const char *token, bool good);

// With those of before, from DIR/nodes.secrets; 0 or an errno.
int admission_open(admission **out, const char *directory);
// np.CLUSTER.join: SECRET, a blank, and the node's token.
void admission_hear(void *user, const char *subject, const void *data, size_t size);
// Decides. True: the server has to be told admission_users(); those who are new are answered with the next look, when it knows
// them. *error: 0, or the errno with which they could not be kept: after the next start of the head they join again.
bool admission_look(admission *a, int64_t now_ns, admission_silence silence, admission_answer answer, void *user,
                    int *error);
// Lines of nats-server's configuration, a user for each node; free() it.
char *admission_users(const admission *a, const char *cluster);
size_t admission_count(const admission *a);
void admission_close(admission *a);

#endif
