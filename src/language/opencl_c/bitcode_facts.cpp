#include "language/opencl_c/bitcode_facts.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::opencl {
namespace {

// The C interface of LLVM, by name only: these functions have kept their signatures since LLVM 8.
using Ref = void*;
#define KERF_LLVM_FUNCTIONS(X)                                                               \
  X(Ref, LLVMContextCreate, ())                                                              \
  X(void, LLVMContextDispose, (Ref))                                                         \
  X(Ref, LLVMCreateMemoryBufferWithMemoryRangeCopy, (const char*, std::size_t, const char*)) \
  X(void, LLVMDisposeMemoryBuffer, (Ref))                                                    \
  X(int, LLVMParseBitcodeInContext2, (Ref, Ref, Ref*))                                       \
  X(void, LLVMDisposeModule, (Ref))                                                          \
  X(const char*, LLVMGetModuleInlineAsm, (Ref, std::size_t*))                                \
  X(Ref, LLVMGetFirstFunction, (Ref))                                                        \
  X(Ref, LLVMGetNextFunction, (Ref))                                                         \
  X(Ref, LLVMGetFirstGlobal, (Ref))                                                          \
  X(Ref, LLVMGetNextGlobal, (Ref))                                                           \
  X(Ref, LLVMGetFirstUse, (Ref))                                                             \
  X(int, LLVMIsDeclaration, (Ref))                                                           \
  X(int, LLVMIsGlobalConstant, (Ref))                                                        \
  X(int, LLVMIsUndef, (Ref))                                                                 \
  X(Ref, LLVMGetInitializer, (Ref))                                                          \
  X(const char*, LLVMGetValueName2, (Ref, std::size_t*))                                     \
  X(Ref, LLVMGetFirstBasicBlock, (Ref))                                                      \
  X(Ref, LLVMGetNextBasicBlock, (Ref))                                                       \
  X(Ref, LLVMGetFirstInstruction, (Ref))                                                     \
  X(Ref, LLVMGetNextInstruction, (Ref))                                                      \
  X(Ref, LLVMIsACallBase, (Ref))                                                             \
  X(Ref, LLVMIsACallInst, (Ref))                                                             \
  X(Ref, LLVMGetCalledValue, (Ref))                                                          \
  X(Ref, LLVMIsAInlineAsm, (Ref))                                                            \
  X(Ref, LLVMIsAFunction, (Ref))                                                             \
  X(Ref, LLVMIsAConstantExpr, (Ref))                                                         \
  X(Ref, LLVMGetOperand, (Ref, unsigned))                                                    \
  X(int, LLVMGetNumOperands, (Ref))                                                          \
  X(Ref, LLVMIsAIndirectBrInst, (Ref))                                                       \
  X(const char*, LLVMGetSection, (Ref))                                                      \
  X(Ref, LLVMGetFirstGlobalAlias, (Ref))                                                     \
  X(Ref, LLVMGetFirstGlobalIFunc, (Ref))                                                     \
  X(Ref, LLVMGlobalGetValueType, (Ref))                                                      \
  X(Ref, LLVMGetModuleDataLayout, (Ref))                                                     \
  X(unsigned long long, LLVMABISizeOfType, (Ref, Ref))

struct Llvm {
#define KERF_LLVM_MEMBER(result, name, arguments) result(*name) arguments = nullptr;
  KERF_LLVM_FUNCTIONS(KERF_LLVM_MEMBER)
#undef KERF_LLVM_MEMBER
};

/// Functions that older versions do not have, together with what they look for.
bool is_optional(std::string_view function) {
  return function == "LLVMIsACallBase" || function == "LLVMGetFirstGlobalIFunc";
}

std::optional<Llvm> loaded_llvm() {
  std::string path;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        const std::string_view name = info->dlpi_name;
        if (name.find("/libLLVM") == std::string_view::npos) return 0;
        *static_cast<std::string*>(into) = name;
        return 1;
      },
      &path);
  if (path.empty()) return std::nullopt;
  void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return std::nullopt;
  Llvm llvm;
  bool complete = true;
#define KERF_LLVM_LOAD(result, name, arguments)                               \
  llvm.name = reinterpret_cast<decltype(llvm.name)>(::dlsym(library, #name)); \
  complete = complete && (llvm.name != nullptr || is_optional(#name));
  KERF_LLVM_FUNCTIONS(KERF_LLVM_LOAD)
#undef KERF_LLVM_LOAD
  if (!complete) return std::nullopt;
  if (!llvm.LLVMIsACallBase) llvm.LLVMIsACallBase = llvm.LLVMIsACallInst;
  return llvm;
}

/// Arithmetic, memory and the compiler's own notes. What reads clocks, stacks or the processor's state, or jumps, is
/// not among them, and neither is what nobody has looked at yet.
bool is_allowed_intrinsic(std::string_view name) {
  static constexpr std::string_view kFamilies[] = {"abs.",
                                                   "smax.",
                                                   "smin.",
                                                   "umax.",
                                                   "umin.",
                                                   "fabs.",
                                                   "sqrt.",
                                                   "sin.",
                                                   "cos.",
                                                   "tan.",
                                                   "exp.",
                                                   "exp2.",
                                                   "exp10.",
                                                   "log.",
                                                   "log2.",
                                                   "log10.",
                                                   "pow.",
                                                   "powi.",
                                                   "ceil.",
                                                   "floor.",
                                                   "trunc.",
                                                   "rint.",
                                                   "nearbyint.",
                                                   "round.",
                                                   "roundeven.",
                                                   "lrint.",
                                                   "llrint.",
                                                   "lround.",
                                                   "llround.",
                                                   "copysign.",
                                                   "fma.",
                                                   "fmuladd.",
                                                   "maxnum.",
                                                   "minnum.",
                                                   "maximum.",
                                                   "minimum.",
                                                   "canonicalize.",
                                                   "ldexp.",
                                                   "frexp.",
                                                   "is.fpclass",
                                                   "ctpop.",
                                                   "ctlz.",
                                                   "cttz.",
                                                   "bswap.",
                                                   "bitreverse.",
                                                   "fshl.",
                                                   "fshr.",
                                                   "sadd.",
                                                   "uadd.",
                                                   "ssub.",
                                                   "usub.",
                                                   "smul.",
                                                   "umul.",
                                                   "sshl.",
                                                   "ushl.",
                                                   "convert.to.fp16",
                                                   "convert.from.fp16",
                                                   "memcpy.",
                                                   "memset.",
                                                   "memmove.",
                                                   "lifetime.",
                                                   "invariant.",
                                                   "masked.",
                                                   "vector.",
                                                   "experimental.vector.",
                                                   "experimental.constrained.",
                                                   "experimental.noalias.scope.decl",
                                                   "assume",
                                                   "expect.",
                                                   "is.constant.",
                                                   "objectsize.",
                                                   "prefetch",
                                                   "trap",
                                                   "donothing",
                                                   "sideeffect",
                                                   "stacksave",
                                                   "stackrestore",
                                                   "dbg.",
                                                   "annotation.",
                                                   "ptr.annotation.",
                                                   "var.annotation",
                                                   "x86.sse",
                                                   "x86.ssse3.",
                                                   "x86.avx",
                                                   "x86.fma",
                                                   "x86.bmi.",
                                                   "x86.vcvtps2ph.",
                                                   "x86.vcvtph2ps.",
                                                   "x86.f16c."};
  // Registers that keep their value from call to call.
  if (name == "x86.sse.ldmxcsr" || name == "x86.sse.stmxcsr") return false;
  return std::ranges::any_of(kFamilies, [&](std::string_view family) { return name.starts_with(family); });
}

/// What PoCL's work-group code supplies itself, and what every compiler may call for plain assignments and arithmetic.
bool is_allowed_function(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kAllowed{"pocl.barrier", "memcpy", "memset",
                                                            "memmove",      "memcmp", "__pocl_noop"};
  if (name.starts_with("llvm.")) return is_allowed_intrinsic(name.substr(5));
  return std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end();
}

bool is_allowed_variable(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kPrefixes{"_global_offset_", "_group_id_",   "_local_id_",
                                                             "_local_size_",    "_num_groups_", "_global_id_"};
  if (name == "_work_dim" || name == "_pocl_sub_group_size") return true;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

/// What a line of PTX declares: "counter" of ".global .align 4 .u32 counter;", "malloc" of ".func (.param .b64 r)
/// malloc".
std::string declared_name(std::string_view line) {
  if (line.starts_with(".func")) {
    const auto result = line.find(')');
    line.remove_prefix(result == std::string_view::npos ? 5 : result + 1);
  }
  line = trim(line.substr(0, line.find_first_of("[=;(")));
  const auto start = line.find_last_of(" \t");
  return std::string(start == std::string_view::npos ? line : line.substr(start + 1));
}

class Reading {
 public:
  Reading(const Llvm& llvm, Ref module) : llvm_(llvm), module_(module) {}

  StaticFacts facts() {
    std::size_t length = 0;
    llvm_.LLVMGetModuleInlineAsm(module_, &length);
    if (length > 0) forbidden_.insert("inline assembly");
    for (Ref f = llvm_.LLVMGetFirstFunction(module_); f; f = llvm_.LLVMGetNextFunction(f)) function(f);
    for (Ref g = llvm_.LLVMGetFirstGlobal(module_); g; g = llvm_.LLVMGetNextGlobal(g)) global(g);
    if (llvm_.LLVMGetFirstGlobalIFunc && llvm_.LLVMGetFirstGlobalIFunc(module_))
      facts_.constructors.emplace_back("a function that is resolved when it is loaded");
    if (llvm_.LLVMGetFirstGlobalAlias(module_)) forbidden_.insert("aliases of functions or variables");
    if (forbidden_.count("printf") != 0) {  // PoCL's printf calls these
      forbidden_.erase("snprintf");
      forbidden_.erase("write");
    }
    facts_.forbidden_symbols.assign(forbidden_.begin(), forbidden_.end());
    return facts_;
  }

 private:
  std::string name(Ref value) const {
    std::size_t length = 0;
    const char* text = llvm_.LLVMGetValueName2(value, &length);
    return {text, length};
  }

  void function(Ref value) {
    const std::string called = name(value);
    if (llvm_.LLVMIsDeclaration(value)) {
      if (llvm_.LLVMGetFirstUse(value) && !is_allowed_function(called)) forbidden_.insert(called);
      return;
    }
    section(value);
    if (called == "_cl_printf" || called == "printf" || called == "__pocl_printf") forbidden_.insert("printf");
    for (Ref block = llvm_.LLVMGetFirstBasicBlock(value); block; block = llvm_.LLVMGetNextBasicBlock(block)) {
      for (Ref i = llvm_.LLVMGetFirstInstruction(block); i; i = llvm_.LLVMGetNextInstruction(i)) {
        if (llvm_.LLVMIsACallBase(i)) call(llvm_.LLVMGetCalledValue(i));
        if (llvm_.LLVMIsAIndirectBrInst(i)) forbidden_.insert("jumps to computed addresses");
      }
    }
  }

  // Only functions of the program are called: a pointer could be an address in the driver or the C library.
  void call(Ref called) {
    if (llvm_.LLVMIsAInlineAsm(called)) {
      forbidden_.insert("inline assembly");
      return;
    }
    while (llvm_.LLVMIsAConstantExpr(called) && llvm_.LLVMGetNumOperands(called) == 1)
      called = llvm_.LLVMGetOperand(called, 0);
    if (!llvm_.LLVMIsAFunction(called)) forbidden_.insert("calls of function pointers");
  }

  // The driver links the program with a system linker, for which some sections are code to run at load time.
  void section(Ref value) {
    const char* const where = llvm_.LLVMGetSection(value);
    if (where != nullptr && *where != '\0' && !llvm_.LLVMIsDeclaration(value) &&
        !std::string_view(where).starts_with("llvm."))
      facts_.constructors.push_back(fmt::format("{} in section {}", name(value), where));
  }

  void global(Ref value) {
    const std::string called = name(value);
    section(value);
    if (called == "llvm.global_ctors" || called == "llvm.global_dtors") {
      facts_.constructors.push_back(called);
    } else if (llvm_.LLVMIsDeclaration(value)) {
      if (llvm_.LLVMGetFirstUse(value) && !is_allowed_variable(called)) {
        forbidden_.insert(called.starts_with("_printf_buffer") ? "printf" : called);
      }
    } else if (!llvm_.LLVMIsGlobalConstant(value) && !called.starts_with("llvm.")) {
      const auto size =
          llvm_.LLVMABISizeOfType(llvm_.LLVMGetModuleDataLayout(module_), llvm_.LLVMGlobalGetValueType(value));
      // Variables in local memory have an undefined initial value; PoCL turns them into arguments.
      if (llvm_.LLVMIsUndef(llvm_.LLVMGetInitializer(value))) {
        local(called.substr(0, called.find('.')), static_cast<std::int64_t>(size));
      } else {
        facts_.writable_globals.push_back(fmt::format("{} ({} bytes)", called, size));
      }
    }
  }

  void local(const std::string& kernel, std::int64_t bytes) {
    for (auto& known : facts_.kernels) {
      if (known.name != kernel) continue;
      known.shared_bytes += bytes;
      return;
    }
    facts_.kernels.emplace_back().name = kernel;
    facts_.kernels.back().shared_bytes = bytes;
  }

  const Llvm& llvm_;
  Ref module_;
  std::set<std::string> forbidden_;
  StaticFacts facts_;
};

}  // namespace

std::optional<StaticFacts> read_bitcode_facts(std::string_view bitcode) {
  if (!bitcode.starts_with("BC")) return std::nullopt;
  const auto llvm = loaded_llvm();
  if (!llvm) return std::nullopt;
  Ref context = llvm->LLVMContextCreate();
  Ref buffer = llvm->LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode.data(), bitcode.size(), "program");
  Ref module = nullptr;
  const bool failed = llvm->LLVMParseBitcodeInContext2(context, buffer, &module) != 0;
  llvm->LLVMDisposeMemoryBuffer(buffer);
  std::optional<StaticFacts> facts;
  if (!failed) {
    facts = Reading(*llvm, module).facts();
    llvm->LLVMDisposeModule(module);
  }
  llvm->LLVMContextDispose(context);
  return facts;
}

StaticFacts read_ptx_facts(std::string_view ptx) {
  StaticFacts facts;
  std::set<std::string> imported, defined;
  std::string function;                        // the one whose body or end is awaited
  for (const auto& line : split(ptx, '\n')) {  // declarations begin a line, instructions are indented
    std::string_view rest = line;
    const bool external = rest.starts_with(".extern ");
    for (const std::string_view linkage : {".visible ", ".extern ", ".weak "}) {
      if (rest.starts_with(linkage)) rest.remove_prefix(linkage.size());
    }
    const auto name = declared_name(rest);
    if (rest.starts_with(".func")) {
      function = name;
    } else if (external) {
      imported.insert(name);
    } else if (rest.starts_with(".global ") && !name.starts_with("__cudart_") && !name.starts_with("_$_str")) {
      // Tables of the mathematical functions and string literals lie there too.
      facts.writable_globals.push_back(name);
    }
    if (!function.empty() && rest.starts_with("{")) defined.insert(std::exchange(function, ""));
    if (!function.empty() && trim(rest).ends_with(";")) imported.insert(std::exchange(function, ""));
  }
  for (const auto& name : imported) {
    if (defined.count(name) == 0) facts.forbidden_symbols.push_back(name == "vprintf" ? "printf" : name);
  }
  return facts;
}

}  // namespace kerf::opencl
