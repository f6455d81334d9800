# Sources of DIR that a model did not need: empty ones in their place, so that a build knows all names beforehand.
foreach(name ${NAMES})
  if(NOT EXISTS ${DIR}/${name})
    file(WRITE ${DIR}/${name} "typedef int tosac_not_needed;\n")
  endif()
endforeach()
