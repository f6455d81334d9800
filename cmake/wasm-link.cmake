# The command line as WebAssembly: tosac.js and tosac.wasm, for one thread.  A run is one module, thrown away with its memory
# afterwards.
foreach(name tosac)
  add_executable(${name} ${TOSAC_CLI} ${CMAKE_SOURCE_DIR}/src/wire/static/linked_libraries.c)
  target_include_directories(${name} SYSTEM PRIVATE ${LIBZIP_INCLUDE_DIRS} ${LIBPNG_INCLUDE_DIRS} ${LIBJPEG_INCLUDE_DIRS})
  target_link_libraries(${name} PRIVATE tosac-options $<TARGET_FILE:libtosac>)
  foreach(library zip protobuf-c png jpeg z)
    target_link_libraries(${name} PRIVATE $ENV{TOSAC_WASM_ROOT}/lib/lib${library}.a)
  endforeach()
  target_link_options(${name} PRIVATE -O2 -sMODULARIZE=1 -sEXPORT_NAME=createTosac -sINVOKE_RUN=0 -sEXIT_RUNTIME=1
    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB -sABORTING_MALLOC=0 -sFORCE_FILESYSTEM=1
    -sEXPORTED_RUNTIME_METHODS=FS,callMain,ENV -lnodefs.js
    --js-library ${CMAKE_SOURCE_DIR}/web/progress.js)
  add_dependencies(${name} libtosac)
endforeach()
target_link_options(tosac PRIVATE -sENVIRONMENT=web,worker,node)
