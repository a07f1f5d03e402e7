#include "codegen/naive_cases.hpp"

#include <limits>

namespace kerf::codegen {
namespace {

using ir::MapOp;
using ir::NodeId;
using ir::ReduceOp;
using ir::ScanOp;

const Dim rows = Dim::symbol("rows"), cols = Dim::symbol("cols"), depth = Dim::symbol("depth");

NodeId matrix(SureBuilder& b, const std::string& name, DType dtype = DType::f32) {
  return b.input(name, dtype, {rows, cols});
}

/// One output per operator, of an input shifted into the operator's domain.
void unary(SureBuilder& b, const std::vector<MapOp>& ops, bool positive) {
  const NodeId x = matrix(b, "x");
  const NodeId argument = positive ? b.apply(MapOp::add, b.apply(MapOp::abs, x), b.constant(0.125, DType::f32)) : x;
  for (const MapOp op : ops) b.output(std::string(ir::map_op_name(op)), b.apply(op, argument));
}

void binary(SureBuilder& b, const std::vector<MapOp>& ops, DType dtype) {
  const NodeId x = matrix(b, "x", dtype), y = b.input("z", dtype, {cols});
  for (const MapOp op : ops) b.output(std::string(ir::map_op_name(op)), b.apply(op, x, y));
}

void reductions(SureBuilder& b, DType dtype, std::vector<int> axes, bool keepdims) {
  const NodeId x = b.input("x", dtype, {rows, cols, depth});
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min, ReduceOp::any, ReduceOp::all})
    b.output("r_" + std::string(ir::reduce_op_name(op)), b.sure(b.reduce(op, x, axes, keepdims)));
}

ir::ConvAttr window(std::size_t rank, std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  ir::ConvAttr attr;
  attr.stride.assign(rank, stride);
  attr.padding.assign(rank, padding);
  attr.dilation.assign(rank, dilation);
  attr.output_padding.assign(rank, 0);
  return attr;
}

void softmax(SureBuilder& b) {
  const NodeId x = matrix(b, "x");
  const NodeId shifted = b.apply(MapOp::sub, x, b.sure(b.reduce(ReduceOp::max, x, {1}, true)));
  const NodeId e = b.apply(MapOp::exp, shifted);
  b.output("y", b.apply(MapOp::div, e, b.sure(b.reduce(ReduceOp::sum, e, {1}, true))));
}

void views(SureBuilder& b) {
  const NodeId x = matrix(b, "x");
  b.output("transposed", b.sure(b.transpose(x, {1, 0})));
  b.output("flipped", b.view(x, {{{Dim(0), {{0, 1}}, {}}, {cols - 1, {{1, -1}}, {}}}, {}}, {rows, cols}));
  b.output("rolled", b.view(x, {{{Dim(-2), {{0, 1}}, rows}, {Dim(3), {{1, 1}}, cols}}, {}}, {rows, cols}));
  b.output("padded", b.view(x, {{{Dim(-1), {{0, 1}}, {}}, {Dim(-2), {{1, 1}}, {}}}, 7.5}, {rows + 3, cols + 2}));
  b.output("sliced", b.view(x, {{{Dim(1), {{0, 2}}, {}}, {Dim(2), {{1, 1}}, {}}}, {}}, {Dim(2), cols - 3}));
  b.output("diagonal", b.view(x, {{{Dim(0), {{0, 1}}, {}}, {Dim(0), {{0, 1}}, {}}}, {}}, {rows}));
  b.output("windows",
           b.view(x, {{{Dim(0), {{0, 1}}, {}}, {Dim(0), {{1, 1}, {2, 2}}, {}}}, {}}, {rows, cols - 4, Dim(3)}));
  b.output("stretched", b.sure(b.broadcast_to(b.sure(b.reshape(x, {rows, Dim(1), cols})), {rows, depth, cols})));
  b.output("flat", b.sure(b.reshape(b.sure(b.transpose(x, {1, 0})), {rows * cols})));
  b.output("infinite",
           b.view(x, {{{Dim(0), {{0, 1}}, {}}, {Dim(0), {{1, 1}}, {}}}, -std::numeric_limits<double>::infinity()},
                  {rows, cols + 1}));
}

void contractions(SureBuilder& b) {
  const NodeId x = matrix(b, "x"), w = b.input("w", DType::f32, {cols, depth});
  b.output("product", b.sure(b.matmul(x, w)));
  b.output("fused", b.sure(b.matmul(b.apply(MapOp::tanh, x), b.apply(MapOp::mul, w, b.constant(2, DType::f32)))));
  b.output("inner", b.sure(b.contract(x, x, {{0, 1}, {0, 1}, {}})));
  b.output("outer", b.sure(b.contract(x, w, {{0, 1}, {2, 3}, {3, 0, 2, 1}})));
  b.output("lone_sums", b.sure(b.contract(x, w, {{0, 1}, {2, 3}, {0}})));
  b.output("batched", b.sure(b.matmul(b.sure(b.reshape(x, {rows, Dim(1), cols})),
                                      b.sure(b.broadcast_to(w, {rows, cols, depth})))));
}

void convolutions(SureBuilder& b, bool transposed) {
  const NodeId x = b.input("x", DType::f32, {Dim(2), Dim(6), rows, cols});
  const auto conv = [&](const std::string& name, Shape weight, ir::ConvAttr attr) {
    attr.transposed = transposed;
    b.output(name, b.sure(b.conv(x, b.input("w_" + name, DType::f32, std::move(weight)), std::move(attr))));
  };
  const Dim out = 4, in = 6;
  conv("plain", transposed ? Shape{in, out, 3, 3} : Shape{out, in, 3, 3}, window(2, 1, 0, 1));
  ir::ConvAttr grouped = window(2, 2, 1, 1);
  grouped.groups = 2;
  if (transposed) grouped.output_padding = {1, 0};
  conv("grouped", transposed ? Shape{in, 2, 3, 2} : Shape{out, 3, 3, 2}, grouped);
  ir::ConvAttr depthwise = window(2, 1, 2, 2);
  depthwise.groups = 6;
  conv("depthwise", transposed ? Shape{in, 2, 3, 3} : Shape{12, 1, 3, 3}, depthwise);
  ir::ConvAttr skewed = window(2, 1, 0, 1);
  skewed.stride = {3, 2};
  skewed.padding = {0, 1};
  skewed.dilation = {1, 2};
  conv("skewed", transposed ? Shape{in, out, 1, 3} : Shape{out, in, 1, 3}, skewed);
}

void pooling(SureBuilder& b) {
  const NodeId x = b.input("x", DType::f32, {Dim(2), depth, rows, cols});
  for (const ir::PoolOp op : {ir::PoolOp::max, ir::PoolOp::sum}) {
    const std::string name = op == ir::PoolOp::max ? "max" : "sum";
    b.output(name + "_plain", b.sure(b.pool(x, {op, {2, 2}, {2, 2}, {0, 0}, {1, 1}}, false)));
    b.output(name + "_padded", b.sure(b.pool(x, {op, {3, 3}, {2, 1}, {1, 1}, {1, 1}}, true)));
    b.output(name + "_dilated", b.sure(b.pool(x, {op, {2, 3}, {1, 2}, {0, 1}, {2, 2}}, false)));
    b.output(name + "_adaptive", b.sure(b.adaptive_pool(op, x, {Dim(3), Dim(4)})));
    b.output(name + "_line", b.sure(b.pool(x, {op, {3}, {1}, {1}, {1}}, false)));
  }
}

void scans(SureBuilder& b, DType dtype) {
  const NodeId x = b.input("x", dtype, {rows, cols, depth});
  int number = 0;
  for (const ScanOp op : {ScanOp::sum, ScanOp::prod, ScanOp::max, ScanOp::min})
    for (const bool exclusive : {false, true}) {
      if (exclusive && op >= ScanOp::max && dtype != DType::f32) continue;  // integers have no infinity to start from
      b.output("s" + std::to_string(number), b.sure(b.scan({op, number % 3, exclusive, number % 2 == 1}, x)));
      ++number;
    }
}

/// Heavy nodes whose value is both an output of a narrow type and an input of other nodes; an output twice; an input
/// and a constant as outputs.
void shared(SureBuilder& b) {
  const NodeId x = matrix(b, "x", DType::f16), w = b.input("w", DType::f16, {cols, depth});
  const NodeId product = b.sure(b.matmul(x, w));
  b.output("product", product);
  b.output("again", product);
  b.output("squared", b.apply(MapOp::mul, product, product));
  b.output("copy", x);
  b.output("seven", b.constant(7, DType::f32));
  b.output("exp", b.apply(MapOp::exp, b.apply(MapOp::exp, x)));
  b.output("exp_sum", b.sure(b.reduce(ReduceOp::sum, b.apply(MapOp::exp, x), {}, false)));
}

void types(SureBuilder& b) {
  const NodeId h = matrix(b, "h", DType::f16), g = matrix(b, "g", DType::bf16), d = matrix(b, "d", DType::f64);
  const NodeId i = matrix(b, "i", DType::i32), l = matrix(b, "l", DType::i64), m = matrix(b, "m", DType::boolean);
  b.output("f16", b.apply(MapOp::add, h, b.constant(1, DType::f16)));
  b.output("bf16", b.apply(MapOp::mul, g, b.constant(3, DType::bf16)));
  b.output("mixed", b.apply(MapOp::sub, h, g));
  b.output("f64", b.apply(MapOp::mul, d, h));
  b.output("i32", b.apply(MapOp::mul, i, i));
  b.output("i64", b.apply(MapOp::add, i, l));
  b.output("bools", b.apply(MapOp::logical_and, m, b.apply(MapOp::less, i, l)));
  b.output("chosen", b.apply(MapOp::select, m, h, g));
  b.output("truncated", b.cast(b.apply(MapOp::mul, d, b.constant(10, DType::f64)), DType::i32));
  b.output("truth", b.cast(i, DType::boolean));
  b.output("counted", b.sure(b.reduce(ReduceOp::sum, m, {1}, false)));
  b.output("real", b.cast(l, DType::f32));
  b.output("from_bool", b.cast(m, DType::f16));
}

/// Names and symbols that must not capture each other in the generated code.
void names(SureBuilder& b) {
  const Dim g0 = Dim::symbol("g0"), in_x = Dim::symbol("in_x"), n = Dim::symbol("N_g0");
  const NodeId x = b.input("x", DType::f32, {g0, in_x, n});
  b.output("exp", b.apply(MapOp::exp, b.sure(b.transpose(x, {2, 0, 1}))));
  b.output("int", b.sure(b.reduce(ReduceOp::sum, b.input("float", DType::f32, {g0, in_x}), {0}, false)));
}

void mask(SureBuilder& b) {
  const NodeId x = b.input("x", DType::f32, {rows, rows});
  const NodeId lower =
      b.apply(MapOp::greater_equal, b.iota(0, {rows, rows}, DType::i64), b.iota(1, {rows, rows}, DType::i64));
  b.output("tril", b.apply(MapOp::select, lower, x, b.constant(0, DType::f32)));
  b.output("steps", b.apply(MapOp::mul, b.iota(1, {rows, cols}, DType::f32), b.constant(0.5, DType::f32)));
  b.output("masked",
           b.apply(MapOp::select, lower, x, b.constant(-std::numeric_limits<double>::infinity(), DType::f32)));
  b.output("nan", b.apply(MapOp::is_nan,
                          b.apply(MapOp::add, x, b.constant(std::numeric_limits<double>::quiet_NaN(), DType::f32))));
}

void joined(SureBuilder& b) {
  const NodeId x = matrix(b, "x"), y = b.input("y", DType::f32, {rows, depth}), z = matrix(b, "z", DType::i32);
  b.output("wide", b.sure(b.concat({x, y, z}, 1)));
  b.output("tall", b.sure(b.concat({b.apply(MapOp::sin, x), x}, 0)));
}

/// A chain long enough that it is cut into several kernels.
void chain(SureBuilder& b) {
  NodeId x = matrix(b, "x");
  for (int i = 0; i < 30; ++i) {
    const NodeId t = b.apply(i % 2 == 0 ? MapOp::tanh : MapOp::sin, x);
    x = b.apply(MapOp::add, t, b.apply(MapOp::mul, x, b.constant(0.25, DType::f32)));
  }
  b.output("y", x);
}

/// The operators of ir/map_ops.def that `wanted` accepts; `cast` and `select` have cases of their own.
std::vector<MapOp> operators(const std::function<bool(const ir::MapOpFacts&)>& wanted) {
  std::vector<MapOp> ops;
  for (const MapOp op : ir::all_map_ops())
    if (!ir::facts_of(op).c.empty() && wanted(ir::facts_of(op))) ops.push_back(op);
  return ops;
}

void chosen(SureBuilder& b) {
  const NodeId x = matrix(b, "x"), i = b.input("i", DType::i64, {rows, cols});
  const NodeId place = b.apply(MapOp::remainder, i, b.constant(3, DType::i64));
  b.output("lines", b.sure(b.gather(x, place, 0)));
  b.output("columns", b.sure(b.gather(b.apply(MapOp::exp, x), place, 1)));
  b.output("row", b.sure(b.gather(x, b.sure(b.reduce(ReduceOp::argmax, x, {1}, true)), 1)));
  b.output("outside", b.sure(b.gather(x, i, 1)));
  for (const bool largest : {true, false}) {
    const std::string name = largest ? "largest" : "smallest";
    b.output(name, b.sure(b.top(x, 1, 3, largest)));
    b.output(name + "_of_lines", b.sure(b.top(i, 0, 2, largest)));
  }
}

std::vector<GraphCase> make_cases() {
  using ir::Arguments;
  const auto smooth = operators([](const ir::MapOpFacts& f) {
    return f.arity == 1 && f.domain == ir::Domain::all && f.arguments != Arguments::bools;
  });
  const auto roots = operators([](const ir::MapOpFacts& f) { return f.domain == ir::Domain::positive; });
  const auto real = operators([](const ir::MapOpFacts& f) {
    return f.arity == 2 && f.arguments != Arguments::bools && f.bound != ir::BoundRule::power;  // powers are below
  });
  const std::vector<MapOp> whole{MapOp::add,     MapOp::sub,     MapOp::mul,  MapOp::div,
                                 MapOp::minimum, MapOp::maximum, MapOp::less, MapOp::equal};
  const std::vector<MapOp> logic{MapOp::logical_and, MapOp::logical_or, MapOp::logical_xor, MapOp::minimum};
  const Bindings empty{{"rows", 0}, {"cols", 7}, {"depth", 3}};
  return {
      {"unary", [=](SureBuilder& b) { unary(b, smooth, false); }},
      {"unary_positive", [=](SureBuilder& b) { unary(b, roots, true); }},
      {"unary_integer",
       [](SureBuilder& b) {
         const NodeId x = matrix(b, "x", DType::i32);
         for (const MapOp op : {MapOp::neg, MapOp::abs, MapOp::sign})
           b.output(std::string(ir::map_op_name(op)), b.apply(op, x));
       }},
      {"binary_real", [=](SureBuilder& b) { binary(b, real, DType::f32); }},
      {"binary_integer", [=](SureBuilder& b) { binary(b, whole, DType::i64); }},
      {"binary_logic",
       [=](SureBuilder& b) {
         binary(b, logic, DType::boolean);
         b.output("not", b.apply(MapOp::logical_not, matrix(b, "q", DType::boolean)));
       }},
      {"powers",
       [](SureBuilder& b) {
         const NodeId x = b.apply(MapOp::abs, matrix(b, "x"));
         b.output("real", b.apply(MapOp::pow, x, b.input("p", DType::f32, {rows, Dim(1)})));
         b.output("cube", b.apply(MapOp::pow, matrix(b, "i", DType::i32), b.constant(3, DType::i32)));
       }},
      {"integer_division",
       [](SureBuilder& b) {
         const NodeId x = matrix(b, "x", DType::i32);
         for (const double divisor : {3.0, -4.0}) {
           const std::string suffix = divisor > 0 ? "_up" : "_down";
           const NodeId by = b.constant(divisor, DType::i32);
           b.output("floor_div" + suffix, b.apply(MapOp::floor_div, x, by));
           b.output("remainder" + suffix, b.apply(MapOp::remainder, x, by));
         }
       }},
      {"softmax", softmax},
      {"views", views},
      {"mask", mask},
      {"joined", joined},
      {"chosen", chosen},
      {"reduce_last", [](SureBuilder& b) { reductions(b, DType::f32, {2}, false); }},
      {"reduce_middle", [](SureBuilder& b) { reductions(b, DType::f32, {1}, true); }},
      {"reduce_two", [](SureBuilder& b) { reductions(b, DType::f32, {0, 2}, false); }},
      {"reduce_all_kept", [](SureBuilder& b) { reductions(b, DType::f32, {}, true); }},
      {"reduce_integers", [](SureBuilder& b) { reductions(b, DType::i64, {1, 2}, false); }},
      {"reduce_long",
       [](SureBuilder& b) {
         const NodeId x = b.input("x", DType::f32, {rows, Dim(300) * cols});
         b.output("y", b.sure(b.reduce(ReduceOp::sum, x, {1}, false)));
       }},
      {"arguments",
       [](SureBuilder& b) {
         const NodeId x = b.input("x", DType::f32, {rows, cols, depth}), i = b.input("i", DType::i32, {rows, cols});
         b.output("argmax", b.sure(b.reduce(ReduceOp::argmax, x, {1}, false)));
         b.output("argmin", b.sure(b.reduce(ReduceOp::argmin, x, {2}, true)));
         b.output("anywhere", b.sure(b.reduce(ReduceOp::argmax, x, {}, false)));
         b.output("tied", b.sure(b.reduce(ReduceOp::argmin, i, {0}, false)));
       }},
      {"scans", [](SureBuilder& b) { scans(b, DType::f32); }},
      {"scans_integer", [](SureBuilder& b) { scans(b, DType::i64); }},
      {"contractions", contractions},
      {"contraction_integer",
       [](SureBuilder& b) {
         b.output("y", b.sure(b.matmul(matrix(b, "x", DType::i32), b.input("w", DType::i32, {cols, depth}))));
       }},
      {"contraction_deep",
       [](SureBuilder& b) {
         b.output("y", b.sure(b.matmul(b.input("x", DType::f32, {rows, Dim(200) * cols}),
                                       b.input("w", DType::f32, {Dim(200) * cols, depth}))));
       }},
      {"convolutions", [](SureBuilder& b) { convolutions(b, false); }},
      {"convolutions_transposed", [](SureBuilder& b) { convolutions(b, true); }},
      {"convolution_1d",
       [](SureBuilder& b) {
         b.output("y", b.sure(b.conv(b.input("x", DType::f32, {rows, depth, cols}),
                                     b.input("w", DType::f32, {Dim(2), depth, Dim(3)}), window(1, 2, 1, 1))));
       }},
      {"convolution_3d",
       [](SureBuilder& b) {
         ir::ConvAttr attr = window(3, 2, 1, 1);
         attr.transposed = true;
         b.output("y", b.sure(b.conv(b.input("x", DType::f32, {Dim(1), Dim(2), depth, rows, cols}),
                                     b.input("w", DType::f32, {Dim(2), Dim(3), Dim(3), Dim(2), Dim(3)}), attr)));
       }},
      {"pooling", pooling},
      {"shared", shared},
      {"types", types},
      {"names", names, {{"g0", 3}, {"in_x", 4}, {"N_g0", 5}}},
      {"chain", chain},
      {"empty_elementwise", [=](SureBuilder& b) { unary(b, smooth, false); }, empty},
      {"empty_sum",
       [](SureBuilder& b) {
         const NodeId x = matrix(b, "x");
         b.output("columns", b.sure(b.reduce(ReduceOp::sum, x, {0}, false)));
         b.output("products", b.sure(b.reduce(ReduceOp::prod, x, {0}, false)));
         b.output("nothing", b.sure(b.scan({ScanOp::sum, 1, false, false}, x)));
         b.output("empty_inner", b.sure(b.matmul(b.sure(b.transpose(x, {1, 0})), x)));
       },
       empty},
  };
}

}  // namespace

const std::vector<GraphCase>& graph_cases() {
  static const std::vector<GraphCase> cases = make_cases();
  return cases;
}

ir::Graph build_case(const GraphCase& test_case) {
  SureBuilder builder({test_case.symbols});
  test_case.build(builder);
  return builder.take();
}

}  // namespace kerf::codegen
