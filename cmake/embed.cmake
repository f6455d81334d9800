# A text file as an array of bytes: cmake -DFROM=page.css -DTO=page_css.c -DNAME=tc_page_css -P embed.cmake
file(READ ${FROM} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1,\n" hex "${hex}")
file(WRITE ${TO} "#include <stddef.h>\nextern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_size;\nconst unsigned char ${NAME}[] = {\n${hex}0};\nconst size_t ${NAME}_size = ${bytes};\n")
