# Turns a script into C text, with the hash by which a page's content security policy knows it:
# cmake -DSCRIPT=x.js -DINC=x.inc -P embed_script.cmake
# writes   static const char *const x_lines[] = { "first line", ..., 0 };  and  static const char x_sha256[] = "hex";
# The page writes the lines with an end of line between them and none behind the last: that is what is hashed.
get_filename_component(name ${SCRIPT} NAME_WE)
file(READ ${SCRIPT} text)
string(REPLACE "\r" "" text "${text}")
string(REGEX REPLACE "\n+$" "" text "${text}")
string(SHA256 hash "${text}")
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "?" "\\?" text "${text}") # no trigraphs
string(REPLACE "\n" "\",\n    \"" text "${text}")
file(WRITE ${INC} "/* made from ${name}.js */
static const char *const ${name}_lines[] = {
    \"${text}\",
    0,
};
static const char ${name}_sha256[] = \"${hash}\";
")
