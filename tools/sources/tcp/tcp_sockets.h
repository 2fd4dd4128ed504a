// Which program and which connection stand behind what the kernel counts of TCP for the whole node: all TCP sockets of this
// network namespace, looked at now and then by sock_diag(7). Nobody needs rights for that; whose a socket is, is known of
// processes that one may look at (one's own; the superuser: all). What an ended connection did is told by the kernel when
// it ends, and not lost.
//
// A look takes about 1 us a socket and some ms for the kernel's walk of its table. Looks are at least a second apart and
// take at most a hundredth of the first two seconds and a two-thousandth of the time after them, but for the one at the end.
// Memory is bounded: of ended connections only those that sent something again are kept, and of these 4096.
//
// Thread rule: one thread at a time. No function ends the program; without memory less is known, and `incomplete` says so.
#ifndef TOOLS_SOURCES_TCP_SOCKETS_H
#define TOOLS_SOURCES_TCP_SOCKETS_H

#include "tcp_model.h"

typedef struct tcp_sockets tcp_sockets;

tcp_sockets *tcp_sockets_open(void); // and looks for the first time; NULL: this kernel does not tell
void tcp_sockets_close(tcp_sockets *s);
void tcp_sockets_look(tcp_sockets *s);       // unless it did a moment ago; NULL is allowed
void tcp_sockets_look_now(tcp_sockets *s);   // at the end: whose each is, too, however short ago that was looked for
void tcp_sockets_begin_anew(tcp_sockets *s); // from here on, as if it had been opened now

typedef void tcp_sockets_tell(void *user, const char *key, const char *value);

// As facts of a file: "tcp_sockets", what was seen in all, and "tcp_socket_1" and so on, the ones that sent the most again
// and those whose programs left the most unread, in words KEY=VALUE. since_begin: of the time since open(), else since the
// connections began, which tells two files apart by their cookies.
void tcp_sockets_facts(tcp_sockets *s, bool since_begin, tcp_sockets_tell *tell, void *user);

#endif
