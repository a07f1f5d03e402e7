#pragma once
// toml++ as this program uses it. Included by source files alone: its types stay there. Its compiled part is one object
// file (cmake/toml_archive.cpp), because the header-only form costs every source file two seconds.

#define TOML_HEADER_ONLY 0
#define TOML_EXCEPTIONS 0                             // the two forms of the library do not mix
#define TOML_ASSERT(expression) static_cast<void>(0)  // "[[<" in a file fails one that nothing rests on
#include <toml++/toml.h>
