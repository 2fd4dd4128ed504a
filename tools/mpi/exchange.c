#include "exchange.h"

#include "peers.h"
#include "ranks.h"
#include "requests.h"

// Does what is known without this suffice? See peers_exchanges().
static bool exchange_is_apart(const exchange_call *x)
{
    return bytes_to(x->send.peer) && bytes_to(x->receive.peer) && x->send.peer != x->receive.peer &&
           bytes_size(x->send.count, x->send.type) > PEERS_LEAVES_AT_ONCE;
}

// Fortran has addresses of its own for this constant.
static bool exchange_has_places(const exchange_call *x, bool fortran)
{
    return !fortran || (!bytes_is_fortran_bottom(x->send.buffer) && !bytes_is_fortran_bottom(x->receive.buffer));
}

// Both requests as an array of MPI's handles.
typedef struct exchange_requests {
    _Alignas(uintptr_t) unsigned char handles[2 * sizeof(uintptr_t)];
} exchange_requests;

enum { EXCHANGE_RECEIVE, EXCHANGE_SEND };

static void *exchange_request(exchange_requests *r, int which)
{
    return r->handles + (size_t)which * abi_here()->handle_bytes;
}

// MPI_Irecv and MPI_Wait may give their errors to another handler than MPI_Sendrecv does, and a send that fails leaves a receive
// that may have taken a message: only where errors end the program is it all the same.
static bool exchange_ends_on_errors(const exchange_call *x)
{
    static _Atomic uintptr_t world;
    return bytes_errors_are_fatal(x->send.comm) && bytes_errors_are_fatal(bytes_constant(&world, &abi_here()->world));
}

static int exchange_start(const exchange_call *x, exchange_requests *r)
{
    int failed = bytes_begin(false, x->large, &x->receive, exchange_request(r, EXCHANGE_RECEIVE));
    return failed ? failed : bytes_begin(true, x->large, &x->send, exchange_request(r, EXCHANGE_SEND));
}

static void exchange_tell(const exchange_call *x, exchange_requests *r)
{
    uintptr_t last;
    bytes_status status;
    if (!requests_find_last(r, 2, false, &last, &status)) return;
    bool receives = last == bytes_request_at(r, EXCHANGE_RECEIVE, false);
    int peer = receives ? ranks_source(&status, false) : x->send.peer;
    peers_awaits(ranks_of_comm(peer, x->send.comm), receives);
}

bool exchange_run(const exchange_call *x, void *status, bool fortran, int *returned)
{
    exchange_requests r;
    bytes_status came;
    if (!requests_may_ask() || !exchange_ends_on_errors(x) || !exchange_is_apart(x) ||
        !exchange_has_places(x, fortran) || !bytes_can_begin(x->large))
        return false;
    *returned = exchange_start(x, &r);
    if (*returned) return true;
    exchange_tell(x, &r);
    if (fortran) bytes_status_from_fortran(status, &came); // its MPI_ERROR stays as it is
    *returned = bytes_end(exchange_request(&r, EXCHANGE_RECEIVE), fortran ? &came : status);
    int sent = bytes_end(exchange_request(&r, EXCHANGE_SEND), (void *)abi_here()->status_ignore);
    if (fortran) bytes_status_to_fortran(&came, status);
    if (!*returned) *returned = sent;
    return true;
}
