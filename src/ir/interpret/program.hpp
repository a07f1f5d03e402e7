#pragma once
// A region: connected elementwise nodes, compiled to a short register program that is run block by block over the
// row-major positions of its results, so that nothing in between is written to memory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/interpret/index.hpp"
#include "ir/interpret/kernels.hpp"

namespace kerf::ir::eval {

/// What is known about a node once the shape symbols have values.
struct NodeFacts {
  Extents extents;
  std::int64_t count = 0;
  bool floating = false;             ///< lanes are doubles
  DType storage = DType::f64;        ///< of its buffer: f64, i64, bool; of an input: its own dtype
  std::optional<ConcreteView> view;  ///< of view nodes
  bool alias = false;  ///< reshape, or a view or cast that changes nothing: the argument's elements as they are
};

/// Reads `leaf` through an affine walk of the region's positions.
struct LoadAccess {
  int source = 0;  ///< index into Program::sources
  Walk walk;
};

/// Reads `leaf` through index maps that wrap around or fall outside.
struct GatherAccess {
  struct Axis {
    AffineAxis index;
    std::int64_t modulo = 0;  ///< 0: none
    std::int64_t extent = 0;
    std::int64_t stride = 0;  ///< of the source, in elements
  };
  int source = 0;
  Extents iteration;
  std::vector<Axis> axes;
  std::optional<double> fill;
};

struct Operation {
  enum class Kind { load, gather, iota, map, convert, store };
  Kind kind = Kind::map;
  MapOp op = MapOp::add;                     ///< map
  Conversion conversion = Conversion::none;  ///< convert
  bool floating = false;                     ///< class of map's operands, of the loaded or generated lanes
  int out = -1;                              ///< register
  int in[3] = {-1, -1, -1};                  ///< registers
  int detail = -1;                           ///< index into loads, gathers, iotas or stores
};

struct Program {
  struct Source {
    NodeId node;
    DType storage;
  };
  struct Store {
    NodeId node;
    DType storage;
  };
  /// A register whose lanes are the same in every block.
  struct Uniform {
    int reg;
    std::int64_t bits;
    int source;
    std::int64_t offset;
  };  ///< source -1: the bits themselves
  /// Where a register's lanes are: a scratch slot, or in place in a source or a result.
  struct Place {
    int slot = -1;
    int source = -1;
    std::int64_t offset = 0;
    int store = -1;
  };

  std::vector<Source> sources;
  std::vector<Store> stores;
  std::vector<LoadAccess> loads;
  std::vector<GatherAccess> gathers;
  std::vector<Walk> iotas;
  std::vector<Uniform> uniforms;
  std::vector<Operation> operations;
  std::vector<Place> places;  ///< per register
  std::vector<int> results;   ///< the registers asked for, in order
  int slots = 0;
  std::int64_t cost = 1;  ///< rough work per element, in cheap operations
};

/// Work of one element relative to an addition.
std::int64_t map_cost(MapOp op);

/// What a program has to compute: nodes written to memory, and values handed to reductions.
struct ProgramRequest {
  struct Operand {
    NodeId node;
    Conversion conversion = Conversion::none;
  };
  std::vector<NodeId> stores;
  std::vector<Operand> operands;  ///< Program::results has one register for each
};

/// `materialised[n]`: n's buffer exists, or is one of the stores. All nodes of a request have the same element count.
Program compile_program(const Graph& graph, const std::vector<NodeFacts>& facts, const std::vector<char>& materialised,
                        const ProgramRequest& request);

/// One thread's registers. The pointers must stay valid while it lives.
class ProgramRun {
 public:
  ProgramRun(const Program& program, std::span<const std::byte* const> sources, std::span<std::byte* const> stores);

  /// Computes positions [begin, begin + n), n <= kBlock.
  void run(std::int64_t begin, std::int64_t n);
  const void* result(std::size_t index) const;

 private:
  void execute(const Operation& operation, std::int64_t begin, std::int64_t n);

  const Program& program_;
  const Kernels& kernels_;
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> stores_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte*> registers_;  // sources are read-only: registers in place in a source are never written
};

}  // namespace kerf::ir::eval
