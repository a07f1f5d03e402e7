#include <cstdio>
#include <exception>
#include <iostream>

#include "app/cli/cli.hpp"

int main(int argc, char** argv) {
  try {
    const kerf::cli::Environment environment = kerf::cli::read_environment();
    kerf::cli::Console console{std::cout, std::cerr, kerf::cli::style_for(environment, environment.out_is_terminal),
                               kerf::cli::style_for(environment, environment.err_is_terminal)};
    return kerf::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), environment, console);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kerf: error: a bug in kerf: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "kerf: error: a bug in kerf\n");
  }
  return kerf::cli::kEnvironment;
}
