#pragma once
// A search as people watch it: a block that is redrawn on terminals, lines elsewhere, a summary at the end.

#include <functional>
#include <string>

#include "app/cli/environment.hpp"
#include "run/optimize_task.hpp"

namespace kerf::cli {

inline constexpr std::size_t kStepLineColumns = 100;

/// "   12  kept            7.91x (7.70x to 8.15x)  parameter row/vector: 1.31x step 9", at most `columns` wide:
/// the decision first, then the figure or the gate, then what it was.
std::string step_line(const StepFinished& finished, const Style& style, std::size_t columns = kStepLineColumns);

/// "asking llm: refine, 3210 of 20000 tokens, 0.0123 of 1 USD"; "" where no model was asked.
std::string spending_text(const SearchProgress& progress);

/// The lines of the block: where the search is, the best so far, the archive, what models do and cost, what is being
/// tried. None is wider than `columns`, so that none wraps.
std::string progress_block(const SearchProgress& progress, const std::string& title, const std::string& current,
                           std::size_t columns, const Style& style);

/// What is left of the smaller budget, in seconds; negative when there is no budget or no rate yet.
double seconds_left(const SearchProgress& progress);

/// What a run came to: whether its best kernel is faster than what it was compared with, by how much per shape, how
/// close to the hardware's limit, what it took, and what to do next.
std::string run_summary(const OptimizeResult& result, const Style& style, const std::string& kerf = "kerf");

/// The terminal that the block is drawn on.
struct Screen {
  bool live = false;             ///< a terminal: the block is redrawn
  std::function<int()> columns;  ///< its width now
};

/// Shows a run as it goes.
class SearchView final : public RunObserver {
 public:
  SearchView(Console& console, Screen screen);
  ~SearchView() override;

  void on_event(const RunEvent& event) override;

 private:
  void show(const CandidateStarted& started);
  void show(const StepFinished& finished);
  void show(const RunNote& note);
  void show(const TierEvent& event);
  void show(const RunMark& mark);
  void show(const ProposalAsked& asked);
  void show(const StillWaiting& waiting);
  std::size_t columns() const;
  void draw();
  void erase();

  Console& console_;
  Screen screen_;
  std::string title_;
  SearchProgress progress_;
  std::string current_, tier_;
  std::int64_t best_step_ = 0;
  int lines_ = 0;  // of the block on the screen
};

}  // namespace kerf::cli
