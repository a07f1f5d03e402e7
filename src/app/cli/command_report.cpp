#include <fmt/format.h>

#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "report/html_report.hpp"
#include "report/run_costs.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
Status report(const ReportOptions& options, const Environment&, Console& console) {
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  const std::filesystem::path file = options.out.empty() ? folder / "report.html" : std::filesystem::path(options.out);
  KERF_TRY_VOID(check_output({file, OutputKind::report}));
  KERF_TRY(const auto run, load_run(folder, RunDetail::conversations));
  KERF_TRY_VOID(write_output({file, OutputKind::report}, report::html_report(run, report::run_costs(run))));
  console.out << file.string() << std::endl;
  return {};
}

}  // namespace kerf::cli
