#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "app/cli/cli.hpp"

namespace {

/// As in `kerf show RUN | head -1`: whoever reads has seen enough.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/// Whoever starts kerf may have closed these; files of ours must not take their numbers, or words for the terminal
/// would be written into them.
void open_standard_streams() {
  int fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    const kerf::cli::Environment environment = kerf::cli::read_environment();
    kerf::cli::Console console{std::cout, std::cerr, kerf::cli::style_for(environment, environment.out_is_terminal),
                               kerf::cli::style_for(environment, environment.err_is_terminal)};
    const int code =
        kerf::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), environment, console);
    if (std::cout.flush() || reader_is_gone()) return code;
    std::fprintf(stderr, "kerf: error: not all of the output could be written (is the disk full?)\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kerf: error: a bug in kerf: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "kerf: error: a bug in kerf\n");
  }
  return kerf::cli::kEnvironment;
}
