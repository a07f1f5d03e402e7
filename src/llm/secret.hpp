#pragma once
// An API key: sent in one header, shown and stored nowhere.

#include <filesystem>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace kerf::llm {

class Secret {
 public:
  Secret() = default;
  /// Visible ASCII only, so that it cannot end a header; surrounding white space is cut off.
  static Result<Secret> from_text(const std::string& text, const std::string& where);
  /// The first line of a file that nobody but its owner can read.
  static Result<Secret> from_file(const std::filesystem::path& path);

  bool empty() const { return value_.empty(); }
  const std::string& reveal() const { return value_; }  ///< for the header of a request, for nothing else
  /// `text` with "[key]" wherever the key was.
  std::string scrub(std::string text) const;
  /// Likewise for what a model wrote, where a word of fewer than 8 characters stays: it is no secret but what people
  /// give to endpoints that want none ("x", "EMPTY"), and it may stand in any kernel.
  std::string scrub_answer(std::string text) const;

 private:
  explicit Secret(std::string value) : value_(std::move(value)) {}
  std::string value_;
};

}  // namespace kerf::llm
