# kerf_module(name [HOT] HEADERS ... SOURCES ... TESTS ... APART ... DEPS ... LIBS ...)
#   One room of the house: the static library kerf_<name> and, when TESTS are given, the test program kerf_<name>_tests
#   (label "unit"). DEPS are other rooms, LIBS third-party targets, private to the sources. HOT rooms have loops over data
#   and are fully optimised; the others and all tests are compiled for a short build. Where KERF_UNITY is on, a room's
#   sources are compiled together, KERF_UNITY_FILES at a time, and so are its tests: names in anonymous namespaces must
#   differ from file to file, and a class of a header must not have members of such types; or the file is listed as APART.
set(KERF_UNITY_FILES 16)
if(KERF_SANITIZE)
  set(KERF_UNITY_FILES 64)
endif()
function(kerf_module name)
  cmake_parse_arguments(arg "HOT" "" "HEADERS;SOURCES;TESTS;APART;DEPS;LIBS" ${ARGN})
  add_library(kerf_${name} STATIC ${arg_SOURCES} ${arg_HEADERS})
  kerf_flags(kerf_${name})
  kerf_unity(kerf_${name} ${arg_APART})
  if(arg_HOT AND NOT KERF_SANITIZE)
    kerf_precompiled(kerf_${name} hot)
  else()
    kerf_precompiled(kerf_${name} cold)
  endif()
  target_include_directories(kerf_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPS PREPEND kerf_)
  target_link_libraries(kerf_${name} PUBLIC ${arg_DEPS} tl::expected PRIVATE ${arg_LIBS} kerf_third_fmt)
  if(arg_TESTS)
    kerf_test(kerf_${name}_tests LABEL unit SOURCES ${arg_TESTS} APART ${arg_APART} DEPS kerf_${name} LIBS ${arg_LIBS})
  endif()
endfunction()

# kerf_unity(target [FILE...]): the target's sources are compiled together, all but these.
function(kerf_unity target)
  if(NOT KERF_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${KERF_UNITY_FILES})
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  # What hides another file's name hides nothing when the files are apart; the dev preset looks at them one by one.
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endfunction()

# kerf_test(name LABEL label [TIMES] [EACH] [COST seconds] [FILTER filter] PARTS ... SOURCES ... APART ... DEPS ... LIBS ...): a GoogleTest program that
# is one ctest test, because workers, compilers and sandboxes are started once per program; exit code 77 says that all of
# its cases were skipped. PARTS name=filter...: it is several ctest tests, each with some of the cases. EACH: every case that
# FILTER lets through is a ctest test. TIMES: it times kernels, so nothing else that does runs beside it. Tests of a higher
# COST are begun first.
function(kerf_test name)
  cmake_parse_arguments(arg "TIMES;EACH" "LABEL;COST;FILTER" "PARTS;SOURCES;APART;DEPS;LIBS" ${ARGN})
  kerf_runs_here(${name} ${arg_LABEL} here filter)
  if(filter AND NOT KERF_SANITIZE)
    string(REGEX REPLACE "^kerf_(.*)_tests$" "\\1" room ${name})
    set(arg_SOURCES ${KERF_SLOW_FILES_${room}})
  endif()
  if(here)
    add_executable(${name} ${arg_SOURCES})
  else()  # can be built and run by hand all the same
    add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  endif()
  kerf_flags(${name})
  kerf_unity(${name} ${arg_APART})
  kerf_precompiled(${name} test)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} ${arg_LIBS} kerf_test_main kerf_third_fmt)
  if(NOT here)
    return()
  endif()
  if(NOT arg_COST)
    set(arg_COST 30)
  endif()
  set(properties LABELS ${arg_LABEL} TIMEOUT 1200 COST ${arg_COST})
  if(arg_TIMES)
    list(APPEND properties RESOURCE_LOCK timing)
  endif()
  if(KERF_SANITIZE)
    add_dependencies(sanitized_tests ${name})
    add_test(NAME ${KERF_SANITIZER_NAME}.${name} COMMAND ${name} --gtest_brief=1 "--gtest_filter=*${filter}")
    set_tests_properties(${KERF_SANITIZER_NAME}.${name} PROPERTIES ${properties} ENVIRONMENT "${KERF_SANITIZER_ENVIRONMENT}")
  elseif(arg_EACH)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "${arg_FILTER}" PROPERTIES ${properties})
  elseif(arg_PARTS)
    foreach(part IN LISTS arg_PARTS)
      string(REGEX MATCH "^([^=]+)=(.*)$" part "${part}")
      add_test(NAME ${name}.${CMAKE_MATCH_1} COMMAND ${name} "--gtest_filter=${CMAKE_MATCH_2}")
      set_tests_properties(${name}.${CMAKE_MATCH_1} PROPERTIES ${properties} SKIP_RETURN_CODE 77)
    endforeach()
  else()
    if(filter)
      set(filter "--gtest_filter=${filter}")
    endif()
    add_test(NAME ${name} COMMAND ${name} ${filter})
    set_tests_properties(${name} PROPERTIES ${properties} SKIP_RETURN_CODE 77)
  endif()
endfunction()

add_library(kerf_test_main STATIC ${CMAKE_CURRENT_LIST_DIR}/test_main.cpp ${CMAKE_CURRENT_LIST_DIR}/test_paths.cpp)
target_link_libraries(kerf_test_main PUBLIC GTest::gtest)
target_include_directories(kerf_test_main PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(kerf_test_main PRIVATE KERF_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KERF_BINARY="${PROJECT_BINARY_DIR}/kerf")

# Which unit suites a tree runs. The asan tree has the target sanitized_tests: the suites of all rooms but those of
# KERF_UNSANITIZED, which start themselves or the kerf binary as sandboxed workers: the sandbox's address-space limit and
# system call filter do not go with a sanitizer's shadow memory. The tsan tree has those of rooms that use threads. A tree
# without sanitizers runs all, or only what the asan tree leaves out where KERF_UNIT_SUITES is "unsanitized" (./test.sh).
# KERF_SLOW_<room> are tests that take minutes with a sanitizer: the release tree runs them as well, and the sanitized trees
# all but KERF_LEFT_OUT_<room>. Where the release tree runs nothing else of a room, it compiles KERF_SLOW_FILES_<room> alone.
set(KERF_UNIT_SUITES all CACHE STRING "Unit suites that are run in this tree: all, or unsanitized")
set(KERF_UNSANITIZED "^(sandbox|language_.*|device_.*|app|export)$" CACHE INTERNAL "")
set(KERF_THREADED base build interpret judge llm oracle search worker CACHE INTERNAL "")
set(KERF_SLOW_store "*WriterIsKilledAtAnyMoment" CACHE INTERNAL "")  # a slow writer gets nowhere before it is killed
set(KERF_SLOW_FILES_store run_store_test.cpp CACHE INTERNAL "")
set(KERF_LEFT_OUT_store "${KERF_SLOW_store}" CACHE INTERNAL "")
set(KERF_SLOW_verify "Admission.FewAnswersRefuseATaskThatTakesLong" CACHE INTERNAL "")  # millions of elements
set(KERF_SLOW_FILES_verify admission_test.cpp CACHE INTERNAL "")
set(KERF_LEFT_OUT_verify "${KERF_SLOW_verify}" CACHE INTERNAL "")
set(KERF_SLOW_skill "GateSimulation.*" CACHE INTERNAL "")  # thousands of trials
set(KERF_SLOW_FILES_skill gate_test.cpp CACHE INTERNAL "")
set(KERF_LEFT_OUT_skill "${KERF_SLOW_skill}" CACHE INTERNAL "")
set(KERF_SLOW_interpret "*RandomGraphs*" CACHE INTERNAL "")
set(KERF_SLOW_FILES_interpret interpreter_fuzz_test.cpp naive.cpp CACHE INTERNAL "")
set(KERF_LEFT_OUT_interpret "*RandomGraphs*/1:*RandomGraphs*/2:*RandomGraphs*/3:*RandomGraphs*/4" CACHE INTERNAL "")
set(KERF_SLOW_search "*BeatsRandomSearch*:*FindsAPointCloseToTheBest*" CACHE INTERNAL "")  # statistics over many searches
set(KERF_SLOW_FILES_search loop_test.cpp tune_search_test.cpp CACHE INTERNAL "")
set(KERF_LEFT_OUT_search "${KERF_SLOW_search}" CACHE INTERNAL "")
set(KERF_SLOW_synth "*Compositions*:*EveryOperatorGivesALegal*:*GoesWhereItIsAsked*" CACHE INTERNAL "")  # thousands of plans
set(KERF_SLOW_FILES_synth compositions_test.cpp synthesiser_test.cpp CACHE INTERNAL "")
set(KERF_LEFT_OUT_synth "${KERF_SLOW_synth}" CACHE INTERNAL "")
function(kerf_runs_here name label out out_filter)
  string(REGEX REPLACE "^kerf_(.*)_tests$" "\\1" room ${name})
  set(here TRUE)
  set(filter "")
  if(KERF_SANITIZE AND KERF_LEFT_OUT_${room})
    set(filter "-${KERF_LEFT_OUT_${room}}")
  endif()
  if(KERF_SANITIZE STREQUAL thread)
    if(NOT label STREQUAL unit OR NOT room IN_LIST KERF_THREADED)
      set(here FALSE)
    endif()
  elseif(KERF_SANITIZE)
    if(NOT label STREQUAL unit OR room MATCHES "${KERF_UNSANITIZED}")
      set(here FALSE)
    endif()
  elseif(label STREQUAL unit AND KERF_UNIT_SUITES STREQUAL unsanitized AND NOT room MATCHES "${KERF_UNSANITIZED}")
    if(KERF_SLOW_${room})
      set(filter "${KERF_SLOW_${room}}")
    else()
      set(here FALSE)
    endif()
  endif()
  set(${out} ${here} PARENT_SCOPE)
  set(${out_filter} "${filter}" PARENT_SCOPE)
endfunction()

set(KERF_LOOPS -O3)  # how sources with loops over data are compiled; nothing else is optimised in sanitized trees
if(KERF_SANITIZE)
  add_custom_target(sanitized_tests)
  # Sanitized programs are large: with binutils' linker one takes up to nine seconds.
  find_program(KERF_LLD NAMES ld.lld-19)
  if(KERF_LLD)
    set(KERF_SANITIZER_LINKER -fuse-ld=lld)
  endif()
  set(KERF_LOOPS -O0)
  if(KERF_SANITIZE STREQUAL thread)
    set(KERF_SANITIZER_NAME tsan)
    set(KERF_SANITIZER_ENVIRONMENT TSAN_OPTIONS=halt_on_error=1)
  else()
    set(KERF_SANITIZER_NAME asan)
    set(KERF_SANITIZER_ENVIRONMENT UBSAN_OPTIONS=print_stacktrace=1)
  endif()
endif()

function(kerf_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
  # Other compilers warn about other things; whoever only wants the program shall get it all the same.
  if(KERF_WERROR AND ((CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13) OR KERF_SANITIZE))
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(KERF_SANITIZE)
    # clang finds both in headers of others: libstdc++'s stable_sort and libseccomp's macros.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations -Wno-missing-field-initializers)
    target_compile_options(${target} PRIVATE -fsanitize=${KERF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${KERF_SANITIZE} ${KERF_SANITIZER_LINKER})
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
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)  # takes g++ a quarter less time than -O1 or -O0
  endif()
endfunction()

# kerf_source_hash(name header out PATTERN...): `out` is a source whose function name() gives a hash over the files under
# the project that the patterns match (tests left out); it is made anew when one of them changes.
function(kerf_source_hash name header out)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  file(GLOB_RECURSE files LIST_DIRECTORIES false CONFIGURE_DEPENDS ${paths})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} "-DPATTERNS=${ARGN}" -DNAME=${name} -DHEADER=${header} -DOUTPUT=${source}
            -P ${PROJECT_SOURCE_DIR}/cmake/hash_sources.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/hash_sources.cmake VERBATIM)
  set(${out} ${source} PARENT_SCOPE)
endfunction()
