#include "search/search_settings.hpp"

namespace kerf {
namespace {

Setting<SearchOptions> entry(SettingFacts facts, auto field) { return setting<SearchOptions>(std::move(facts), field); }

}  // namespace

const std::vector<Setting<SearchOptions>>& search_settings() {
  static const std::vector<Setting<SearchOptions>> all = {
      entry({"search.patience", "evaluations", 0, 1e9, false,
             "stop after this many without an improvement beyond the noise; 0: never"},
            [](auto& o) -> auto& { return o.patience; }),
      entry({"search.starts", "kernels", 0, 1e6, false, "first guesses before the best are changed, at most"},
            [](auto& o) -> auto& { return o.starts; }),
      entry({"search.start_share", "share of 1", 0, 1, false, "their share of the evaluations, at most"},
            [](auto& o) -> auto& { return o.start_share; }),
      entry({"search.remembered", "kernels", 0, 1000, false,
             "kernels of similar tasks that are tried first, from the memory; 0: none"},
            [](auto& o) -> auto& { return o.remembered; }),
      entry({"search.tunings", "times", 0, 1000, false, "how often the best kernel's tunables are searched"},
            [](auto& o) -> auto& { return o.tunings; }),
      entry({"search.tune_share", "share of 1", 0, 1, false, "of the evaluations that are left, for each of these"},
            [](auto& o) -> auto& { return o.tune_share; }),
      entry({"search.finalists", "kernels", 0, 1000, false, "kernels that are measured again at the end"},
            [](auto& o) -> auto& { return o.finalists; }),
      entry({"search.floor_fraction", "share of 1", 0, 1e9, false,
             "stop at this share of the speed of light (above 1: never for this reason)"},
            [](auto& o) -> auto& { return o.floor_fraction; }),
      entry({"search.at_once", "kernels", 1, 1000, false,
             "proposals that are compiled side by side; 1 becomes 4 on devices that leave the cores free"},
            [](auto& o) -> auto& { return o.at_once; }),
      entry({"search.counters", "0 or 1", 0, 1, false,
             "read the machine's counters of kernels that models and programs are asked to make faster"},
            [](auto& o) -> auto& { return o.counters; }),
      entry({"search.keep", "kernels", 1, 1000, false, "kernels kept in one cell of the archive"},
            [](auto& o) -> auto& { return o.archive.keep; }),
  };
  return all;
}

ArchiveOptions archive_options(const SearchOptions& options) {
  return options.search == "published" ? ArchiveOptions{1, false} : options.archive;
}

}  // namespace kerf
