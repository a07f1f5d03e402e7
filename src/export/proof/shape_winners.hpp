#pragma once
// Which tuned values are the best per shape, read off a run.

#include <map>
#include <string>
#include <vector>

#include "ir/dim.hpp"
#include "store/run_store.hpp"

namespace kerf::exporting {

/// Tunables that made the winner's own kernel clearly faster on a timed shape than the winner's values do: their
/// interval lies below the winner's. Only steps that passed every gate count. Shapes on which the winner is as good are
/// not listed.
std::map<std::string, Bindings> winners_by_shape(const std::vector<Step>& steps, const Step& winner);

}  // namespace kerf::exporting
