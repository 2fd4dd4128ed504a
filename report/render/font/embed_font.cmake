# Turns a font into C text: cmake -DFONT=x.otf -DINC=x.inc -P embed_font.cmake
# writes   static const unsigned char x_bytes[] = {0x4f,...};
get_filename_component(name ${FONT} NAME_WE)
file(READ ${FONT} hex HEX)
string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE ${INC} "/* made from ${name}.otf */
static const unsigned char ${name}_bytes[] = {
${hex}
};
")
