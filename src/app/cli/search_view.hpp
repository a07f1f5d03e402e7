#pragma once
// A search as people watch it: a block that is redrawn on terminals, lines elsewhere, a summary at the end.

#include <string>

#include "app/cli/environment.hpp"
#include "model/event.hpp"

namespace kerf::cli {

/// "  12  parameter   matmul/packed   7.91x (7.70x to 8.15x)  kept: ...".
std::string step_line(const Step& step, const Style& style);

/// The lines of the block: where the search is, the best so far, the archive, what is being tried.
std::string progress_block(const SearchProgress& progress, const std::string& title, const std::string& current,
                           const Style& style);

/// What is left of the smaller budget, in seconds; negative when there is no budget or no rate yet.
double seconds_left(const SearchProgress& progress);

/// Before and after, how close to the hardware's limit, what it took.
std::string search_summary(const Evaluation& best, const SearchProgress& progress, const std::string& stopped,
                           const Style& style);

/// Shows a search as it goes.
class SearchView final : public RunObserver {
 public:
  /// `live`: the stream is a terminal, the block is redrawn.
  SearchView(Console& console, std::string title, bool live);
  ~SearchView() override;

  void on_event(const RunEvent& event) override;

 private:
  void show(const CandidateStarted& started);
  void show(const StepFinished& finished);
  void show(const RunNote& note);
  void show(const TierEvent& event);
  void show(const ProposalAsked&) {}
  void show(const RunMark&) {}
  void draw();
  void erase();

  Console& console_;
  std::string title_;
  bool live_;
  SearchProgress progress_;
  std::string current_, tier_;
  std::int64_t best_step_ = 0;
  int lines_ = 0;  // of the block on the screen
};

}  // namespace kerf::cli
