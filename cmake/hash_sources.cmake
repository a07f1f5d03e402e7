# cmake -DROOT=... -DPATTERNS="a;b" -DNAME=function -DHEADER=... -DOUTPUT=file.cpp -P hash_sources.cmake
# Writes a function that returns a hash over the files (tests left out) that the patterns match under ROOT.
set(all "")
foreach(pattern IN LISTS PATTERNS)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/${pattern})
  foreach(name IN LISTS files)
    if(name MATCHES "\\.(cpp|hpp)$" AND NOT name MATCHES "_test\\.cpp$")
      file(SHA256 ${ROOT}/${name} hash)
      string(APPEND all "${name} ${hash}\n")
    endif()
  endforeach()
endforeach()
string(SHA256 hash "${all}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nnamespace kerf {\nstd::string_view ${NAME}() { return \"${hash}\"; }\n}  // namespace kerf\n")
