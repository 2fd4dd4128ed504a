// findings.json, which others read, and from which a judge that starts anew goes on. Thread rule: one thread.
#ifndef LIVE_JUDGE_JSON_H
#define LIVE_JUDGE_JSON_H

#include "judge_model.h"

char *judge_json(const judge *j);                         // the document; free() it
int judge_write(const char *directory, const char *text); // 0 or an errno
void judge_go_on(judge *j, json_object *before);          // the findings of a document, and when nodes were read last

#endif
