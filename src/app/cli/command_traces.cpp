#include <fmt/format.h>

#include <fstream>

#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "run/traces.hpp"
#include "store/find_run.hpp"
#include "store/run_store.hpp"

namespace kerf::cli {

Status traces(const TracesOptions& options, const Environment&, Console& console) {
  if (options.action != "export")
    return fail(Errc::invalid_input, fmt::format("unknown action '{}'; choose one of: export", options.action));
  KERF_TRY_VOID(check_output({options.out, OutputKind::traces}));
  KERF_TRY(const auto folder, find_run(options.run, kRunsFolder));
  KERF_TRY(const auto run, open_run_store(folder, RunStore::Access::read));
  std::ofstream file;
  const auto open_file = [&] {
    std::error_code error;  // of what cannot be made: opening the file fails then
    const std::filesystem::path path(options.out);
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    file.open(path, std::ios::binary);
  };
  std::ostream& out = options.out.empty() ? console.out : file;
  KERF_TRY(const std::int64_t lines, export_traces(*run, [&](const std::string& line) -> Status {
             if (!options.out.empty() && !file.is_open()) open_file();  // not before there is something to write
             out << line << "\n";
             return out ? Status{} : fail(Errc::io, "cannot write the traces");
           }));
  if (lines == 0)
    return fail(Errc::invalid_input,
                fmt::format("{} asked no language model and no agent's program, so it has no traces", folder.string()));
  out.flush();
  if (!out) return fail(Errc::io, fmt::format("cannot write {}", options.out.empty() ? "the traces" : options.out));
  return {};
}

}  // namespace kerf::cli
