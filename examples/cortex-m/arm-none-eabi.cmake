# Bare Cortex-M by Debian's gcc-arm-none-eabi:  cmake -DCMAKE_TOOLCHAIN_FILE=arm-none-eabi.cmake -DCORE=cortex-m4
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
