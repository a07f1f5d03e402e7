#pragma once
// Steps that repeat a kernel of an earlier one: measured again, with other values, or with the same compiled code.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "search/asking.hpp"
#include "search/search_state.hpp"

namespace kerf {

/// The same kernel again, for another purpose.
Planned variant_of(const SearchState& state, std::int64_t number, Stage stage, const char* operation,
                   std::string change);

/// With other values of its tunables; none when its header cannot take them.
Result<std::optional<Planned>> tuned_variant(const SearchState& state, std::int64_t number, const Bindings& tunables);

/// The verdict of a kernel that compiles to the code of step `twin`.
Evaluation duplicate_of(const SearchState& state, std::int64_t twin, const Planned& planned);

}  // namespace kerf
