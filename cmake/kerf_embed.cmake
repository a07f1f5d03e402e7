# kerf_embed(out NAMESPACE ns BASE folder FILES ...): a source file that holds the text of FILES, for the program to carry with it.
# Sets `out` to the generated file, to be listed among a room's SOURCES. It defines, in namespace `ns`,
#   std::span<const std::pair<std::string_view, std::string_view>> embedded_files();     // path below BASE, text; as listed
# which the room declares in one of its headers. Files are text; run as a script it writes the generated file.
if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  foreach(path IN LISTS FILES)
    file(READ "${BASE}/${path}" text)
    # Compilers limit one literal; pieces of 12 kB are joined by the compiler.
    string(LENGTH "${text}" length)
    set(literal "")
    set(at 0)
    while(at LESS length OR at EQUAL 0)
      string(SUBSTRING "${text}" ${at} 12000 piece)
      string(APPEND literal "R\"kerf-text(${piece})kerf-text\"\n")
      math(EXPR at "${at} + 12000")
    endwhile()
    string(APPEND entries "    {std::string_view(\"${path}\"), std::string_view(${literal})},\n")
  endforeach()
  file(WRITE "${OUT}" "// Generated from the files it names.\n#include <span>\n#include <string_view>\n#include <utility>\n\n"
                      "namespace ${NAMESPACE} {\n\n"
                      "std::span<const std::pair<std::string_view, std::string_view>> embedded_files();\n\n"
                      "std::span<const std::pair<std::string_view, std::string_view>> embedded_files() {\n"
                      "  static constexpr std::pair<std::string_view, std::string_view> files[] = {\n${entries}  };\n"
                      "  return files;\n}\n\n}  // namespace ${NAMESPACE}\n")
  return()
endif()

set(KERF_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(kerf_embed out)
  cmake_parse_arguments(arg "" "NAMESPACE;BASE" "FILES" ${ARGN})
  string(MAKE_C_IDENTIFIER "${arg_NAMESPACE}_files" name)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  list(TRANSFORM arg_FILES PREPEND ${arg_BASE}/ OUTPUT_VARIABLE paths)
  add_custom_command(OUTPUT ${generated} DEPENDS ${paths} ${KERF_EMBED_SCRIPT} VERBATIM
    COMMAND ${CMAKE_COMMAND} "-DFILES=${arg_FILES}" -DBASE=${arg_BASE} -DOUT=${generated} -DNAMESPACE=${arg_NAMESPACE}
            -P ${KERF_EMBED_SCRIPT})
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
