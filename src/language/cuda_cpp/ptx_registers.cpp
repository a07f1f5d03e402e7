#include "language/cuda_cpp/ptx_registers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace kerf {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kTelling{
    {{"%clock", "a clock"},
     {"%clock_hi", "a clock"},
     {"%clock64", "a clock"},
     {"%globaltimer", "a clock"},
     {"%globaltimer_lo", "a clock"},
     {"%globaltimer_hi", "a clock"},
     {"%smid", "the multiprocessor it runs on"},
     {"%nsmid", "the number of multiprocessors"},
     {"%warpid", "the place in a multiprocessor it runs on"},
     {"%nwarpid", "the size of a multiprocessor"},
     {"%gridid", "the number of the launch"},
     {"%current_graph_exec", "the graph it is launched from"},
     {"%virtual_smid", "the multiprocessor it runs on"}}};

/// Families of numbered registers: performance counters, and what the driver passes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNumbered{
    {{"%pm", "a performance counter"}, {"%envreg", "a word of the driver"}}};

std::string_view what_it_tells(std::string_view word) {
  for (const auto& [name, what] : kTelling)
    if (word == name) return what;
  for (const auto& [prefix, what] : kNumbered) {
    if (!word.starts_with(prefix)) continue;
    std::string_view number = word.substr(prefix.size());
    if (number.ends_with("_64")) number.remove_suffix(3);
    if (!number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return what;
  }
  return {};
}

bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

}  // namespace

std::vector<std::string> identifying_registers(std::string_view ptx) {
  std::vector<std::string> found;
  for (std::size_t at = ptx.find('%'); at != std::string_view::npos; at = ptx.find('%', at + 1)) {
    std::size_t end = at + 1;
    while (end < ptx.size() && continues_name(ptx[end])) ++end;
    const std::string_view word = ptx.substr(at, end - at), what = what_it_tells(word);
    if (what.empty()) continue;
    std::string text = fmt::format("{} ({})", word, what);
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(std::move(text));
  }
  return found;
}

}  // namespace kerf
