#include "ir/expression/functions.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"

namespace kerf::ir {
namespace {

using Registry = std::map<std::string, Function, std::less<>>;

void enter(Registry& registry, const FunctionRow& row) {
  const std::string signature = row.signature;
  const std::string name = signature.substr(0, signature.find('('));
  std::vector<std::string> names{name};
  for (auto& other : split(row.other_names, ' '))
    if (!other.empty()) names.push_back(std::move(other));
  for (const auto& known : names) {
    Function function;
    function.help = {known, known + signature.substr(name.size()),
                     known == name ? row.summary : "The same as " + name + "."};
    function.parameters = parse_signature(signature);
    function.row = &row;
    const bool inserted = registry.emplace(known, std::move(function)).second;
    KERF_CHECK(inserted, "two functions have the same name");
  }
}

const Registry& registry() {
  static const Registry kRegistry = [] {
    Registry all;
    for (const auto family : {pointwise_functions(), activation_functions(), reduction_functions(),
                              normalization_functions(), linear_functions(), window_functions(), shape_functions(),
                              creation_functions(), loss_functions(), gather_functions()})
      for (const auto& row : family) enter(all, row);
    return all;
  }();
  return kRegistry;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : registry()) names.push_back(name);
  return names;
}

const std::vector<FunctionHelp>& expression_functions() {
  static const std::vector<FunctionHelp> kHelp = [] {
    std::vector<FunctionHelp> help;
    for (const auto& [name, function] : registry()) help.push_back(function.help);
    return help;
  }();
  return kHelp;
}

}  // namespace kerf::ir
