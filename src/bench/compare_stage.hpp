#pragma once
// The last stage: the exported kernel beside eager PyTorch and torch.compile, and what that says about the problem.

#include "bench/parts.hpp"
#include "bench/prepared_comparisons.hpp"
#include "bench/real_parts.hpp"
#include "pytorch/bridge_server.hpp"
#include "pytorch/compare.hpp"

namespace kerf::bench {

/// Where the problem has failed before, PyTorch alone is timed.
StageEnd compare_stage(const RealPartsOptions& options, pytorch::BridgeServer& server, PreparedComparisons& prepared,
                       const Job& job, Record& record);

/// Begins it while the kernel is searched for; `job` is the search's.
void prepare_comparison(const RealPartsOptions& options, PreparedComparisons& prepared, const Job& job,
                        const Record& record);

/// Fills in the record; a kernel that did not run, or that is right neither by KernelBench's rule nor by its errors
/// against double precision, is a failure. `alone`: the kernel was PyTorch itself.
StageEnd settle_comparison(const pytorch::Comparison& comparison, bool alone, Record& record);

}  // namespace kerf::bench
