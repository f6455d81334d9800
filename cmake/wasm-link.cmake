# The command line as WebAssembly: a module of JavaScript and a .wasm.  A run is one module, thrown away with its memory afterwards.
#
#   tosac           one thread; starts everywhere
#   tosac-threads   the same objects linked for memory that threads share, which a page has where its server isolates it.  Threads are
#                   started before the command, Module.threads of them with the first: a busy worker starts none.
foreach(name tosac tosac-threads)
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
target_link_options(tosac-threads PRIVATE -sENVIRONMENT=worker,node -sUSE_PTHREADS=1 "-sPTHREAD_POOL_SIZE=Module.threads-1" -sPTHREAD_POOL_SIZE_STRICT=2)
