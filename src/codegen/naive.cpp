#include "codegen/naive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "codegen/buffer_plan.hpp"
#include "codegen/code.hpp"
#include "codegen/group_kernels.hpp"
#include "codegen/helpers.hpp"
#include "codegen/lowering.hpp"

namespace kerf::codegen {
namespace {

constexpr int kWorkGroup = 256;
static_assert(kWorkGroup == kGroupThreads);

/// One kernel as text, with what the rest of the file must know about it.
struct Kernel {
  std::string name;
  std::vector<int> reads;
  int writes = 0;
  Dim groups;  ///< work-groups
  std::string text;
  bool reads_partials = false, writes_partials = false;
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
      : plan_(plan), dialect_(dialect), options_(options) {
    while (plan_.names->contains(partials_)) partials_ += "_";
  }

  std::string write() {
    for (const KernelPlan& kernel_plan : plan_.kernels) {
      const GroupKernels together = group_kernels(plan_, kernel_plan, dialect_, options_, partials_);
      for (const GroupLaunch& launch : together.launches) add(kernel_plan, launch);
      partial_sums_ = std::max(partial_sums_, together.partials);
      if (together.launches.empty()) kernels_.push_back(kernel(kernel_plan));
    }
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

  std::string next_name() const { return fmt::format("{}_{}", options_.kernel_prefix, kernels_.size()); }

  void remember(const Uses& uses) {
    helpers_.insert(uses.helpers.begin(), uses.helpers.end());
    symbols_.insert(uses.symbols.begin(), uses.symbols.end());
  }

  std::string head(const Kernel& kernel, const ir::Node& node) const {
    std::vector<std::string> parameters;
    for (const int read : kernel.reads) parameters.push_back(parameter(dialect_, buffer(read), true));
    if (!kernel.writes_partials) parameters.push_back(parameter(dialect_, buffer(kernel.writes), false));
    if (kernel.reads_partials || kernel.writes_partials)
      parameters.push_back(
          fmt::format("{}{}* {}", dialect_.pointer_prefix, memory_type(dialect_, options_.compute), partials_));
    const std::string comment = node.origin.empty() ? "" : "// " + node.origin + "\n";
    return fmt::format("{}{} {}({}) {{\n", comment, dialect_.kernel_prefix, kernel.name, join(parameters, ", "));
  }

  void add(const KernelPlan& kernel_plan, const GroupLaunch& launch) {
    Kernel kernel;
    kernel.name = next_name();
    kernel.reads = launch.uses.buffers;
    kernel.writes = kernel_plan.buffer;
    kernel.groups = Dim(launch.groups);
    kernel.reads_partials = launch.reads_partials;
    kernel.writes_partials = launch.writes_partials;
    remember(launch.uses);
    kernel.text = head(kernel, plan_.graph[kernel_plan.node]) + launch.body + "}\n";
    kernels_.push_back(std::move(kernel));
  }

  Kernel kernel(const KernelPlan& kernel_plan) {
    const ir::Node& node = plan_.graph[kernel_plan.node];
    Kernel kernel;
    kernel.name = next_name();
    kernel.writes = kernel_plan.buffer;
    const Dim count = element_count(item_shape(node));
    kernel.groups = max(Dim(1), ceil_div(count, kWorkGroup));  // an empty launch is an error

    Uses uses;
    Code code(dialect_.host_entry ? 2 : 1, *plan_.names);
    Lowering lowering(plan_, dialect_, options_, code, uses);
    const std::string items = lowering.extent(count), item = code.fresh("g");
    const Index here = Index::of_linear(item);
    if (ir::is<ir::ScanAttr>(node) && !kernel_plan.copy) {
      lowering.scan_line(kernel_plan.node, lowering.axes_of(here, item_shape(node)), kernel_plan.buffer);
    } else {
      const std::string value =
          kernel_plan.copy ? lowering.value(kernel_plan.node, here) : lowering.compute(kernel_plan.node, here);
      lowering.store(kernel_plan.buffer, kernel_plan.node, here, value);
    }
    kernel.reads = uses.buffers;
    remember(uses);
    kernel.text = head(kernel, node);
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
    if (partial_sums_ > 0)
      text += fmt::format("scratch: {} = {}[{}]\n", partials_, dtype_name(options_.compute), partial_sums_);
    if (!dialect_.host_entry)
      for (const Kernel& kernel : kernels_) {
        std::vector<std::string> arguments;
        for (const int read : kernel.reads) arguments.push_back(buffer(read).name);
        if (!kernel.writes_partials) arguments.push_back(buffer(kernel.writes).name);
        if (kernel.reads_partials || kernel.writes_partials) arguments.push_back(partials_);
        text += fmt::format("launch: {}<<<{}, {}>>>({})\n", kernel.name, kernel.groups.to_string(), kWorkGroup,
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
  std::string partials_ = "partials";  // scratch for sums in pieces, one buffer for all
  std::int64_t partial_sums_ = 0;      // its elements
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
