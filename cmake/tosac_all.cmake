# NAME_all.c in DIR: every source there, included by one.
file(GLOB sources RELATIVE ${DIR} ${DIR}/*.c)
list(SORT sources)
set(text "")
foreach(name ${sources})
  string(APPEND text "#include \"${name}\"\n")
endforeach()
file(WRITE ${DIR}/${NAME}_all.c "${text}")
