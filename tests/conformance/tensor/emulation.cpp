#include "emulation.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "base/test_paths.hpp"
#include "base/text.hpp"
#include "ir/tensor.hpp"

namespace kerf {
namespace {

constexpr const char* kInstructions[] = {
    "to_half",         "from_half",      "to_tf32",        "shared_address",  "copy_async",
    "copy_commit",     "copy_wait",      "load_matrices",  "multiply",        "barrier_init",
    "barrier_publish", "barrier_expect", "barrier_arrive", "barrier_wait",    "copy_bulk",
    "group_fence",     "group_commit",   "group_wait",     "group_wait_some", "group_multiply",
};

/// Replaces the first piece of text with these ends, which must be there.
Status replace_between(std::string& text, std::string_view from, std::string_view to, const std::string& by) {
  const auto begin = text.find(from);
  const auto end = begin == std::string::npos ? begin : text.find(to, begin);
  if (end == std::string::npos)
    return fail(Errc::invalid_input, fmt::format("the source has no '{}' ... '{}'", from, to));
  text.replace(begin, end + to.size() - begin, by);
  return {};
}

Result<std::int64_t> bytes_of(const ir::TensorType& type, const Bindings& constants) {
  KERF_TRY(const auto extents, evaluate(type.shape, constants));
  std::int64_t count = static_cast<std::int64_t>(dtype_size(type.dtype));
  for (const auto extent : extents) count *= extent;
  return count;
}

std::string element_type(DType dtype) { return dtype == DType::f32 ? "float" : "int"; }

/// Reads the inputs, poisons everything else, launches, and writes the outputs. Buffers have red zones behind them.
Result<std::string> main_function(const Task& task, const Candidate& candidate, const Bindings& constants) {
  std::string declare, read, write, check, launches;
  const auto add = [&](const ir::TensorType& type, std::string& io, const char* verb) -> Status {
    KERF_TRY(const auto bytes, bytes_of(type, constants));
    declare += fmt::format("  Buffer buffer_{0}({1});\n", type.name, bytes);
    if (verb != nullptr) io += fmt::format("  std::{2}(buffer_{0}.data(), 1, {1}, file);\n", type.name, bytes, verb);
    check += fmt::format("  buffer_{0}.check(\"{0}\");\n", type.name);
    return {};
  };
  std::map<std::string, DType> types;
  for (const auto& input : task.inputs) KERF_TRY_VOID(add(input, read, "fread"));
  for (const auto& output : task.outputs) KERF_TRY_VOID(add(output, write, "fwrite"));
  for (const auto& scratch : candidate.plan.scratch) KERF_TRY_VOID(add(scratch, read, nullptr));
  for (const auto* list : {&task.inputs, &task.outputs, &candidate.plan.scratch})
    for (const auto& type : *list) types[type.name] = type.dtype;
  for (const Launch& launch : candidate.plan.launches) {
    KERF_TRY(const auto grid, launch.grid.front().evaluate(constants));
    KERF_TRY(const auto threads, launch.block.front().evaluate(constants));
    KERF_TRY(const auto shared, launch.shared_bytes.evaluate(constants));
    std::vector<std::string> arguments;
    for (const auto& name : launch.args)
      arguments.push_back(fmt::format("reinterpret_cast<{}*>(buffer_{}.data())", element_type(types.at(name)), name));
    launches += fmt::format("  emulated::launch({}, {}, {}, [&] {{ {}({}); }});\n", grid, threads, shared,
                            launch.kernel, join(arguments, ", "));
  }
  return "int main(int, char** argv) {\n" + declare + "  std::FILE* file = std::fopen(argv[1], \"rb\");\n" + read +
         "  std::fclose(file);\n" + launches + check + "  file = std::fopen(argv[2], \"wb\");\n" + write +
         "  std::fclose(file);\n}\n";
}

constexpr const char* kBuffer = R"(
struct Buffer {
  std::size_t bytes;
  unsigned char* memory;
  explicit Buffer(std::size_t n) : bytes(n), memory(static_cast<unsigned char*>(std::aligned_alloc(256, (n + 511 + 256) / 256 * 256))) {
    std::memset(memory, 0xff, n + 256);
  }
  unsigned char* data() { return memory; }
  void check(const char* name) {
    for (std::size_t i = bytes; i < bytes + 256; ++i)
      if (memory[i] != 0xff) { std::printf("wrote behind %s\n", name); std::_Exit(4); }
  }
};
)";

/// Its output, or an error that ends with it.
Result<std::string> run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return fail(Errc::tool_failed, "cannot start " + command);
  std::string output;
  std::array<char, 4096> part;
  for (std::size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe)) > 0;) output.append(part.data(), n);
  if (pclose(pipe) != 0) return fail(Errc::tool_failed, fmt::format("{}:\n{}", command, output));
  return output;
}

}  // namespace

Result<std::filesystem::path> build_emulation(const Task& task, const Candidate& candidate, const ShapeSet& shape,
                                              const std::filesystem::path& folder) {
  std::string source = candidate.source;
  KERF_TRY_VOID(replace_between(source, "// ---- dialect", "// ---- task", ""));
  KERF_TRY_VOID(replace_between(source, "// --- instructions", "// --- end of instructions", ""));
  KERF_TRY_VOID(
      replace_between(source, "extern __shared__ ", "[];", "unsigned char* g0_dynamic = emulated::dynamic_shared();"));
  Bindings constants = shape.symbols;
  for (const Tunable& tunable : candidate.tunables) constants[tunable.name] = tunable.values.front();
  std::string text = "#include \"emulator_units.hpp\"\n";
  for (const auto& [name, value] : constants) text += fmt::format("constexpr int {} = {};\n", name, value);
  for (const char* name : kInstructions) text += fmt::format("#define g0_{0} emulated::{0}\n", name);
  KERF_TRY(const std::string entry, main_function(task, candidate, constants));
  std::filesystem::create_directories(folder);
  const auto file = folder / (candidate.id.substr(0, 16) + ".cpp"), program = folder / candidate.id.substr(0, 16);
  std::ofstream(file) << text << source << kBuffer << entry;
  KERF_TRY_VOID(run(fmt::format("c++ -std=c++20 -O1 -w -I{}/tests/conformance/tensor {} -o {}",
                                source_folder().string(), file.string(), program.string())));
  return program;
}

Result<std::vector<ir::HostTensor>> emulate(const Task& task, const ShapeSet& shape,
                                            const std::filesystem::path& program, const oracle::DataSet& data) {
  const std::string in = program.string() + ".in", out = program.string() + ".out";
  {
    std::ofstream file(in, std::ios::binary);
    for (const auto& input : data.inputs)
      file.write(reinterpret_cast<const char*>(input.bytes.data()), static_cast<std::streamsize>(input.bytes.size()));
  }
  KERF_TRY_VOID(run(fmt::format("{} {} {}", program.string(), in, out)));
  std::vector<ir::HostTensor> outputs;
  std::ifstream file(out, std::ios::binary);
  for (const auto& type : task.outputs) {
    KERF_TRY(auto extents, evaluate(type.shape, shape.symbols));
    ir::HostTensor output = ir::make_tensor(type.dtype, std::move(extents));
    file.read(reinterpret_cast<char*>(output.bytes.data()), static_cast<std::streamsize>(output.bytes.size()));
    outputs.push_back(std::move(output));
  }
  if (!file) return fail(Errc::io, "the emulation wrote too little");
  return outputs;
}

}  // namespace kerf
