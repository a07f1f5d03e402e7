#pragma once
// The settings of a judge by name: measure.* and judge.*.

#include <string>
#include <vector>

#include "base/setting.hpp"
#include "judge/judge.hpp"

namespace kerf {

const std::vector<Setting<JudgeOptions>>& judge_settings();

/// Every setting that can change a verdict or its figures, with its value: "|measure.max_rounds=60|...".
std::string settings_key(const JudgeOptions& options);

}  // namespace kerf
