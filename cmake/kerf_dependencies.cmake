# Third-party libraries, all from the platform's packages. Static archives are preferred so that the binary can be copied
# to a machine that has none of them.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(tl-expected REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)

# Debian packages no archive of fmt, so its compiled part is built here.
find_path(FMT_INCLUDE fmt/format-inl.h REQUIRED)
add_library(kerf_third_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_archive.cpp)
target_include_directories(kerf_third_fmt SYSTEM PUBLIC ${FMT_INCLUDE})

add_library(kerf_third_toml STATIC ${CMAKE_CURRENT_LIST_DIR}/toml_archive.cpp)
target_include_directories(kerf_third_toml PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(kerf_third_toml SYSTEM PUBLIC ${TOMLPLUSPLUS_INCLUDE})

foreach(name capstone crypto seccomp sqlite3)
  find_library(KERF_${name}_ARCHIVE NAMES lib${name}.a REQUIRED)
  add_library(kerf_third_${name} INTERFACE)
  target_link_libraries(kerf_third_${name} INTERFACE ${KERF_${name}_ARCHIVE})
endforeach()
target_link_libraries(kerf_third_crypto INTERFACE ${CMAKE_DL_LIBS} Threads::Threads)
target_link_libraries(kerf_third_sqlite3 INTERFACE ${CMAKE_DL_LIBS} Threads::Threads m)
