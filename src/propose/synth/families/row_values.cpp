#include "propose/synth/families/row_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace kerf::synth {
namespace {

using ir::ReduceOp;
using templates::List;
using templates::Record;
using templates::Value;

std::string flag(bool set) { return set ? "1" : "0"; }

/// Sums of truth values are "any", as everywhere in Kerf.
ReduceOp op_of(const RowResult& result) {
  if (result.dtype != DType::boolean) return result.op;
  if (result.op == ReduceOp::sum || result.op == ReduceOp::max) return ReduceOp::any;
  if (result.op == ReduceOp::prod || result.op == ReduceOp::min) return ReduceOp::all;
  return result.op;
}

std::string state_type(const RowResult& result) { return finds_index(result) ? result.term_type : result.type; }

std::string kind_of(const RowResult& result) {
  if (result.pair == Pair::moments) return "moments";
  if (result.pair == Pair::online) return "online";
  return finds_index(result) ? "find" : "value";
}

/// What is reduced, in the type that it is reduced in.
std::string term_of(const PassCode& pass, const RowResult& result) {
  const ReduceOp op = op_of(result);
  if (op == ReduceOp::any || op == ReduceOp::all) return fmt::format("({}) != 0", pass.term);
  return state_type(result) == result.term_type ? pass.term : fmt::format("({})({})", result.type, pass.term);
}

List list_of(const std::vector<RowValue>& values) {
  List list;
  for (const RowValue& value : values)
    list.emplace_back(Record{{"type", value.type}, {"name", value.name}, {"text", value.text}});
  return list;
}

List leaves_of(const PassCode& pass) {
  List list;
  for (const RowLeaf& leaf : pass.leaves)
    list.emplace_back(Record{{"type", leaf.type},
                             {"name", leaf.name},
                             {"hook", leaf.hook},
                             {"floats", flag(leaf.floats)},
                             {"pointer", leaf.pointer},
                             {"at", leaf.at}});
  return list;
}

/// The identifiers of what a pass computes per column.
std::set<std::string> used_by(const PassCode& pass) {
  std::string text = pass.term + " ";
  for (const auto* values : {&pass.values, &pass.saves})
    for (const RowValue& value : *values) text += value.name + " " + value.text + " ";
  return identifiers(text);
}

/// Which of the passes before `number` it needs the results of, directly or by values made from them.
std::vector<bool> needed_before(const RowCode& code, std::size_t number) {
  std::set<std::string> used = used_by(code.passes[number]);
  std::vector<bool> needed(number);
  for (std::size_t k = number; k-- > 0;) {
    needed[k] = used.contains(code.results[k].name) || used.contains(code.results[k].second);
    for (const RowValue& scalar : code.passes[k].scalars) needed[k] = needed[k] || used.contains(scalar.name);
    if (!needed[k]) continue;
    for (const RowValue& scalar : code.passes[k].scalars) used.merge(identifiers(scalar.text));  // all are computed
  }
  return needed;
}

/// What pass `number` uses of what is known before it, as parameters and arguments of a function.
void set_known(Record& record, const RowCode& code, std::size_t number) {
  const std::set<std::string> used = used_by(code.passes[number]);
  std::string parameters, arguments;
  const auto add = [&](const std::string& type, const std::string& name) {
    if (!used.contains(name)) return;
    parameters += fmt::format(", {} {}", type, name);
    arguments += ", " + name;
  };
  for (std::size_t k = 0; k < number && k < code.results.size(); ++k) {
    add(code.results[k].type, code.results[k].name);
    add(code.results[k].type, code.results[k].second);
  }
  for (const RowValue& scalar : code.before) add(scalar.type, scalar.name);
  for (std::size_t k = 0; k < number && k < code.passes.size(); ++k)
    for (const RowValue& scalar : code.passes[k].scalars) add(scalar.type, scalar.name);
  for (std::size_t s = 0; s < code.slot_types.size(); ++s)
    add(code.slot_types[s] + "* KERF_RESTRICT", fmt::format("kept{}", s));
  record["parameters"] = parameters;
  record["arguments"] = arguments;
}

Record pass_record(const RowCode& code, std::size_t number, const HookWriter& hooks) {
  const RowResult& result = code.results[number];
  const PassCode& pass = code.passes[number];
  Record record{{"kind", kind_of(result)},
                {"name", result.name},
                {"second", result.second},
                {"type", state_type(result)},
                {"result_type", result.type},
                {"identity", identity_text(result, hooks)},
                {"join", join_text(result)},
                {"sign", result.op == ReduceOp::argmin ? "<" : ">"},
                {"real", flag(is_float(result.term_dtype))},
                {"exp", codegen::math_function(hooks.dialect(), "exp", result.dtype)},
                {"leaves", leaves_of(pass)},
                {"values", list_of(pass.values)},
                {"term", term_of(pass, result)},
                {"saves", list_of(pass.saves)},
                {"scalars", list_of(pass.scalars)}};
  set_known(record, code, number);
  return record;
}

Record finish_record(const RowCode& code) {
  const PassCode& last = code.passes.back();
  Record record{{"leaves", leaves_of(last)}, {"term", last.term}};
  set_known(record, code, code.passes.size() - 1);
  return record;
}

Record out_record(const RowProgram& program, const Group& group, HookWriter& hooks) {
  const bool floats = program.per_element && program.fast_columns && stores_floats(group, hooks);
  return {{"type", hooks.type_name(group.root)},
          {"floats", flag(floats)},
          {"pointer", hooks.plan().buffers[static_cast<std::size_t>(group.buffer)].parameter},
          {"at", floats ? root_address(program, group, hooks) : ""}};
}

}  // namespace

bool stores_floats(const Group& group, const HookWriter& hooks) {
  return hooks.plan().buffers[static_cast<std::size_t>(group.buffer)].dtype == DType::f32 &&
         hooks.type_name(group.root) == "float";
}

Value row_record(const RowProgram& program, const Group& group, const RowStyle& style, const RowCode& code,
                 HookWriter& hooks) {
  List passes, earlier, slots, whole;
  std::vector<RowValue> scalars = code.before;
  for (std::size_t k = 0; k < code.results.size(); ++k) {
    Record pass = pass_record(code, k, hooks);
    Record plain = pass;
    const std::vector<bool> needed = needed_before(code, k);
    List own;
    for (std::size_t e = 0; e < k; ++e)
      if (needed[e]) own.push_back(earlier[e]);
    pass["earlier"] = std::move(own);
    earlier.emplace_back(std::move(plain));
    passes.emplace_back(std::move(pass));
    scalars.insert(scalars.end(), code.passes[k].scalars.begin(), code.passes[k].scalars.end());
  }
  for (std::size_t s = 0; s < code.slot_types.size(); ++s)
    slots.emplace_back(Record{{"type", code.slot_types[s]}, {"name", fmt::format("kept{}", s)}});
  if (hooks.dialect().host_entry)
    for (const std::string& pointer : code.whole)
      whole.emplace_back(Record{{"pointer", pointer}, {"at", code.whole_at}});
  return Record{{"passes", std::move(passes)},       {"whole", std::move(whole)},
                {"finish", finish_record(code)},     {"before", list_of(code.before)},
                {"scalars", list_of(scalars)},       {"slots", std::move(slots)},
                {"put", "$" + style.prefix + "put"}, {"out", out_record(program, group, hooks)}};
}

Value scan_record(const RowProgram& program, const Group& group, const RowStyle& style, const RowCode& code,
                  HookWriter& hooks) {
  return Record{{"before", list_of(code.before)},
                {"first", Record{{"leaves", leaves_of(code.passes[0])}, {"term", code.passes[0].term}}},
                {"finish", finish_record(code)},
                {"put", "$" + style.prefix + "put"},
                {"out", out_record(program, group, hooks)}};
}

void set_split_values(TemplateValues& values, const RowCode& code) {
  constexpr std::size_t kMostPasses = 3;  // the manifests have variants for 1, 2 and 3
  for (std::size_t k = 0; k < kMostPasses; ++k) {
    values.text[fmt::format("PASSES_{}", k + 1)] = flag(code.results.size() == k + 1);
    if (k >= code.results.size()) continue;
    const RowResult& result = code.results[k];
    const DType type = finds_index(result) ? result.term_dtype : result.dtype;
    values.text[fmt::format("TYPE_{}", k)] = type == DType::boolean ? "i32" : std::string(dtype_name(type));
  }
}

std::string join_text(const RowResult& result) {
  const bool real = is_float(result.dtype);
  switch (op_of(result)) {
    case ReduceOp::sum: return "a + b";
    case ReduceOp::prod: return "a * b";
    case ReduceOp::max: return real ? "kerf_max_nan(a, b)" : "kerf_max(a, b)";
    case ReduceOp::min: return real ? "kerf_min_nan(a, b)" : "kerf_min(a, b)";
    case ReduceOp::any: return "(a != 0) | (b != 0)";
    case ReduceOp::all: return "(a != 0) & (b != 0)";
    default: return "";
  }
}

bool finds_index(const RowResult& result) { return result.op == ReduceOp::argmax || result.op == ReduceOp::argmin; }

std::string identity_text(const RowResult& result, const HookWriter& hooks) {
  const ReduceOp op = op_of(result);
  const DType type = finds_index(result) ? result.term_dtype : result.dtype;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::any: return "0";
    case ReduceOp::prod:
    case ReduceOp::all: return "1";
    default: break;
  }
  const bool lowest = op == ReduceOp::max || op == ReduceOp::argmax;
  if (type == DType::boolean) return lowest ? "(-1)" : "2";
  if (is_float(type)) return lowest ? "(-KERF_INFINITY)" : "KERF_INFINITY";
  const auto suffix = hooks.dialect().i64_suffix;
  return lowest ? fmt::format("(-9223372036854775807{} - 1)", suffix) : fmt::format("9223372036854775807{}", suffix);
}

}  // namespace kerf::synth
