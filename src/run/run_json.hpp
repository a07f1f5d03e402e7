#pragma once
// Parts of a run as JSON text, for `kerf show --json` and the report: each fact has one name and one unit in both.
// Numbers that are not finite are null.

#include <cstddef>
#include <limits>
#include <string>

#include "run/run_view.hpp"

namespace kerf {

/// {"vs", "ratio", "low", "high", "standing"}.
std::string speedup_json(const Speedup& speedup);

/// A list with one entry per stage of a kernel's way: how many came so far, and what ended the others.
std::string funnel_json(const RunView& run);

/// A list with one entry per language model that was asked: what it gave and what it took.
std::string models_json(const RunView& run);

/// A list with one entry per step that was talked about with a model or a program: "step" and its "turns". What was
/// said
/// ("messages", "reply", "reasoning", cut where it is long) is in it from the newest on, while it fits into
/// `text_budget` bytes.
std::string conversations_json(const RunView& run, std::size_t text_budget = 0);

/// A list with one entry per skill that the run could use: what came of it here ("gain", a ratio of speeds) and its
/// last trial (ratios of speeds, or null).
std::string skills_json(const RunView& run);

/// A list of answers with and without each kind of knowledge; "mean_gain" is a ratio of speeds.
std::string arms_json(const RunView& run);

/// A list of the experiences, skills and documents that were used, most used first, at most `most` of them.
std::string known_json(const RunView& run, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace kerf
