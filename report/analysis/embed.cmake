# Turns a table into C text: cmake -DCSV=catalog_x.csv -DINC=catalog_x.inc -P embed.cmake
# writes   static const char *const catalog_x_lines[] = { "first line", ..., 0 };
# The columns are the reader's business. One literal per line keeps each under C's limit of 4095 characters.
get_filename_component(name ${CSV} NAME_WE)
file(READ ${CSV} text)
string(REPLACE "\r" "" text "${text}")
string(REGEX REPLACE "\n+$" "" text "${text}")
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "?" "\\?" text "${text}") # no trigraphs
string(REPLACE "\n" "\",\n    \"" text "${text}")
file(WRITE ${INC} "/* made from ${name}.csv */
static const char *const ${name}_lines[] = {
    \"${text}\",
    0,
};
")
