#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/commands.hpp"
#include "app/cli/output_path.hpp"
#include "base/one_line.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSample =
    R"toml(# A task for Kerf. docs/formats.md has every key, docs/expressions.md every function.
name = "@NAME@"
description = "Row softmax, scaled"     # one line, for people
# precision = "f32"                     # the accuracy class: f64, f32 (default), tf32, f16, bf16

[inputs]                                # in the order of the kernel's arguments: dtype[extents]
x = "f32[rows, cols]"                   # f32 f16 bf16 f64 i32 i64 bool; extents are shape symbols or expressions of them
scale = "f32[cols]"

[shapes]                                # every set is checked; sets with a weight are also timed
default = { rows = 1024, cols = 2048, weight = 1 }
tail    = { rows = 33,   cols = 521 }   # an odd one, so that kernels mind their edges
# large = { rows = 65536, cols = 4096, weight = 1, targets = ["cuda"] }

# [distributions]                       # how inputs are drawn; required for i32 and i64
# scale = "uniform(0.5, 1.5)"

[reference]                             # what is computed, in NumPy's words
expr = """
s = x * scale
m = max(s, axis=-1, keepdims=true)
e = exp(s - m)
y = e / sum(e, axis=-1, keepdims=true)
"""
outputs = ["y"]

# [baselines.mine]                      # a kernel of yours to compare with, beside the naive one
# kernel = "mine.cpp"
)toml";

}  // namespace

Status new_task(const NewOptions& options, const Environment&, Console& console) {
  const fs::path given(options.name);
  const fs::path file = given.extension() == ".toml" ? given : fs::path(options.name + ".toml");
  const std::string name = file.stem().string();
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  if (name.empty() || name.front() == '-' || !std::all_of(name.begin(), name.end(), fits))
    return fail(Errc::invalid_input,
                fmt::format("'{}' cannot be a task's name: use letters, digits, _ and -, and no - at the beginning",
                            one_line(name)));
  std::error_code error;
  if (fs::exists(file, error))
    return fail(Errc::invalid_input, fmt::format("{} exists; choose another name", file.string()));
  KERF_TRY_VOID(check_output({file, OutputKind::task}));
  std::string text = kSample;
  text.replace(text.find("@NAME@"), 6, name);
  KERF_TRY_VOID(parse_task(text, file.parent_path(), file.string()));  // what is written can be read
  KERF_TRY_VOID(write_output({file, OutputKind::task}, text));
  console.out << file.string() << "\n";
  console.err << paint(fmt::format("edit it, then: kerf check {0}\n               kerf optimize {0}\n", file.string()),
                       Colour::dim, console.err_style)
              << std::flush;
  console.out << std::flush;
  return {};
}

}  // namespace kerf::cli
