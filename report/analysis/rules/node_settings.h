// Settings of nodes that should be alike: MTU, speed, pause, firmware, driver, kernel. The one that alone differs, or how
// they divide.
//
// Thread rule: one thread at a time per node_settings.
#ifndef NETPROF_NODE_SETTINGS_H
#define NETPROF_NODE_SETTINGS_H

#include "rules.h"

#define NODE_SETTINGS_NONE ((size_t)-1)

// What one node's facts say.
typedef struct node_setting {
    size_t node, title; // title: which of the settings that are compared
    char *source, *device, *text;
} node_setting;

// Start from {0}; node_settings_free() at the end.
typedef struct node_settings {
    node_setting *items;             // stb_ds
    struct node_settings_one *found; // stb_ds
    char **names;                    // stb_ds, of the nodes
} node_settings;

// A setting in which nodes differ. Texts are the owner's.
typedef struct node_settings_one {
    severity severity;     // WATCH where it changes what goes over the wire, else INFO
    size_t node;           // the only one that differs, or NODE_SETTINGS_NONE
    size_t nodes, of;      // so many differ, of those that have the device
    char *source, *device; // "" the node's own; of several devices the first
    char *who;             // "cxi0-cxi3"; "the node"
    char *claim;           // "alone have MTU 1500; the 7 other nodes 9000"
} node_settings_one;

// Adds a node: the facts of its network devices and its own. The name is copied.
void node_settings_add(node_settings *s, const char *name, const netprof_schema *schema);
// Adds all nodes of `from`, which is empty then.
void node_settings_join(node_settings *s, node_settings *from);
void node_settings_judge(node_settings *s); // fills in `found`, the worst first
void node_settings_free(node_settings *s);

#endif
