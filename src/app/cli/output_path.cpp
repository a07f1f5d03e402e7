#include "app/cli/output_path.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.hpp"
#include "export/export.hpp"
#include "report/html_report.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

auto refused(const fs::path& path, const std::string& why) {
  return fail(Errc::invalid_input, fmt::format("cannot write {}: {}; choose another place", path.string(), why));
}

/// Tries a file of its own in the nearest folder that is there: permissions alone do not tell (read-only or virtual
/// file systems, the superuser).
Status check_parent(const fs::path& path, fs::path folder) {
  std::error_code error;
  if (folder.empty()) folder = ".";
  const fs::path wanted = folder.lexically_normal();
  while (!fs::exists(fs::symlink_status(folder, error)) && folder.has_parent_path()) folder = folder.parent_path();
  if (!fs::exists(fs::symlink_status(folder, error))) folder = ".";  // the first part of a relative path
  if (!fs::is_directory(folder, error)) return refused(path, folder.string() + " is not a folder");
  if (folder == folder.root_path() && wanted != folder) {  // a slip rather than a wish
    const fs::path missing = folder / *std::next(wanted.begin());
    return refused(
        path, fmt::format("there is no folder {}, and none is made at the top of the file system", missing.string()));
  }
  std::string probe = (folder / ".kerf-probe-XXXXXX").string();
  const int file = ::mkstemp(probe.data());
  if (file < 0 && errno == ENOENT) return refused(path, fmt::format("no files can be made in {}", folder.string()));
  if (file < 0) return refused(path, fmt::format("{}: {}", folder.string(), std::strerror(errno)));
  ::close(file);
  ::unlink(probe.c_str());
  return {};
}

constexpr std::size_t kLookedAt = 1 << 20;  ///< bytes of a file that are read to know its kind

/// "" for what cannot be read.
std::string beginning_of(const fs::path& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary);
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

/// Exports of records begin with a line that says of what.
bool has_head(std::string_view text, const char* kind) {
  const auto head = nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, false);
  return head.is_object() && head.value("kind", nlohmann::json()) == kind;
}

/// Every line has all that is known of one exchange.
bool is_trace(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  for (const char* key : {"{\"schema\":", "\"run\":", "\"kerf_version\":", "\"step\":", "\"mind\":"})
    if (line.find(key) == std::string_view::npos) return false;
  return line.starts_with('{');
}

/// The command that writes files of this kind; "": files of this kind are the user's.
const char* command_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::exported_code: return "kerf export";
    case OutputKind::report: return "kerf report";
    case OutputKind::memory: return "kerf memory export";
    case OutputKind::skills: return "kerf skills export";
    case OutputKind::prompts: return "kerf prompts export";
    case OutputKind::traces: return "kerf traces export";
    case OutputKind::kernel:
    case OutputKind::task: return "";
  }
  return "";
}

bool is_of_kind(std::string_view text, OutputKind kind) {
  switch (kind) {
    case OutputKind::exported_code: return exporting::is_exported(text);
    case OutputKind::report: return report::is_html_report(text);
    case OutputKind::memory: return has_head(text, "kerf memory");
    case OutputKind::skills: return has_head(text, "kerf skills");
    case OutputKind::prompts: return has_head(text, "kerf prompts");
    case OutputKind::traces: return is_trace(text);
    case OutputKind::kernel:
    case OutputKind::task: return false;
  }
  return false;
}

/// Whether a run or a campaign keeps what it knows in a file of this name, there or not yet.
bool is_kept_by_a_run(const fs::path& path) {
  std::error_code error;
  const std::string name = path.filename().string(), stem = path.stem().string();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (fs::exists(folder / "campaign.json", error) && name == "campaign.json") return true;
  if (!fs::exists(folder / "kerf.db", error)) return false;
  const std::string extension = path.extension().string();
  const bool is_kernel = extension == ".cpp" || extension == ".cl" || extension == ".cu";
  return name.starts_with("kerf.") || name == "run.toml" || name == "events.jsonl" ||
         (is_kernel && (stem == "best" || stem == "naive"));
}

/// Where the bytes go: a link is followed when a file, or nothing, is at its end.
fs::path place_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const auto type = fs::status(path, error).type();
  if (type != fs::file_type::regular && type != fs::file_type::not_found) return path;
  fs::path end = path;
  for (int links = 0; fs::is_symlink(end, error) && links < 40; ++links) {
    const fs::path next = fs::read_symlink(end, error);
    if (error) return path;
    end = end.parent_path() / next;  // an absolute one replaces the folder
  }
  return end;
}

/// What would be lost.
Status check_loss(const fs::path& path, const OutputFile& file) {
  std::error_code error;
  for (const fs::path& input : file.inputs)
    if (!input.empty() && fs::equivalent(path, input, error)) return refused(file.path, "the command reads this file");
  if (is_kept_by_a_run(path)) return refused(file.path, "a run is kept in this file");
  if (!fs::is_regular_file(path, error)) return {};
  const auto size = fs::file_size(path, error);
  if (!error && size == 0) return {};
  const std::string command = command_of(file.kind);
  if (command.empty()) return refused(file.path, "the file exists, and may have been edited");
  if (is_of_kind(beginning_of(path, kLookedAt), file.kind)) return {};
  return fail(
      Errc::invalid_input,
      fmt::format("cannot write {}: the file exists and does not show that '{}' wrote it; choose another place, "
                  "or remove it first",
                  file.path.string(), command));
}

}  // namespace

Status check_output(const OutputFile& file) {
  if (file.path.empty()) return {};
  const fs::path path = place_of(file.path);
  KERF_TRY_VOID(check_output_file(path));
  return check_loss(path, file);
}

Status write_output(const OutputFile& file, std::string_view text) {
  if (file.path.empty()) return {};
  const fs::path path = place_of(file.path);
  std::error_code error;
  if (fs::is_regular_file(path, error) && fs::file_size(path, error) == text.size() && !error &&
      beginning_of(path, text.size()) == text)
    return {};
  KERF_TRY_VOID(check_output(file));
  return write_file_atomic(path, text);
}

Status check_output_file(const fs::path& path) {
  if (path.empty()) return {};
  std::error_code error;
  if (fs::is_directory(path, error) || !path.has_filename()) return refused(path, "it is a folder, not a file");
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {  // a device or pipe is written in place
    if (::access(path.c_str(), W_OK) == 0) return {};
    return refused(path, std::strerror(errno));
  }
  return check_parent(path, path.parent_path());
}

Status check_output_folder(const fs::path& path) {
  if (path.empty()) return {};
  return check_parent(path, path);
}

}  // namespace kerf::cli
