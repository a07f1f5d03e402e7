// make_run FOLDER [TARGET [STEPS [SEED [unfinished|slow]]]]: a run made up for tests, on disk.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "report/fixture_run.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_run FOLDER [TARGET [STEPS [SEED [unfinished|slow]]]]\n");
    return 2;
  }
  kerf::report::FixtureOptions options;
  if (argc > 2) options.target = argv[2];
  if (argc > 3) options.steps = std::atoi(argv[3]);
  if (argc > 4) options.seed = static_cast<std::uint64_t>(std::atoll(argv[4]));
  if (argc > 5 && std::string(argv[5]) == "unfinished") options.finished = false;
  if (argc > 5 && std::string(argv[5]) == "slow") options.speed = 0.09;
  const auto written = kerf::report::write_fixture_run(argv[1], options);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
