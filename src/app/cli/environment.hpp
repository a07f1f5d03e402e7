#pragma once
// The outside world as Kerf sees it, gathered once. Nothing else in the program reads environment variables.

#include <filesystem>
#include <map>
#include <ostream>
#include <string>

#include "app/cli/render.hpp"
#include "target/target.hpp"

namespace kerf::cli {

struct Environment {
  std::map<std::string, std::string> variables;  ///< those Kerf and its tools care about
  std::map<std::string, std::string> whole;      ///< all of them, keys too: for programs that the user names only
  std::filesystem::path self;                    ///< this program's file
  std::string called = "kerf";                   ///< what a user types to start it, for commands that are suggested
  std::filesystem::path
      cache;  ///< KERF_CACHE, else $XDG_CACHE_HOME/kerf, else ~/.cache/kerf, else one among the temporary folders
  std::filesystem::path memory;  ///< KERF_MEMORY, else memory.db in $XDG_DATA_HOME/kerf or ~/.local/share/kerf; empty:
                                 ///< KERF_MEMORY is "off", or there is no home
  bool out_is_terminal = false;
  bool err_is_terminal = false;
};

Environment read_environment();

/// Colour and symbols for a stream: colour on terminals unless NO_COLOR is set or TERM is "dumb", symbols in UTF-8
/// locales.
Style style_for(const Environment& environment, bool terminal);

/// Columns of the terminal that progress is shown on, now; 80 when it does not say.
int terminal_columns();

/// Where a command writes. Results go to `out`, progress and errors to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  Style out_style;
  Style err_style;
};

TargetResources make_context(const Environment& environment, Sandbox& sandbox, int jobs);

}  // namespace kerf::cli
