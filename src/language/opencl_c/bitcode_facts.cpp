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
  X(Ref, LLVMGlobalGetValueType, (Ref))                                                      \
  X(Ref, LLVMGetModuleDataLayout, (Ref))                                                     \
  X(unsigned long long, LLVMABISizeOfType, (Ref, Ref))

struct Llvm {
#define KERF_LLVM_MEMBER(result, name, arguments) result(*name) arguments = nullptr;
  KERF_LLVM_FUNCTIONS(KERF_LLVM_MEMBER)
#undef KERF_LLVM_MEMBER
};

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
  complete = complete && (llvm.name != nullptr || std::string_view(#name) == "LLVMIsACallBase");
  KERF_LLVM_FUNCTIONS(KERF_LLVM_LOAD)
#undef KERF_LLVM_LOAD
  if (!complete) return std::nullopt;
  if (!llvm.LLVMIsACallBase) llvm.LLVMIsACallBase = llvm.LLVMIsACallInst;
  return llvm;
}

/// What PoCL's work-group code supplies itself, and what every compiler may call for plain assignments and arithmetic.
bool is_allowed_function(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kAllowed{"pocl.barrier", "memcpy", "memset",
                                                            "memmove",      "memcmp", "__pocl_noop"};
  return name.starts_with("llvm.") || std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end();
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
    if (called == "_cl_printf" || called == "printf" || called == "__pocl_printf") forbidden_.insert("printf");
    for (Ref block = llvm_.LLVMGetFirstBasicBlock(value); block; block = llvm_.LLVMGetNextBasicBlock(block)) {
      for (Ref i = llvm_.LLVMGetFirstInstruction(block); i; i = llvm_.LLVMGetNextInstruction(i)) {
        if (llvm_.LLVMIsACallBase(i) && llvm_.LLVMIsAInlineAsm(llvm_.LLVMGetCalledValue(i))) {
          forbidden_.insert("inline assembly");
        }
      }
    }
  }

  void global(Ref value) {
    const std::string called = name(value);
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
