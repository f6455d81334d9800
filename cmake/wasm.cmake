# WebAssembly by Debian's Emscripten, against libraries that tools/cross.sh has built (TOSAC_WASM_ROOT).
# Objects may share memory between threads; whether a program does is said when it is linked.
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
set(CMAKE_C_FLAGS_INIT "-msimd128 -matomics -mbulk-memory")
set(CMAKE_FIND_ROOT_PATH $ENV{TOSAC_WASM_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} $ENV{TOSAC_WASM_ROOT}/lib/pkgconfig)
