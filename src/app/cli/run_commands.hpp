#pragma once
// The commands that look at a finished (or running) run: show, explain, report, export, prove.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/environment.hpp"
#include "base/result.hpp"

namespace kerf::cli {

inline constexpr const char* kRunsFolder = "runs";  ///< where runs are, below the current folder

struct RunsOptions {
  std::string folder;  ///< "": runs/
  bool json = false;
};
Status runs(const RunsOptions& options, const Environment& environment, Console& console);

struct ShowOptions {
  std::string run;  ///< a run folder, or the beginning of a name in runs/
  bool json = false;
  bool csv = false;     ///< the steps as a table for spreadsheets
  bool source = false;  ///< print a kernel instead of the summary
  std::string step;     ///< which one: a number, "best" or a kernel's id
  int top = 10;         ///< rows of the table of kernels
};
Status show(const ShowOptions& options, const Environment& environment, Console& console);

struct ExplainOptions {
  std::string run;
  std::string step;   ///< "": the search as a whole
  bool diff = false;  ///< with the differences between parent and child
  bool chat = false;  ///< with what models were shown and answered
};
Status explain(const ExplainOptions& options, const Environment& environment, Console& console);

struct ReportOptions {
  std::string run;
  std::string out;  ///< "": report.html in the run folder
};
Status report(const ReportOptions& options, const Environment& environment, Console& console);

struct ExportOptions {
  std::string run;                  ///< of a run's kernel ...
  std::string task, kernel;         ///< ... or of one of the user's own
  std::vector<std::string> set;     ///< values of its tunables: "BLOCK=64"
  std::vector<std::string> shapes;  ///< compiled for these too: "rows=64..256:64,cols=1024"
  std::string device;               ///< on which they are verified; "": the first
  std::string step;                 ///< "": the best
  std::string format = "source";    ///< "source", "c-header", "cmake", "kernelbench", "torch"
  std::string out;                  ///< "": export-FORMAT in the run folder
  std::string name;                 ///< of the exported function; "": the task's
  bool no_check = false;            ///< the check program is not run
};
Status export_run(const ExportOptions& options, const Environment& environment, Console& console);
/// The formats kernelbench and torch.
Status export_model(const ExportOptions& options, Console& console);

struct ProveOptions {
  std::string run;                    ///< write a proof of this run's best kernel ...
  std::string step;                   ///< ... or of another step
  std::string out;                    ///< "": proof in the run folder
  std::string check;                  ///< check the proof in this folder instead
  std::string task;                   ///< with check: the task that the proof has to be about; "": its own
  std::string device;                 ///< "": the first
  std::vector<std::string> set;       ///< "measure.max_rounds=20"
  std::optional<std::uint64_t> seed;  ///< none: drawn afresh
  bool json = false;
};
/// The exit code: kJudged, or kSpeedNotChecked for a bundle whose kernel is right and whose speed could not be checked.
Result<int> prove(const ProveOptions& options, const Environment& environment, Console& console);

struct TracesOptions {
  std::string action;  ///< "export"
  std::string run;
  std::string out;  ///< "": stdout
};
struct PromptsOptions {
  std::string action;          ///< "list", "show", "diff", "export", "import" or "reset"
  std::string run;             ///< "kept" or "": those of all runs; with export and import a file
  std::string first, second;   ///< ids; "" for none
  std::string target, memory;  ///< of kept ones; "": the default
};
Status prompts(const PromptsOptions& options, const Environment& environment, Console& console);

Status traces(const TracesOptions& options, const Environment& environment, Console& console);

}  // namespace kerf::cli
