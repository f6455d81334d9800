# tosac_add_model(TARGET firmware MODEL m.pt2 (BOARD name | MACHINE target) [NAME m] [CALIB data...] [OPTIONS words...])
#
# A model as C inside a program: NAME.c and NAME.h, with the kernels that it needs, are made when the model, its data or tosac itself
# change, and the program is compiled after them.  The header's folder is among the program's.  TOSAC_COMMAND names the command.
function(tosac_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 M "" "TARGET;MODEL;BOARD;MACHINE;NAME" "CALIB;OPTIONS")
  if(M_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tosac_add_model: unknown words: ${M_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT M_TARGET OR NOT M_MODEL OR (NOT M_BOARD AND NOT M_MACHINE))
    message(FATAL_ERROR "tosac_add_model: expected TARGET, MODEL and BOARD or MACHINE")
  endif()
  if(NOT TOSAC_COMMAND)
    find_program(TOSAC_COMMAND tosac REQUIRED)
  endif()
  get_filename_component(model ${M_MODEL} ABSOLUTE)
  if(NOT M_NAME)
    get_filename_component(M_NAME ${model} NAME_WE)
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/tosac/${M_NAME})
  set(words compile ${model} --emit c -o ${M_NAME}.c)
  if(M_BOARD)
    list(APPEND words --board ${M_BOARD})
  else()
    list(APPEND words -t ${M_MACHINE})
  endif()
  set(data)
  foreach(file ${M_CALIB})
    if(file MATCHES "^random:")
      list(APPEND words --calib ${file})
      continue()
    endif()
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND words --calib ${file})
    list(APPEND data ${file})
  endforeach()
  # Which kernels there are depends on the model: one source has them all.
  add_custom_command(OUTPUT ${dir}/${M_NAME}_all.c BYPRODUCTS ${dir}/${M_NAME}.c ${dir}/${M_NAME}.h
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${dir}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${dir}
    COMMAND ${CMAKE_COMMAND} -E chdir ${dir} ${TOSAC_COMMAND} ${words} ${M_OPTIONS}
    COMMAND ${CMAKE_COMMAND} -DDIR=${dir} -DNAME=${M_NAME} -P ${TOSAC_ADD_MODEL_DIR}/tosac_all.cmake
    DEPENDS ${model} ${data} ${TOSAC_COMMAND} COMMENT "tosac: ${M_NAME}" VERBATIM)
  target_sources(${M_TARGET} PRIVATE ${dir}/${M_NAME}_all.c)
  target_include_directories(${M_TARGET} PRIVATE ${dir})
  # The header is there before the program's own sources are compiled.
  add_custom_target(${M_TARGET}-${M_NAME} DEPENDS ${dir}/${M_NAME}_all.c)
  add_dependencies(${M_TARGET} ${M_TARGET}-${M_NAME})
endfunction()
set(TOSAC_ADD_MODEL_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
