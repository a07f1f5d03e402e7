#include "memory/prompt_store.hpp"

#include <algorithm>

namespace kerf {

PromptFigures pooled(const PromptFigures& a, const PromptFigures& b) {
  if (a.uses <= 0) return b;
  if (b.uses <= 0) return a;
  PromptFigures both;
  both.uses = a.uses + b.uses;
  const double apart = b.mean - a.mean;
  both.mean = a.mean + apart * b.uses / both.uses;
  both.square = a.square + b.square + apart * apart * a.uses * b.uses / both.uses;
  both.best = std::max(a.best, b.best);
  return both;
}

}  // namespace kerf
