# Installs the package: one export set for each component (tracing, testlog, cuda_cpu, command), the config that loads them with their
# dependencies, and the CMake modules that users of the package include. testlog_library() installs libraries and headers.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/testlog)
get_property(TESTLOG_COMPONENTS GLOBAL PROPERTY TESTLOG_COMPONENTS)
foreach(component IN LISTS TESTLOG_COMPONENTS)
  set(namespace ${component})
  if(NOT component STREQUAL "tracing")
    set(namespace testlog)
  endif()
  install(EXPORT ${component}-targets NAMESPACE ${namespace}:: FILE ${component}-targets.cmake DESTINATION ${package_dir})
  get_property(dependencies GLOBAL PROPERTY TESTLOG_${component}_DEPENDENCIES)
  list(JOIN dependencies "\n" dependencies)
  file(CONFIGURE OUTPUT ${component}-dependencies.cmake CONTENT "${dependencies}\n" @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${component}-dependencies.cmake DESTINATION ${package_dir})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/testlogConfig.cmake.in testlogConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(testlogConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/testlogConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/testlogConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TestlogCuda.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TestlogCudaOnCpu.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TestlogDiscoverTests.cmake
  DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/tools/valgrind.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/testlog)
