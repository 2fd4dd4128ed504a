// The small language of the rules: formulas over counter names.
//
//     sum(lpe_net_match_overflow_*) / sum(lpe_net_match_priority_*, lpe_net_match_overflow_*)
//     first(sum(rh:spt_timeouts, rh:sct_timeouts), sum(pct_spt_timeouts, pct_sct_timeouts))
//     T >= 1 and max(hni_tx_paused_[0-7]) / (CLK * T) > 1%
//
// A name is a counter and means its difference; '*', '?' and [first-last] (a range of decimal numbers) make
// it a list. Names may contain '/', '-', '.' and ':', so operators need blanks around them; other names are written
// 'in quotes'. Operators, weakest first: or; and; not; < <= > >= ==; + -; * /; -x.
// A formula has limits (EXPRESSION_NODES, EXPRESSION_DEPTH): parsing any text is harmless.
#ifndef NETPROF_EXPRESSION_H
#define NETPROF_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXPRESSION_NODES = 256, EXPRESSION_DEPTH = 32 };

typedef enum expression_op {
    EXPRESSION_NUMBER = 0,
    EXPRESSION_COUNTER,  // text: name, qualifier: source or device in front of it
    EXPRESSION_VARIABLE, // index: expression_variable
    EXPRESSION_LOCAL,    // index: of the names that the parser was given
    EXPRESSION_NEGATE,
    EXPRESSION_ADD,
    EXPRESSION_SUBTRACT,
    EXPRESSION_MULTIPLY,
    EXPRESSION_DIVIDE,
    EXPRESSION_LESS,
    EXPRESSION_LESS_EQUAL,
    EXPRESSION_GREATER,
    EXPRESSION_GREATER_EQUAL,
    EXPRESSION_EQUAL,
    EXPRESSION_NOT,
    EXPRESSION_AND,
    EXPRESSION_OR,
    // functions
    EXPRESSION_SUM, // of those that exist
    EXPRESSION_MAX,
    EXPRESSION_MIN,
    EXPRESSION_MEAN,
    EXPRESSION_COUNT, // how many exist
    EXPRESSION_FIRST, // the first that exists, whether or not its value is known
    EXPRESSION_WHICH, // the last number in the name of the counter that grew most; none where another grew as much (1 %)
    EXPRESSION_KNOWN,   // 1 when the value is known, else 0
    EXPRESSION_RATE,    // per second
    EXPRESSION_BEFORE,  // a gauge's or counter's own value at the beginning ...
    EXPRESSION_AFTER,   // ... and at the end
    EXPRESSION_CHANGED, // how many of these gauges or states have another value at the end
    EXPRESSION_FACT,    // the number at the start of a fact of the device
    EXPRESSION_IS,      // is(fact, word): 1 when the fact is this word
    EXPRESSION_FLAGGED, // flagged(reset): how many of the device's counters have this flag; or flagged(saturated)
    EXPRESSION_DEVICE,  // device(gone): 1 when the device changed so (device_change_name(); slower), else not known
    EXPRESSION_PEERS,   // mean over the other devices of the source
    EXPRESSION_SPREAD,  // largest over mean of the source's devices
    EXPRESSION_TOTAL,   // sum over the source's devices
    EXPRESSION_USED,    // how many of the source's devices have at least 0.1 %, of a share of their line
    EXPRESSION_MEMBERS, // sum over the members of this bond or bridge (the interfaces whose fact "master" names it)
    EXPRESSION_BEST,    // best(fact, formula): largest over the source's other devices with the same fact
    EXPRESSION_FAR      // at the other end of this device's link, on another node, where that is known
} expression_op;

typedef enum expression_variable {
    EXPRESSION_VALUE = 0, // "value": what the rule's formula gave
    EXPRESSION_SECONDS,   // "T"
    EXPRESSION_CLOCK,     // "CLK": the device's clock in Hz
    EXPRESSION_LINE_RATE, // "R": bit/s on the wire, one direction
    EXPRESSION_SPEED,     // "SPEED": bit/s for frames, one direction
    EXPRESSION_DEVICES,   // "DEVICES": how many the source has
    EXPRESSION_PHYSICAL,  // "PHYSICAL": 1 for a port of the node
    EXPRESSION_SWEEP,     // "SWEEP": seconds that the longer of the two readings took
    EXPRESSION_LINE,      // "LINE": largest share of its line that a port of the node used
    EXPRESSION_LOSSES,    // "LOSSES": findings of rules before this one on a network that is down, slow or loses
    EXPRESSION_WIRE, // "WIRE": bytes in and out of the node's own network interfaces (RDMA that passes them by is not in it)
    EXPRESSION_WITHIN // "WITHIN": 1 where less than a tenth of the IP bytes went over WIRE: they stayed on the node
} expression_variable;

typedef struct expression_node {
    expression_op op;
    uint32_t index;
    uint32_t first, next; // first argument, next argument of the parent; 0: none
    double number;
    const char *text, *qualifier;
    bool is_list; // the name has '*', '?' or a range
} expression_node;

// Start from {0}; expression_free() at the end. Nodes count from 1.
typedef struct expression {
    expression_node *nodes;
    uint32_t count, root; // root 0: no formula
    bool iterates;        // looks at other devices
    bool changes;         // asks whether the device changed: then it is asked of those that are gone, too
    char *texts;
} expression;

typedef struct expression_error {
    size_t column; // 1 for the first character
    char text[96];
} expression_error;

typedef struct expression_names {
    const char *const *locals; // names of other formulas
    const bool *iterate;       // [count] those that look at other devices
    size_t count;
    bool by_device; // "Tcp/OutSegs": the word before the first '/' is always a device
} expression_names;

// False: see *error. An empty text is an error.
bool expression_parse(expression *e, const char *text, const expression_names *names, expression_error *error);
void expression_free(expression *e);

extern const char expression_timeless[]; // why T and SWEEP have no value where no time passed; compare the pointers

// True for a source of the network ("netdev"), which may qualify a counter.
bool expression_is_source(const char *text, size_t length);

#endif
