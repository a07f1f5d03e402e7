# kerf_module(name [HOT] [UNITY] HEADERS ... SOURCES ... TESTS ... DEPS ... LIBS ...)
#   One room of the house: the static library kerf_<name> and, when TESTS are given, the test program kerf_<name>_tests
#   (label "unit"). DEPS are other rooms, LIBS third-party targets, private to the sources. HOT rooms have loops over data
#   and are fully optimised; the others and all tests are compiled for a short build. UNITY rooms are compiled as one
#   translation unit where KERF_UNITY is on (release): names in their anonymous namespaces must differ from file to file.
function(kerf_module name)
  cmake_parse_arguments(arg "HOT;UNITY" "" "HEADERS;SOURCES;TESTS;DEPS;LIBS" ${ARGN})
  add_library(kerf_${name} STATIC ${arg_SOURCES} ${arg_HEADERS})
  kerf_flags(kerf_${name})
  if(arg_UNITY AND KERF_UNITY)
    set_target_properties(kerf_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    # What hides another file's name hides nothing when the files are apart; the dev preset looks at them one by one.
    target_compile_options(kerf_${name} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
  endif()
  if(arg_HOT)
    kerf_precompiled(kerf_${name} hot)
  else()
    kerf_precompiled(kerf_${name} cold)
  endif()
  target_include_directories(kerf_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPS PREPEND kerf_)
  target_link_libraries(kerf_${name} PUBLIC ${arg_DEPS} tl::expected PRIVATE ${arg_LIBS} kerf_third_fmt)
  if(arg_TESTS)
    kerf_test(kerf_${name}_tests LABEL unit SOURCES ${arg_TESTS} DEPS kerf_${name} LIBS ${arg_LIBS})
  endif()
endfunction()

# kerf_test(name LABEL label [SERIAL] SOURCES ... DEPS ... LIBS ...): a GoogleTest program, each case a ctest test.
function(kerf_test name)
  cmake_parse_arguments(arg "SERIAL" "LABEL" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  kerf_flags(${name})
  kerf_precompiled(${name} test)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS} GTest::gtest GTest::gtest_main kerf_third_fmt)
  target_compile_definitions(${name} PRIVATE KERF_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KERF_BINARY="${PROJECT_BINARY_DIR}/kerf")
  set(properties LABELS ${arg_LABEL})
  if(arg_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(KERF_SANITIZE)
    kerf_sanitized_test(${name} ${arg_LABEL})
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties} TIMEOUT 600)
  endif()
endfunction()

# Sanitized trees have the target sanitized_tests: the unit suites, one ctest entry per program. Left out are suites that start
# processes in the sandbox (its memory limits and system call filter do not go with a sanitizer's shadow memory) or the kerf
# binary; under TSan only suites of rooms that use threads are built.
set(KERF_UNSANITIZED sandbox language_cpp language_opencl_c language_cuda_cpp device_arena device_cpu device_opencl device_cuda
    app export CACHE INTERNAL "")
list(JOIN KERF_UNSANITIZED " " unsanitized)
file(WRITE ${PROJECT_BINARY_DIR}/unsanitized.txt "${unsanitized}; of store the test that kills its writer, of interpret all random graphs but one\n")
set(KERF_THREADED base build interpret judge search worker CACHE INTERNAL "")
function(kerf_sanitized_test name label)
  string(REGEX REPLACE "^kerf_(.*)_tests$" "\\1" room ${name})
  if(NOT label STREQUAL unit OR room IN_LIST KERF_UNSANITIZED)
    return()
  endif()
  if(KERF_SANITIZE STREQUAL thread AND NOT room IN_LIST KERF_THREADED)
    return()
  endif()
  if(NOT TARGET sanitized_tests)
    add_custom_target(sanitized_tests)
  endif()
  add_dependencies(sanitized_tests ${name})
  # A writer that is killed at random moments gets nowhere when it is this slow, and shows a sanitizer nothing. Of the random
  # graphs one seed is enough here; all of them run without sanitizers.
  set(without "*WriterIsKilledAtAnyMoment")
  foreach(seed RANGE 1 9)
    string(APPEND without ":*RandomGraphs*/${seed}*")
  endforeach()
  add_test(NAME ${name} COMMAND ${name} "--gtest_filter=-${without}")
  set_tests_properties(${name} PROPERTIES LABELS sanitized TIMEOUT 600)
endfunction()

function(kerf_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
  # Other compilers warn about other things; whoever only wants the program shall get it all the same.
  if(KERF_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(KERF_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${KERF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${KERF_SANITIZE})
  else()
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# kerf_precompiled(target hot|cold|test): how far a target is optimised in a release build, and the standard headers it
# need not parse again. Other presets compile without them, so a missing #include shows there.
function(kerf_precompiled target kind)
  kerf_optimised(${target} ${kind})
  if(NOT KERF_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET kerf_std_${kind})
    add_library(kerf_std_${kind} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    kerf_flags(kerf_std_${kind})
    kerf_optimised(kerf_std_${kind} ${kind})
    target_link_libraries(kerf_std_${kind} PRIVATE kerf_third_fmt tl::expected)
    target_precompile_headers(kerf_std_${kind} PRIVATE <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional>
                              <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
    if(kind STREQUAL test)
      target_link_libraries(kerf_std_${kind} PRIVATE GTest::gtest)
      target_precompile_headers(kerf_std_${kind} PRIVATE <gtest/gtest.h>)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM kerf_std_${kind})
  # g++ 12 imagines overruns inside std::string, which it keeps to itself when the header is not precompiled.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

function(kerf_optimised target kind)
  target_compile_options(${target} PRIVATE -fPIC)  # programs too: precompiled headers are shared between like targets
  if(NOT kind STREQUAL hot)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(KERF_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)  # loops over data are too slow as they stand
  endif()
endfunction()
