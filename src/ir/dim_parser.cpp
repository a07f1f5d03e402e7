#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"
#include "ir/dim_node.hpp"

namespace kerf {
namespace {

using detail::AtomOp;

constexpr int kMaxDepth = 100;

/// Recursive descent, one function per level of precedence.
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  Result<Dim> parse() {
    KERF_TRY(const Dim result, disjunction());
    skip_space();
    if (at_ != text_.size()) return error("unexpected '" + std::string(1, text_[at_]) + "'");
    KERF_TRY_VOID(check(result));
    return result;
  }

 private:
  tl::unexpected<Error> error(const std::string& what) const {
    return fail(Errc::invalid_input,
                "column " + std::to_string(at_ + 1) + ": " + what + " in '" + std::string(text_) + "'");
  }
  Status check(const Dim& dim) const {
    if (const char* why = Dim::Node::of(dim).broken) return error(why);
    return {};
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  Result<Dim> disjunction() {
    if (++depth_ > kMaxDepth) return error("too deeply nested");
    KERF_TRY(Dim left, conjunction());
    while (accept("||")) {
      KERF_TRY(const Dim right, conjunction());
      left = Dim::Node::logic(AtomOp::logical_or, left, right);
    }
    --depth_;
    return left;
  }

  Result<Dim> conjunction() {
    KERF_TRY(Dim left, comparison());
    while (accept("&&")) {
      KERF_TRY(const Dim right, comparison());
      left = Dim::Node::logic(AtomOp::logical_and, left, right);
    }
    return left;
  }

  Result<Dim> comparison() {
    KERF_TRY(const Dim left, sum());
    struct Comparison {
      const char* token;
      AtomOp op;
      bool swap;
    };
    static constexpr std::array<Comparison, 6> kComparisons{{{"==", AtomOp::equal, false},
                                                             {"!=", AtomOp::not_equal, false},
                                                             {"<=", AtomOp::less_equal, false},
                                                             {">=", AtomOp::less_equal, true},
                                                             {"<", AtomOp::less, false},
                                                             {">", AtomOp::less, true}}};
    for (const auto& comparison : kComparisons) {
      if (!accept(comparison.token)) continue;
      KERF_TRY(const Dim right, sum());
      return comparison.swap ? Dim::Node::compare(comparison.op, right, left)
                             : Dim::Node::compare(comparison.op, left, right);
    }
    return left;
  }

  Result<Dim> sum() {
    KERF_TRY(Dim left, product());
    while (true) {
      if (accept("+")) {
        KERF_TRY(const Dim right, product());
        left = left + right;
      } else if (accept("-")) {
        KERF_TRY(const Dim right, product());
        left = left - right;
      } else {
        return left;
      }
    }
  }

  Result<Dim> product() {
    KERF_TRY(Dim left, unary());
    while (true) {
      if (accept("*")) {
        KERF_TRY(const Dim right, unary());
        left = left * right;
      } else if (accept("//") || accept("/")) {
        KERF_TRY(const Dim right, unary());
        left = floor_div(left, right);
      } else if (accept("%")) {
        KERF_TRY(const Dim right, unary());
        left = remainder(left, right);
      } else {
        return left;
      }
    }
  }

  Result<Dim> unary() {
    bool negative = false;
    while (accept("-")) negative = !negative;
    KERF_TRY(const Dim value, primary());
    return negative ? Dim(0) - value : value;
  }

  Result<Dim> primary() {
    skip_space();
    if (accept("(")) {
      KERF_TRY(const Dim inner, disjunction());
      if (!accept(")")) return error("expected ')'");
      return inner;
    }
    if (at_ == text_.size()) return error("expected an extent");
    const auto first = static_cast<unsigned char>(text_[at_]);
    if (std::isdigit(first) != 0) return integer();
    if (std::isalpha(first) != 0 || first == '_') return name();
    return error("unexpected '" + std::string(1, text_[at_]) + "'");
  }

  Result<Dim> integer() {
    std::int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value))
        return error("integer too large");
      ++at_;
    }
    return value;
  }

  Result<Dim> name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (!accept("(")) return Dim::symbol(word);
    const std::vector<std::string> known{"ceil_div", "min", "max", "next_pow2"};
    std::vector<Dim> args;
    do {
      KERF_TRY(Dim arg, disjunction());
      args.push_back(std::move(arg));
    } while (accept(","));
    if (!accept(")")) return error("expected ')'");
    const std::size_t expected = word == "next_pow2" ? 1 : 2;
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      at_ = begin;
      return error("unknown function '" + word + "'" + did_you_mean(word, known));
    }
    if (args.size() != expected) return error(word + " takes " + std::to_string(expected) + " arguments");
    if (word == "ceil_div") return ceil_div(args[0], args[1]);
    if (word == "min") return min(args[0], args[1]);
    if (word == "max") return max(args[0], args[1]);
    return Dim::Node::power_of_two(args[0]);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Dim> parse_dim(std::string_view text) { return DimParser(text).parse(); }

}  // namespace kerf
