#pragma once
// A PyTorch module as a task. The model file runs in the user's Python, in a process of its own under limits on time
// and memory; what comes back is the text of a task file, the same that a person could write.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf::pytorch {

class BridgeServer;

/// Whether a task's path names a model file: it ends with ".py".
bool is_model_file(std::string_view path);

struct ImportRequest {
  std::filesystem::path file;
  std::map<std::string, std::string> environment;  ///< of the process: the user's own; KERF_PYTHON and PATH decide
  std::string target;           ///< "cuda": TF32 where PyTorch computes with it there; "": f32 for f32 models
  bool special_values = false;  ///< the task also tests with NaN, infinities and denormals
  std::chrono::milliseconds time_limit{std::chrono::minutes(5)};
  std::int64_t memory_bytes = 0;  ///< address space; 0: the machine's memory
};

/// An operator that the task language does not have.
struct UncoveredOperator {
  std::string name;    ///< as PyTorch calls it: "grid_sample"
  std::string module;  ///< path of the module that calls it; "": the model itself
  int line = 0;        ///< of the model file; 0: elsewhere
  int count = 0;
};

struct ImportedModel {
  std::string task;  ///< text of the task file
  std::string name;
  std::string python;                      ///< the program that was used
  std::string torch;                       ///< its version of PyTorch
  bool training = true;                    ///< whether the module was in training mode
  std::vector<std::string> dropped;        ///< parameters that cannot matter: a bias that the next norm takes away
  std::vector<std::string> notes;          ///< for people
  std::vector<UncoveredOperator> missing;  ///< these stay with PyTorch; empty: the task is the whole model
  double share = 1;                        ///< part of the model's arithmetic that the task has, estimated
  std::string record;                      ///< JSON: the file's text and how the task's buffers belong to the model;
                                           ///< what an export needs (docs/pytorch.md)
};

/// invalid_input: something is wrong with the file; the message begins with "FILE:LINE:" where the user can mend it and
/// ends with the user's lines that led there. unavailable: no Python with PyTorch was found.
Result<ImportedModel> import_model(const ImportRequest& request, Sandbox& sandbox);

/// The same by a server, which has imported PyTorch already; the request's environment is not looked at.
Result<ImportedModel> import_model(const ImportRequest& request, BridgeServer& server);

}  // namespace kerf::pytorch
