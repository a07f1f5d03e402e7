#include "search/duplicates.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/c_lexer.hpp"
#include "base/hash.hpp"
#include "model/candidate_header.hpp"

namespace kerf {

std::string source_identity(const Candidate& candidate, const Bindings& tunables) {
  std::string text = candidate.target + "\n" + plain_source(candidate.source) + "\n";
  if (const auto entries = read_header(candidate.source, {"target", "tune", "require", "scratch", "launch"}))
    for (const HeaderEntry& entry : *entries)
      if (entry.key != "tune" && entry.key != "target") text += entry.key + ":" + entry.value + "\n";
  for (const auto& [name, value] : tunables) text += fmt::format("{}={}\n", name, value);
  return sha256_hex(text);
}

}  // namespace kerf
