#include "app/cli/environment.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <string_view>

#include "base/text.hpp"

extern char** environ;

namespace kerf::cli {
namespace {

bool is_relevant(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "NO_COLOR",
                                       "XDG_CACHE_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("KERF_") ||
         is_target_variable(name);
}

std::string value_of(const Environment& environment, const std::string& name) {
  const auto entry = environment.variables.find(name);
  return entry == environment.variables.end() ? "" : entry->second;
}

std::filesystem::path cache_folder(const Environment& environment) {
  if (const auto chosen = value_of(environment, "KERF_CACHE"); !chosen.empty())
    return std::filesystem::absolute(chosen);
  if (const auto base = value_of(environment, "XDG_CACHE_HOME"); base.starts_with('/'))
    return std::filesystem::path(base) / "kerf";
  if (const auto home = value_of(environment, "HOME"); home.starts_with('/'))
    return std::filesystem::path(home) / ".cache" / "kerf";
  // No home: a folder of our own among the temporary ones, never one that somebody else made.
  std::error_code error;
  auto base = std::filesystem::temp_directory_path(error) / ("kerf-" + std::to_string(geteuid()));
  if (error) return {};
  struct stat found{};
  const bool exists = lstat(base.c_str(), &found) == 0;
  if (exists && (found.st_uid != geteuid() || !S_ISDIR(found.st_mode) || (found.st_mode & 022) != 0))
    base += "-" + std::to_string(getpid());
  std::filesystem::create_directories(base, error);
  std::filesystem::permissions(base, std::filesystem::perms::owner_all, error);
  return base;
}

std::filesystem::path default_memory(const Environment& environment) {
  if (const auto chosen = value_of(environment, "KERF_MEMORY"); !chosen.empty())
    return chosen == "off" ? std::filesystem::path() : std::filesystem::absolute(chosen);
  if (const auto base = value_of(environment, "XDG_DATA_HOME"); base.starts_with('/'))
    return std::filesystem::path(base) / "kerf" / "memory.db";
  if (const auto home = value_of(environment, "HOME"); home.starts_with('/'))
    return std::filesystem::path(home) / ".local" / "share" / "kerf" / "memory.db";
  return {};
}

/// "kerf" where PATH leads to this program; else its path, from here if it is below.
std::string called_as(const Environment& environment) {
  std::error_code error;
  for (const std::string& folder : split(value_of(environment, "PATH"), ':'))
    if (!folder.empty() && std::filesystem::equivalent(std::filesystem::path(folder) / "kerf", environment.self, error))
      return "kerf";
  const auto relative = environment.self.lexically_relative(std::filesystem::current_path(error));
  if (error || relative.empty() || *relative.begin() == "..") return environment.self.string();
  return relative.has_parent_path() ? relative.string() : "./" + relative.string();
}

}  // namespace

Environment read_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.whole.emplace(text.substr(0, equals), text.substr(equals + 1));
    if (is_relevant(text.substr(0, equals)))
      environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::error_code error;
  environment.self = std::filesystem::read_symlink("/proc/self/exe", error);
  environment.called = called_as(environment);
  environment.cache = cache_folder(environment);
  environment.memory = default_memory(environment);
  environment.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  environment.err_is_terminal = isatty(STDERR_FILENO) == 1;
  return environment;
}

Style style_for(const Environment& environment, bool terminal) {
  std::string locale;
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = value_of(environment, name);
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool utf8 = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  const bool colour = value_of(environment, "NO_COLOR").empty() && value_of(environment, "TERM") != "dumb";
  return {terminal && colour, terminal && utf8, terminal ? static_cast<std::size_t>(terminal_columns()) : 0};
}

int terminal_columns() {
  constexpr int kUsual = 80;
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

TargetResources make_context(const Environment& environment, Sandbox& sandbox, int jobs) {
  TargetResources context;
  context.self = environment.self;
  context.cache = environment.cache;
  context.sandbox = &sandbox;
  context.compile_jobs = jobs;
  context.environment = environment.variables;
  std::random_device entropy;
  context.secret = (static_cast<std::uint64_t>(entropy()) << 32) | entropy();
  return context;
}

}  // namespace kerf::cli
