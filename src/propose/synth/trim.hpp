#pragma once
// A kernel file carries what it uses of the dialect layer, not all of it.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kerf::synth {

/// Words of code and of its string literals: pragmas name functions there.
std::set<std::string> words_of(std::string_view code);

/// A dialect layer, read once.
class Layer {
 public:
  explicit Layer(std::string_view text);
  /// As used_part, for code with these words.
  std::string used_by(std::set<std::string> words) const;

 private:
  struct Item {
    std::string text;             ///< with the comment above it
    std::string name;             ///< "": always kept
    bool spaced = false;          ///< a blank line stands before it
    std::set<std::string> words;  ///< of the declaration
  };
  class Reader;
  std::vector<Item> items_;
};

/// The declarations of `layer` that `code` uses, directly or through each other, in their order. A comment goes with
/// the declaration under it. What cannot be understood stays. The layer must not build names by pasting (`##`).
std::string used_part(std::string_view layer, std::string_view code);

}  // namespace kerf::synth
