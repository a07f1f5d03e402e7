#pragma once
// C++ with OpenMP through the machine's own compiler.

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "language/language.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

struct CppLanguageOptions {
  Sandbox* sandbox = nullptr;                      ///< compilers run in it; borrowed
  std::filesystem::path cache;                     ///< for the precompiled header
  std::map<std::string, std::string> environment;  ///< PATH is searched for compilers, CXX is tried first
  int jobs = 0;                                    ///< compilers at a time; 0: one per core
};

/// g++ if there is one, else clang++ (versioned names too), tried by building the precompiled header. unavailable with
/// what to install when none works.
Result<std::unique_ptr<Language>> make_cpp_language(const CppLanguageOptions& options);

}  // namespace kerf
