#include "codegen/naive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "codegen/buffer_plan.hpp"
#include "codegen/code.hpp"
#include "codegen/helpers.hpp"
#include "codegen/lowering.hpp"

namespace kerf::codegen {
namespace {

constexpr int kWorkGroup = 256;

/// One kernel as text, with what the rest of the file must know about it.
struct Kernel {
  std::string name;
  std::vector<int> reads;
  int writes = 0;
  Dim items;  ///< work items
  std::string text;
};

std::string parameter(const DialectTraits& dialect, const Buffer& buffer, bool read_only) {
  return fmt::format("{}{}{}* {}", dialect.pointer_prefix, read_only ? "const " : "",
                     memory_type(dialect, buffer.dtype), buffer.parameter);
}

/// Extents that a kernel's work items run over: all of the node's, but for a scan its axis is walked by one item.
Shape item_shape(const ir::Node& node) {
  Shape shape = node.shape;
  if (ir::is<ir::ScanAttr>(node)) shape[static_cast<std::size_t>(ir::attr<ir::ScanAttr>(node).axis)] = 1;
  return shape;
}

class FileWriter {
 public:
  FileWriter(const BufferPlan& plan, const DialectTraits& dialect, const NaiveOptions& options)
      : plan_(plan), dialect_(dialect), options_(options) {}

  std::string write() {
    for (std::size_t k = 0; k < plan_.kernels.size(); ++k) kernels_.push_back(kernel(k));
    std::string text = options_.header ? header() : "";
    text += dialect_.prologue;
    if (uses_doubles()) text += dialect_.f64_prologue;
    text += fmt::format("typedef {} kerf_index;\n", dialect_.i64);
    for (const auto& symbol : symbols_)
      text += fmt::format("#define {} ((kerf_index){})\n", plan_.symbols.at(symbol), symbol);
    text += helper_definitions(helpers_, dialect_, options_);
    for (const Kernel& kernel : kernels_) text += "\n" + kernel.text;
    if (dialect_.host_entry) text += "\n" + entry();
    return text;
  }

 private:
  const Buffer& buffer(int id) const { return plan_.buffers[static_cast<std::size_t>(id)]; }

  Kernel kernel(std::size_t number) {
    const KernelPlan& kernel_plan = plan_.kernels[number];
    const ir::Node& node = plan_.graph[kernel_plan.node];
    Kernel kernel;
    kernel.name = fmt::format("{}_{}", options_.kernel_prefix, number);
    kernel.writes = kernel_plan.buffer;
    kernel.items = element_count(item_shape(node));

    Uses uses;
    Code code(dialect_.host_entry ? 2 : 1, plan_.names);
    Lowering lowering(plan_, dialect_, options_, code, uses);
    const std::string items = lowering.extent(kernel.items), item = code.fresh("g");
    const Index here = Index::of_linear(item);
    if (ir::is<ir::ScanAttr>(node) && !kernel_plan.copy) {
      lowering.scan_line(kernel_plan.node, lowering.axes_of(here, item_shape(node)), kernel_plan.buffer);
    } else {
      const std::string value =
          kernel_plan.copy ? lowering.value(kernel_plan.node, here) : lowering.compute(kernel_plan.node, here);
      lowering.store(kernel_plan.buffer, kernel_plan.node, here, value);
    }
    kernel.reads = uses.buffers;
    helpers_.insert(uses.helpers.begin(), uses.helpers.end());
    symbols_.insert(uses.symbols.begin(), uses.symbols.end());

    std::vector<std::string> parameters;
    for (const int read : kernel.reads) parameters.push_back(parameter(dialect_, buffer(read), true));
    parameters.push_back(parameter(dialect_, buffer(kernel.writes), false));
    const std::string comment = node.origin.empty() ? "" : "// " + node.origin + "\n";
    kernel.text = fmt::format("{}{} {}({}) {{\n", comment, dialect_.kernel_prefix, kernel.name, join(parameters, ", "));
    if (dialect_.host_entry) {
      if (options_.parallel) kernel.text += "#pragma omp parallel for\n";
      kernel.text +=
          fmt::format("  for (kerf_index {0} = 0; {0} < {1}; ++{0}) {{\n{2}  }}\n}}\n", item, items, code.text());
    } else {
      kernel.text += fmt::format("  const kerf_index {0} = {1};\n  if ({0} >= {2}) return;\n{3}}}\n", item,
                                 dialect_.work_item, items, code.text());
    }
    return kernel;
  }

  std::string header() const {
    std::string text = "/* kerf\n";
    if (!options_.target.empty()) text += fmt::format("target: {}\n", options_.target);
    for (const Buffer& buffer : plan_.buffers)
      if (buffer.role == BufferRole::scratch)
        text += fmt::format("scratch: {} = {}{}\n", buffer.name, dtype_name(buffer.dtype), to_string(buffer.shape));
    if (!dialect_.host_entry)
      for (const Kernel& kernel : kernels_) {
        std::vector<std::string> arguments;
        for (const int read : kernel.reads) arguments.push_back(buffer(read).name);
        arguments.push_back(buffer(kernel.writes).name);
        const Dim groups = max(Dim(1), ceil_div(kernel.items, kWorkGroup));  // an empty launch is an error
        text += fmt::format("launch: {}<<<{}, {}>>>({})\n", kernel.name, groups.to_string(), kWorkGroup,
                            join(arguments, ", "));
      }
    return text + "*/\n";
  }

  std::string entry() const {
    std::vector<std::string> parameters;
    for (const Buffer& buffer : plan_.buffers) {
      std::string text = parameter(dialect_, buffer, buffer.role == BufferRole::input);
      parameters.push_back("[[maybe_unused]] " + text);
    }
    std::string text = fmt::format("extern \"C\" void kerf_kernel({}) {{\n", join(parameters, ", "));
    for (const Kernel& kernel : kernels_) {
      std::vector<std::string> arguments;
      for (const int read : kernel.reads) arguments.push_back(buffer(read).parameter);
      arguments.push_back(buffer(kernel.writes).parameter);
      text += fmt::format("  {}({});\n", kernel.name, join(arguments, ", "));
    }
    return text + "}\n";
  }

  bool uses_doubles() const {
    return options_.compute == DType::f64 || std::any_of(plan_.buffers.begin(), plan_.buffers.end(),
                                                         [](const Buffer& b) { return b.dtype == DType::f64; });
  }

  const BufferPlan& plan_;
  const DialectTraits& dialect_;
  const NaiveOptions& options_;
  std::vector<Kernel> kernels_;
  std::set<std::string> helpers_, symbols_;
};

}  // namespace

Result<std::string> generate_naive(const ir::Graph& graph, const DialectTraits& dialect, const NaiveOptions& options) {
  if (options.compute != DType::f32 && options.compute != DType::f64)
    return fail(Errc::invalid_input,
                fmt::format("naive kernels compute in f32 or f64, not {}", dtype_name(options.compute)));
  KERF_TRY(const BufferPlan plan, make_buffer_plan(graph, options));
  return FileWriter(plan, dialect, options).write();
}

}  // namespace kerf::codegen
