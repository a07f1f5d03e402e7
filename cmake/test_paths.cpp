// The one file of a tree's tests that knows where the tree is.
#include "base/test_paths.hpp"

std::filesystem::path kerf::source_folder() { return KERF_SOURCE_DIR; }
std::filesystem::path kerf::kerf_program() { return KERF_BINARY; }
