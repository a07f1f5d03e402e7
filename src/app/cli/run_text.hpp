#pragma once
// Runs in words: the pieces that `kerf show` and `kerf explain` print.

#include <string>

#include "app/cli/render.hpp"
#include "run/run_view.hpp"

namespace kerf::cli {

/// "7.91x"; "-" for what was not timed.
std::string format_speedup(double ratio);
/// "7.91x (7.70x to 8.15x)".
std::string format_speedup(const Speedup& speedup);
/// "7.91x (7.70x to 8.15x) vs naive", with ", undecided" or ", slower" behind it where it is not shown to be faster.
std::string speedup_words(const Speedup& speedup);
/// "41 s", "3 min 20 s", "2 h 5 min".
std::string format_seconds(double seconds);

/// Task, target, device, seed and how far it came.
std::string run_heading(const RunView& run, const Style& style);
/// The winner: step, kernel, before and after per shape.
std::string best_text(const RunView& run, const Style& style);
std::string funnel_text(const RunView& run, const Style& style);
/// Language models with what they gave and took; "" for runs that asked none.
std::string models_text(const RunView& run, const Style& style);
/// Variants of the prompt with what came of them; "" where there was one at most.
std::string prompts_text(const RunView& run, const Style& style);
/// Skills with their evidence and what came of them here; "" for runs without.
std::string skills_text(const RunView& run, const Style& style);
std::string minds_text(const RunView& run, const Style& style);  ///< "" for one mind alone
/// Answers with and without each kind of knowledge, and what was used with its value; "" where nothing was.
std::string knowledge_text(const RunView& run, const Style& style);
std::string archive_text(const RunView& run, const Style& style);
std::string top_text(const RunView& run, int top, const Style& style);

/// Every step, one line each, with a line of headings.
std::string steps_csv(const RunView& run);

/// How the search went: operations, directions, turning points.
std::string search_text(const RunView& run, const Style& style);
/// One step: its outcome with the evidence, and how it came about from its first ancestor on.
std::string step_text(const RunView& run, std::int64_t number, bool diff, const Style& style);
/// The last conversations with models and programs, one line each, and what came of them; "" where there were none.
std::string conversations_text(const RunView& run, int most, const Style& style);
/// The questions behind a step, one line each, or `whole` with all that was said; "" when there were none.
std::string chat_text(const std::vector<Exchange>& exchanges, bool whole, const Style& style);

}  // namespace kerf::cli
