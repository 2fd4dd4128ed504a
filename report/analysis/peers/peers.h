// Peers: devices, nodes or ranks that are alike and should do the same, and whether one of them alone does not. Too
// little, too much and nothing at all are told apart; several that are unlike are counted and none of them is chosen; of
// two nobody can tell which is the odd one, unless the level of one changed and that of the other did not.
//
// How it judges. The odd one is held against the mean of the others, by Student's t with the spread that these have, in
// shares and in logarithms (the milder counts), after Bonferroni for all that were looked at. Small groups borrow what is
// usual elsewhere (3 %, worth four peers), and from groups beside them. A difference below PEERS_APART is no finding, however certain.
// What is usual need not be so here: where peers vary by 30 %, three of four agree by chance now and then, and the fourth
// looks odd. Of one value each, the others' own spread alone must exclude that, too, or the odd one is doubtful.
#ifndef NETPROF_PEERS_H
#define NETPROF_PEERS_H

#include "peers_numbers.h"

#define PEERS_APART 1.5 // times more, or times less: own heuristic
// Over time, own: fewer windows tell nothing; a fifth of what is usual is a pause of the program; what is nothing has no
// logarithm.
#define PEERS_LEAST_WINDOWS 3
#define PEERS_LOW           0.2
#define PEERS_FLOOR         1e-3

typedef enum peers_kind {
    PEERS_FEW = 0, // fewer than two values are known
    PEERS_IDLE,    // none does anything
    PEERS_ALIKE,
    PEERS_PART,    // half of them or fewer do anything: as if meant so
    PEERS_TWO,     // two that differ
    PEERS_ONE,     // one alone is unlike the others
    PEERS_SEVERAL, // some are unlike the others, which are most of them
    PEERS_SPLIT    // two halves: nobody is the odd one
} peers_kind;

typedef struct peers_outcome {
    peers_kind kind;
    size_t known;     // how many values are known
    size_t unlike;    // ONE: 1; SEVERAL, SPLIT: how many, the fewer ones; PART: how many do something; TWO: 1
    size_t odd;       // ONE: which; TWO: the smaller
    double value;     // of the odd one; of several their median
    double centre;    // median of the others
    double low, high; // of the others
    double
        chance; // of a difference like this among healthy ones, all that were looked at together; NAN: not worked out
    bool is_silent; // it does nothing
    bool doubtful;  // of ONE: true of its level all the time, and where peers vary much, chance does that as well
    // Of values over time: the windows in which it is unlike; always: that is from the first to the last.
    size_t from, to;
    bool always;
} peers_outcome;

// One of several: see peers_outcome.
typedef struct peers_mark {
    bool unlike, always, is_silent;
    double ratio; // of the others' centre
    size_t from, to;
} peers_mark;

// Values: of each peer one, no less than 0, NAN unknown. Below `silent` a value is nothing.
// marks: [count], may be NULL: who is unlike.
void peers_weigh(peers_outcome *o, const double *values, size_t count, double silent, peers_mark *marks);

// What groups vary by that are as this one: the other ports of the same nodes. Of a few peers alone that is hardly known.
typedef struct peers_spread {
    double variance, freedom; // variance: of shares of the mean; freedom: so many tell it
} peers_spread;

// Adds a group to it, if all in it are alike.
void peers_spread_add(peers_spread *s, const double *values, size_t count, double silent);
// As peers_weigh(); beside: or NULL.
void peers_weigh_beside(peers_outcome *o, const double *values, size_t count, double silent, const peers_spread *beside,
                        peers_mark *marks);

// Values over time: values[i * windows + w] of peer i, NAN unknown. Windows in which the group as a whole does little are
// left out. An odd one must be so for three windows or more. Who is unknown in more than half of the windows takes no part.
void peers_follow(peers_outcome *o, const float *values, size_t count, size_t windows, double silent,
                  peers_mark *marks);
// beside: or NULL; counts where there are too few windows to follow.
void peers_follow_beside(peers_outcome *o, const float *values, size_t count, size_t windows, double silent,
                         const peers_spread *beside, peers_mark *marks);

// Is it so many times less, or more?
bool peers_is_apart(double ratio);
// Is one that was this far from `count` others in all windows no proof, because nobody knows what these vary by?
bool peers_is_doubtful(double value, const double *others, size_t count);

// Words instead of values (a setting); NULL unknown. Only ALIKE, FEW, TWO, ONE, SEVERAL and SPLIT; o->odd is also one of
// those that are unlike where there are several, and *usual one of the others.
void peers_weigh_words(peers_outcome *o, const char *const *words, size_t count, size_t *usual);

#endif
