# What is installed: the command, both libraries, headers, what pkg-config and CMake want to know, manual pages and
# completions.  Paths in the last are relative, so that the whole may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(TOSAC_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tosac)
file(RELATIVE_PATH TOSAC_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(RELATIVE_PATH TOSAC_CMAKE_UP /${TOSAC_CMAKE_DIR} /)
file(RELATIVE_PATH TOSAC_RPATH /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
configure_file(${CMAKE_SOURCE_DIR}/cmake/tosac.pc.in ${CMAKE_BINARY_DIR}/tosac.pc @ONLY)
configure_file(${CMAKE_SOURCE_DIR}/cmake/tosacConfig.cmake.in ${CMAKE_BINARY_DIR}/tosacConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tosacConfigVersion.cmake VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)

set_target_properties(tosac PROPERTIES INSTALL_RPATH "$ORIGIN/${TOSAC_RPATH}")
install(TARGETS tosac RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS libtosac libtosac-shared libtosac-device ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tosac DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/tosac.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
include(${CMAKE_SOURCE_DIR}/cmake/tosac_add_model.cmake) # the names of the kernels
file(WRITE ${CMAKE_BINARY_DIR}/tosac_kernels.cmake "set(TOSAC_KERNEL_SOURCES ${TOSAC_KERNEL_SOURCES} CACHE INTERNAL \"\")\n")
install(FILES ${CMAKE_SOURCE_DIR}/cmake/tosac_add_model.cmake ${CMAKE_SOURCE_DIR}/cmake/tosac_fill.cmake ${CMAKE_BINARY_DIR}/tosac_kernels.cmake
  ${CMAKE_BINARY_DIR}/tosacConfig.cmake ${CMAKE_BINARY_DIR}/tosacConfigVersion.cmake
  DESTINATION ${TOSAC_CMAKE_DIR})
file(GLOB TOSAC_PAGES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/share/*.1)
install(FILES ${TOSAC_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_SOURCE_DIR}/share/tosac.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME tosac)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tools/emulate/run.sh ${CMAKE_SOURCE_DIR}/tools/emulate/make.sh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tosac/emulate)
install(FILES ${CMAKE_SOURCE_DIR}/tools/emulate/ethosu.c ${CMAKE_SOURCE_DIR}/tools/emulate/cache.c
  ${CMAKE_SOURCE_DIR}/tools/emulate/cache.h DESTINATION ${CMAKE_INSTALL_DATADIR}/tosac/emulate)
install(FILES ${CMAKE_SOURCE_DIR}/share/_tosac DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_SOURCE_DIR}/share/tosac.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
