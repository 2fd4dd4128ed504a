// Who holds, and who is held: what evidence there is that an incident was the cause of anything, and what caused it.
//
// "Transmit blocked by the network" is a victim: the network, or a receiver behind it, did not take what the NIC had to
// send. "Receive blocked" is a cause: its host did not drain what arrived. That all nodes sent less meanwhile is said as
// what coincided. "Slowed" is said only where the cause is known (damage on the same link, or a host that drains slowly),
// where it was the only one unlike its peers, where the others did not slow down before it, and where the loss is no larger
// than its share of blocked time can explain. Where the program itself paused, nothing was lost and nobody is blamed.
#ifndef NETPROF_JOB_BLAME_H
#define NETPROF_JOB_BLAME_H

#include "analysis/job/job_store.h"
#include "job_effect.h"

typedef enum job_why {
    JOB_WHY_UNKNOWN = 0,
    JOB_WHY_PROGRAM, // it paused by itself
    JOB_WHY_LINK,    // this NIC's link damaged what it carried
    JOB_WHY_HOLDER   // a NIC that held others at the same time, or this one itself
} job_why;

// Episodes of one meter at the same time.
typedef struct job_group {
    const job_episode *worst;
    bool *member;          // by device
    size_t devices, nodes; // that had one
    size_t all, all_nodes; // devices with this meter, and the nodes that they are of
    double from_s, to_s;
    double low, high; // shares of the time of its members
    double others;    // the most that any other device had; NAN: there is none
} job_group;

typedef struct job_blame {
    job_why why;
    bool slowed;    // it is the cause of what the other nodes lost
    char *paused;   // what the program did; NULL
    double damaged; // by its link in that time, in damaged_unit
    const char *damaged_unit;
    const char *rule; // of the cause's finding; NULL
    size_t holder;    // device, or JOB_NONE
} job_blame;

bool job_group_is_of_all(const job_group *g); // of more than half of the devices
job_blame job_blame_of(const job_report *r, const job_group *g, const job_effect *x);

#endif
