#pragma once
// Text of one kernel body: indented lines, local variables, and a memory of what the open blocks already computed.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kerf::codegen {

class Code {
 public:
  /// Fresh names avoid `reserved`, which must outlive this, and `more`.
  Code(int indent, const std::set<std::string>& reserved, std::set<std::string> more = {})
      : base_indent_(indent), reserved_(&reserved), more_(std::move(more)), scopes_(1) {}

  void line(const std::string& text);
  void open(const std::string& text);  ///< "for (...)": adds the brace and begins a block
  void close();                        ///< ends the innermost block

  /// A constant local variable holding `expression`; the same expression seen in an open block gives the same variable.
  /// A plain name or number is returned as it is.
  std::string let(const std::string& type, const std::string& expression);
  /// A fresh variable that later lines assign to.
  std::string variable(const std::string& type, const std::string& initial);
  /// A fresh name: "i3".
  std::string fresh(const std::string& prefix);

  /// What was remembered under `key` in an open block, or "".
  std::string recall(const std::string& key) const;
  void remember(const std::string& key, std::string value) { scopes_.back()[key] = std::move(value); }
  /// The expression that the variable `name` of `let` holds; the text itself when it is no such variable.
  std::string expression(const std::string& type, const std::string& name) const;

  /// The lines so far, without constants that nothing uses.
  std::string text() const;

 private:
  int base_indent_;
  const std::set<std::string>* reserved_;
  std::set<std::string> more_;
  struct Line {
    std::string text;
    std::string defines;  // the constant it declares, or ""
  };
  void append(const std::string& text, std::string defines);
  std::vector<Line> lines_;
  std::vector<std::map<std::string, std::string>> scopes_;
  int next_ = 0;
};

}  // namespace kerf::codegen
