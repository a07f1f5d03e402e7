# Third-party libraries, all from the platform's packages. Static archives are preferred so that the binary can be copied
# to a machine that has none of them.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(tl-expected REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)

# Debian packages no archive of fmt, so it is used header-only.
find_package(fmt REQUIRED)
add_library(kerf_third_fmt INTERFACE)
target_link_libraries(kerf_third_fmt INTERFACE fmt::fmt-header-only)

foreach(name crypto seccomp)
  find_library(KERF_${name}_ARCHIVE NAMES lib${name}.a REQUIRED)
  add_library(kerf_third_${name} INTERFACE)
  target_link_libraries(kerf_third_${name} INTERFACE ${KERF_${name}_ARCHIVE})
endforeach()
target_link_libraries(kerf_third_crypto INTERFACE ${CMAKE_DL_LIBS} Threads::Threads)
