#include "verify/cpp_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rng.hpp"
#include "model/candidate.hpp"

namespace kerf {
namespace {

using Tensors = std::vector<ir::HostTensor>;

std::string c_type(DType dtype, const std::string& real) {
  switch (dtype) {
    case DType::i32: return "int";
    case DType::i64: return "long long";
    case DType::boolean: return "unsigned char";
    default: return real;
  }
}

/// Float tensors take the reference's type, the others stay as they are.
DType widened(DType dtype, DType real) { return is_float(dtype) ? real : dtype; }

ir::HostTensor converted(const ir::HostTensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  ir::HostTensor out = ir::make_tensor(dtype, tensor.shape);
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    store_element(dtype, out.bytes.data(), static_cast<std::size_t>(i),
                  load_element(tensor.dtype, tensor.bytes.data(), static_cast<std::size_t>(i)));
  return out;
}

class CppReferenceRunner final : public oracle::Reference {
 public:
  CppReferenceRunner(Task task, Language& language, Device& device)
      : task_(std::move(task)), language_(language), device_(device) {}

  Result<oracle::DataSet> expect(const ShapeSet& shape, Tensors inputs) const override {
    const std::lock_guard lock(mutex_);
    KERF_TRY(const Tensors exact, run(shape, inputs, DType::f64));
    oracle::DataSet data;
    KERF_TRY(data.bound, bounds(shape, inputs, exact));
    data.id = oracle::next_data_id();
    data.shape = shape.name;
    data.inputs = std::move(inputs);
    for (const auto& value : exact)
      data.expected.push_back(converted(value, is_float(value.dtype)           ? DType::f64
                                               : value.dtype == DType::boolean ? DType::boolean
                                                                               : DType::i64));
    data.nan_is_free = true;  // opaque code may select; NaN is not held against a candidate
    return data;
  }

 private:
  /// The reference compiled for one shape and type, loaded on buffers of its own.
  struct Prepared {
    std::unique_ptr<Bench> bench;
    KernelHandle handle = 0;
  };

  Result<Prepared*> prepare(const ShapeSet& shape, DType real) const {
    Prepared& prepared = prepared_[{shape.name, real}];
    if (prepared.bench) return &prepared;
    KERF_TRY(const Candidate candidate,
             parse_candidate(task_.cpp->path, cpp_reference_candidate(task_, real == DType::f64 ? "double" : "float")));
    CompileRequest request;
    request.source = candidate.source;
    request.constants = shape.symbols;
    request.arch = device_.facts().arch;
    KERF_TRY(const CompileOutcome outcome, language_.compile(request));
    if (const auto* failed = std::get_if<CompileFailed>(&outcome))
      return fail(Errc::invalid_input, "the reference " + task_.cpp->path + " does not compile:\n" + failed->log);
    ProblemLayout layout;
    const auto add = [&](const ir::TensorType& type, BufferRole role) -> Status {
      KERF_TRY(auto extents, evaluate(type.shape, shape.symbols));
      layout.buffers.push_back({type.name, widened(type.dtype, real), std::move(extents), role});
      return {};
    };
    for (const auto& input : task_.inputs) KERF_TRY_VOID(add(input, BufferRole::input));
    for (const auto& output : task_.outputs) KERF_TRY_VOID(add(output, BufferRole::output));
    KERF_TRY(auto bench, device_.open(layout));
    KERF_TRY(const auto loaded, bench->load(std::get<Artifact>(outcome), candidate.plan, shape.symbols));
    if (const auto* fault = std::get_if<Fault>(&loaded)) return reference_failed(fault->message);
    prepared.handle = std::get<KernelHandle>(loaded);
    prepared.bench = std::move(bench);
    return &prepared;
  }

  /// Outputs of the reference computed in `real` on `inputs`.
  Result<Tensors> run(const ShapeSet& shape, const Tensors& inputs, DType real) const {
    KERF_TRY(Prepared* const prepared, prepare(shape, real));
    oracle::DataSet data;
    data.id = oracle::next_data_id();
    data.shape = shape.name;
    for (const auto& input : inputs) data.inputs.push_back(converted(input, widened(input.dtype, real)));
    Bench& bench = *prepared->bench;
    KERF_TRY_VOID(bench.stage(0, data, Poison::a));
    const std::array<int, 1> slots{0};
    KERF_TRY(const RunOutcome ran, bench.run(prepared->handle, slots, std::chrono::minutes(2)));
    if (const auto* fault = std::get_if<Fault>(&ran)) {
      prepared->bench.reset();
      return reference_failed(fault->message);
    }
    Tensors outputs;
    for (std::size_t k = 0; k < task_.outputs.size(); ++k) {
      KERF_TRY(auto tensor, bench.read_output(0, static_cast<int>(k)));
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

  tl::unexpected<Error> reference_failed(const std::string& why) const {
    return fail(Errc::invalid_input, "the reference " + task_.cpp->path + " failed to run: " + why);
  }

  Result<Tensors> bounds(const ShapeSet& shape, const Tensors& inputs, const Tensors& exact) const {
    const ir::ErrorModel model = oracle::error_model(task_.precision);
    const double unit = std::max(model.rounding, model.operand);
    Tensors squares;  // sum over the draws of |change|^2
    for (const auto& value : exact) squares.push_back(ir::make_tensor(DType::f64, value.shape));
    Rng rng(0x5eed);
    for (int draw = 0; draw < kDraws; ++draw) {
      KERF_TRY(const Tensors moved, run(shape, perturbed(inputs, unit, rng), DType::f64));
      for (std::size_t k = 0; k < exact.size(); ++k) {
        if (!is_float(exact[k].dtype)) continue;
        for (std::int64_t i = 0; i < exact[k].elements(); ++i) {
          const double change = moved[k].as<double>()[i] - exact[k].as<double>()[i];
          if (std::isfinite(change)) squares[k].as<double>()[i] += change * change;
        }
      }
    }
    Tensors honest;
    if (task_.precision != Precision::f64) {
      KERF_TRY(honest, run(shape, inputs, DType::f32));
    }
    for (std::size_t k = 0; k < exact.size(); ++k) {
      if (!is_float(exact[k].dtype)) continue;  // integers are exact: bound 0
      double* bound = squares[k].as<double>();
      const double* value = exact[k].as<double>();
      const std::int64_t count = exact[k].elements();
      for (std::int64_t i = 0; i < count; ++i)
        bound[i] = 2 * unit * std::fabs(value[i]) + 2 * std::sqrt(bound[i] / kDraws) + model.tiny;
      if (honest.empty()) continue;
      std::vector<double> errors(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i)
        errors[static_cast<std::size_t>(i)] = std::fabs(static_cast<double>(honest[k].as<float>()[i]) - value[i]);
      widen_bounds(std::span(bound, errors.size()), errors);
    }
    return squares;
  }

  static Tensors perturbed(const Tensors& inputs, double unit, Rng& rng) {
    Tensors moved;
    for (const auto& input : inputs) {
      moved.push_back(converted(input, widened(input.dtype, DType::f64)));
      if (!is_float(input.dtype)) continue;
      for (std::int64_t i = 0; i < input.elements(); ++i)
        moved.back().as<double>()[i] *= 1 + (rng.chance(0.5) ? unit : -unit);
    }
    return moved;
  }

  static constexpr int kDraws = 8;

  Task task_;
  Language& language_;
  Device& device_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, DType>, Prepared> prepared_;  // guarded by mutex_
};

}  // namespace

void widen_bounds(std::span<double> bounds, std::span<const double> errors) {
  std::map<int, std::vector<double>> ratios;  // by the bound's size
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (std::isfinite(errors[i]) && bounds[i] > 0) ratios[std::ilogb(bounds[i])].push_back(errors[i] / bounds[i]);
  std::map<int, double> factors;
  for (auto& [size, of_size] : ratios) {
    const std::size_t at = of_size.size() - 1 - of_size.size() / 100;
    std::nth_element(of_size.begin(), of_size.begin() + static_cast<std::ptrdiff_t>(at), of_size.end());
    factors[size] = std::max(1.0, of_size[at]);
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!(bounds[i] > 0)) continue;
    const auto found = factors.find(std::ilogb(bounds[i]));
    const double widened = bounds[i] * (found == factors.end() ? 1 : found->second);
    bounds[i] = std::isfinite(errors[i]) ? std::max(widened, errors[i]) : widened;
  }
}

std::string cpp_reference_candidate(const Task& task, const std::string& real, const std::string& target) {
  std::vector<std::string> params, args;
  for (const auto& input : task.inputs) {
    params.push_back(fmt::format("const {}* {}", c_type(input.dtype, real), input.name));
    args.push_back(input.name);
  }
  for (const auto& output : task.outputs) {
    params.push_back(fmt::format("{}* {}", c_type(output.dtype, real), output.name));
    args.push_back(output.name);
  }
  return fmt::format(
      "/* kerf\n{}*/\n#line 1 \"{}\"\n{}\n\nextern \"C\" void kerf_kernel({}) {{\n  "
      "reference<{}>({});\n}}\n",
      target.empty() ? "" : fmt::format("target: {}\n", target), task.cpp->path, task.cpp->source,
      fmt::join(params, ", "), real, fmt::join(args, ", "));
}

Result<std::unique_ptr<oracle::Reference>> make_cpp_reference(const Task& task, Language& language, Device& device) {
  KERF_CHECK(task.cpp.has_value(), "a C++ reference needs a source");
  return std::make_unique<CppReferenceRunner>(task, language, device);
}

}  // namespace kerf
