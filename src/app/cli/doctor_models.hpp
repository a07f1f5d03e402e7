#pragma once
// What 'kerf doctor' says about language models: can they be asked here, and do the given ones answer?

#include <string>
#include <vector>

#include "app/cli/mind_options.hpp"
#include "base/result.hpp"

namespace kerf::cli {

struct ModelFinding {
  std::string model, base_url;
  bool answers = false;
  std::string words;  ///< how long it took, or why it does not answer
};

struct ModelSurvey {
  std::string library;  ///< "" when models can be asked; else what is missing and how to get it
  std::vector<ModelFinding> models;
};

/// Asks every given model one short question.
Result<ModelSurvey> survey_models(const MindOptions& options, const Environment& environment);

}  // namespace kerf::cli
