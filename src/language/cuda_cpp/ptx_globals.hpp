#pragma once
// Which variables in global memory a program can only read. Look-up tables (`static const float table[]`) are placed in
// writable memory by the compiler, so the cubin alone cannot tell them from state that survives between calls.

#include <set>
#include <string>
#include <string_view>

namespace kerf {

/// Names of module-scope .global and .const variables of the PTX text that are proven never to be written: every use of
/// the address ends in a load or a comparison. An address that is stored, passed, used by an unknown instruction or
/// kept in another variable is not proven, nor is any variable declared inside a function (by inline assembly).
/// Flow-insensitive and conservative.
std::set<std::string> read_only_globals(std::string_view ptx);

}  // namespace kerf
