#pragma once
// Nodes that are computed one at a time, from values in memory into memory that is already there.

#include <span>
#include <vector>

#include "base/result.hpp"
#include "ir/interpret/memory.hpp"

namespace kerf::ir::eval {

/// `index` is i64; x and out have the same storage.
void run_gather(const GatherAttr& gather, const Value& x, const Value& index, Value& out, int threads);
/// x is f64 or i64, out is i64.
void run_top(const TopAttr& top, const Value& x, Value& out, int threads);
void run_concat(int axis, std::span<const Value> args, Value& out, int threads);

// These four take lanes: x and out are both f64 or both i64.
void run_scan(const ScanAttr& scan, const Value& x, Value& out, int threads);
void run_pool(const PoolAttr& pool, const Value& x, Value& out, int threads);
void run_adaptive_pool(const AdaptivePoolAttr& pool, const Value& x, Value& out, int threads);

/// A value seen through an affine view: element i... is data[base + sum(strides * i)].
struct StridedValue {
  Value value;
  std::int64_t base = 0;
  Extents extents;
  Extents strides;
};

/// The storage of the operands may be any; `out` is f64 or i64.
Status run_contract(const ContractAttr& contract, const StridedValue& lhs, const StridedValue& rhs, Value& out,
                    Memory& memory, int threads);
Status run_conv(const ConvAttr& conv, const Value& x, const Value& w, Value& out, Memory& memory, int threads);

/// The same elements as f64 or i64 lanes: the value itself when it already is.
Result<Value> as_lanes(const Value& value, Memory& memory, int threads);

}  // namespace kerf::ir::eval
