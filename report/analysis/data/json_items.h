// A JSON text whose long lists are parsed item by item: the tree of a whole file takes twelve times its bytes.
#ifndef NETPROF_JSON_ITEMS_H
#define NETPROF_JSON_ITEMS_H

#include "dataset_build.h"
#include "analysis/base/json.h"

enum { JSON_ITEMS_DEPTH = 32 };

// Where an item stands in the text.
typedef struct json_item {
    size_t begin, end;
} json_item;

// Where the items of one list stand among all of the document.
typedef struct json_items {
    size_t first, count;
} json_items;

typedef struct json_document {
    json_object *root;            // null stands where an item of "snapshots" or "deltas" is
    json_items snapshots, deltas; // these lists of the root
    json_item *items;             // of both lists in the order of the text, an stb_ds array
    size_t intact;                // nothing from here on is used: the text ends there, or is damaged
} json_document;

// Reads all but the items. What comes before damage is used, with a warning; an error when that is nothing.
netprof_err json_document_read(dataset_input *in, json_document *d);
// Item i of a list of the root, whose place is `items`; put it. False behind the last one and behind damage, of which is
// warned once: the intact part of the damaged item still counts.
bool json_document_item(dataset_input *in, json_document *d, json_object *list, const json_items *items, size_t i,
                        json_object **item);
void json_document_free(json_document *d);

#endif
