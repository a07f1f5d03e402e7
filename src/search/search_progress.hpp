#pragma once
// What a search has come to, for those who watch it.

#include "model/event.hpp"
#include "search/search_state.hpp"

namespace kerf {

/// Everything that follows from the steps alone; budgets, clocks and what is under way are the loop's to add.
SearchProgress progress_of(const SearchState& state);

}  // namespace kerf
