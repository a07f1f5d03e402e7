#pragma once
// Makes data sets: inputs, what the outputs must be, and how far off an honest implementation may land.

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "ir/analysis/error_bound.hpp"
#include "model/task.hpp"
#include "oracle/dataset.hpp"
#include "oracle/inputs.hpp"

namespace kerf::oracle {

/// The task's semantics, executable in double precision.
class Reference {
 public:
  virtual ~Reference() = default;
  /// Outputs and bounds for the given inputs. Thread-safe.
  virtual Result<DataSet> expect(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const = 0;
  /// The outputs alone (DataSet::expected), which may take less. Thread-safe.
  virtual Result<std::vector<ir::HostTensor>> answer(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const;
  /// Bounds take errors for a random walk (ir::ErrorModel::walk), because the worst case says nothing.
  virtual bool errors_walk() const { return false; }
};

/// Of a task with an expression. Whether its errors walk is decided here, by the task alone: on `normal` inputs of the
/// smallest shape, for graphs that are deep enough (error_walk.hpp).
Result<std::unique_ptr<Reference>> make_graph_reference(const Task& task);

/// Draws inputs and lets the reference answer.
Result<DataSet> make_data(const Task& task, const Reference& reference, const ShapeSet& shape, const DataDraw& draw);

/// Unit round-offs of the task's accuracy class.
ir::ErrorModel error_model(Precision precision, bool walk = false);

/// True when the graph selects or compares: then a NaN may legitimately be dropped or kept, and elements whose expected
/// value is NaN are not compared.
bool nan_is_free(const ir::Graph& graph);

/// A fresh DataSet::id.
std::uint64_t next_data_id();

}  // namespace kerf::oracle
