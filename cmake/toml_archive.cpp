// The compiled part of toml++, with the settings of the program.
#define TOML_IMPLEMENTATION
#include "base/toml_library.hpp"
