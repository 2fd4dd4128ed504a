# cmake -DCSV=catalog_cxi.csv -DOUT=catalog.inc -P make_catalog.cmake
#
# One row per counter, in the file's order (natural order of names). Only the columns that a simulator needs:
# name, kind, width, asic, width on Cassini-2 if it differs.
file(READ "${CSV}" text)
string(REGEX REPLACE "^name,[^\n]*\n" "" text "${text}")
string(REGEX REPLACE
    "([a-z0-9_]+),[^,\n]*,[^,\n]*,([^,\n]*),[^\n]*,([0-9]+),(C[C0-9+]*),([0-9]*)\r?\n"
    "{\"\\1\", \"\\2\", \\3, \"\\4\", \"\\5\"},\n" text "${text}")
string(REGEX MATCH "[^\n]*,C[C0-9+]*,[^\n]*" left "${text}")
if(left)
    message(FATAL_ERROR "${CSV}: a row that I do not understand: ${left}")
endif()
file(WRITE "${OUT}" "${text}")
