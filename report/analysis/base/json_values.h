// Values of json-c as reports write them: hostile text becomes valid UTF-8, what is unknown becomes null. Running out of
// memory ends the program.
#ifndef NETPROF_JSON_VALUES_H
#define NETPROF_JSON_VALUES_H

#include "analysis/base/json.h"

// Before files are opened: json-c draws a number at random when the first object gets a key, and versions before 0.16 end
// the program where no file can be opened for that.
void json_begin(void);
void json_put_text(json_object *o, const char *key, const char *text); // NULL is left out
void json_put_number(json_object *o, const char *key, double number);  // nine digits; null when it is no number
void json_put_exact(json_object *o, const char *key, uint64_t value);
// "lower_bounds": which of two keys beside it are; NULL: that one is not. Neither: it is left out.
void json_put_lower_bounds(json_object *o, const char *first, const char *second);
json_object *json_text_value(const char *text); // U+FFFD for what is no UTF-8
json_object *json_number_value(double number);  // NULL (null) when it is no number
json_object *json_exact_value(uint64_t value);  // exact beyond 2^63, too

#endif
