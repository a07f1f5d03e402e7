#pragma once
// Where tests find the tree's files and the program. Functions and not macros, so that the objects of a test are the
// same wherever the tree is, and a compiler cache knows them in every clone.

#include <filesystem>

namespace kerf {

std::filesystem::path source_folder();  ///< the tree's root
std::filesystem::path kerf_program();   ///< the binary of the build tree that the test belongs to

}  // namespace kerf
