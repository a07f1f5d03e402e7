#include "propose/agents/prompt.hpp"

#include <gtest/gtest.h>

#include "propose/agents/feedback.hpp"

namespace kerf::agents {
namespace {

AgentTask make_task() {
  return {"rowsum",
          "name = \"rowsum\"\n[inputs]\nx = \"f32[rows, cols]\"",
          "cpu",
          ".cpp",
          "cpp",
          true,
          "extern \"C\" void kerf_kernel(const float* x, float* y)",
          {"8 cores", "L2 1 MiB"},
          "int naive = $1;"};
}

KernelRecord failed(Outcome outcome) {
  KernelRecord record;
  record.step = 7;
  record.source = "/* kerf */ int broken;";
  record.evaluation.outcome = std::move(outcome);
  return record;
}

KernelRecord measured() {
  KernelRecord record;
  record.step = 3;
  record.source = "/* kerf */ int good;";
  Measurement measurement;
  measurement.speedup = {"naive", 3.5, 3.2, 3.8};
  measurement.shapes.push_back(
      {"default", 1, {120, 110, 130, 30}, {}, {{"naive", {"naive", 3.5, 3.2, 3.8}}}, SpeedOfLight{60, 0.5, "memory"}});
  record.evaluation.outcome = measurement;
  return record;
}

const std::string& question(const Prompt& prompt) { return prompt.messages.back().content; }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Prompt, ADraftHoldsTaskFactsFormatAndExample) {
  const Prompt prompt = draft_prompt(make_task(), {}, {}).value();
  ASSERT_EQ(prompt.messages.size(), 2u);
  EXPECT_EQ(prompt.messages[0].role, "system");
  for (const char* part :
       {"f32[rows, cols]", "- 8 cores", "target: cpu", "kerf_kernel(const float* x, float* y)", "int naive = $1;"})
    EXPECT_TRUE(has(question(prompt), part)) << part;
  EXPECT_FALSE(has(question(prompt), "launch:  "));
  EXPECT_FALSE(has(question(prompt), "SEARCH"));  // there is nothing to edit
  EXPECT_TRUE(prompt.id.starts_with("draft-"));
}

TEST(Prompt, LanguagesWithLaunchesAreToldOfThem) {
  AgentTask task = make_task();
  task.host_entry = false;
  EXPECT_TRUE(has(question(draft_prompt(task, {}, {}).value()), "launch:  kernel_name<<<"));
}

TEST(Prompt, DraftsAfterTheFirstArePushedApart) {
  ProposalRequest first, second, third;
  first.operation = second.operation = third.operation = kStartOperation;
  second.start_number = 1;
  third.start_number = 2;
  const std::string a = question(draft_prompt(make_task(), first, {}).value());
  const std::string b = question(draft_prompt(make_task(), second, {}).value());
  const std::string c = question(draft_prompt(make_task(), third, {}).value());
  EXPECT_NE(a, b);
  EXPECT_NE(b, c);
}

TEST(Prompt, RefiningSaysWhatBoundsTheKernelAndWhichValuesWereTimed) {
  ProposalRequest request;
  request.parent = measured();
  request.parent->timed = {{{{"BLOCK", 64}}, 110.5}, {{{"BLOCK", 32}}, 130}};
  request.parent->cell = {1, 1, 1};
  const std::string text = question(refine_prompt(make_task(), request, {}).value());
  EXPECT_TRUE(has(text, "- BLOCK=64: 110.5 us\n- BLOCK=32: 130 us"));
  EXPECT_TRUE(has(text, "Latency bound by the cost model: it reaches only 50 % of what memory allows"));
  request.parent->cell = {1, 1, 0};
  EXPECT_TRUE(has(question(refine_prompt(make_task(), request, {}).value()), "Occupancy bound"));
  std::get<Measurement>(request.parent->evaluation.outcome).shapes[0].speed_of_light->fraction = 0.8;
  EXPECT_TRUE(has(question(refine_prompt(make_task(), request, {}).value()),
                  "Memory bound by the cost model: it reaches 80 %"));
}

TEST(Prompt, SectionsOfAVariantTakeTheSeedsPlaceAsTheyAre) {
  PromptVariant variant;
  variant.id = "p1234567";
  variant.sections = {
      {"philosophy", "%if $x"}, {"strategies", "USE $TILES"}, {"pitfalls", "none"}, {"analysis", "look"}};
  PromptOptions options;
  options.variant = &variant;
  const Prompt prompt = draft_prompt(make_task(), {}, options).value();
  EXPECT_TRUE(prompt.id.ends_with("-p1234567"));
  EXPECT_TRUE(has(question(prompt), "USE $TILES"));
  EXPECT_TRUE(has(prompt.messages[0].content, "%if $x"));
  EXPECT_FALSE(has(question(prompt), "Things that often help"));
}

TEST(Prompt, RefiningShowsTheKernelItsFiguresAndWhatFailed) {
  ProposalRequest request;
  request.parent = measured();
  request.direction = Direction{0, 1};
  request.failures = {failed(BuildFailed{"tail", "x.cpp:3: error: nonsense"})};
  KernelRecord other = measured();
  other.source = "int other;";
  request.inspirations = {other};
  const std::string text = question(refine_prompt(make_task(), request, {}).value());
  for (const char* part :
       {"int good;", "3.5 times as fast as naive", "120 us", "50 % of what the hardware allows, which memory bounds",
        "wider access", "error: nonsense", "int other;", "SEARCH"})
    EXPECT_TRUE(has(text, part)) << part;
}

TEST(Prompt, TheWrongElementsAreShown) {
  WrongResult wrong{Gate::values, "values differ",
                    WrongEvidence{"y", "tail", "spikes", 3, 33, {2, 5}, 1.5, -2.25, 0.001, {2, 5}, {2, 7}}};
  const std::string text = describe(failed(wrong).evaluation);
  for (const char* part : {"3 of 33", "[2, 5]", "expected 1.5", "found -2.25", "between [2, 5] and [2, 7]"})
    EXPECT_TRUE(has(text, part)) << text;
}

TEST(Prompt, EveryVerdictNamesItsGateAndWhatItWasSeenOn) {
  const WrongResult wrong{Gate::values, "values differ",
                          WrongEvidence{"y", "tail", "spikes", 3, 33, {2, 5}, 1.5, -2.25, 0.001, {2, 5}, {2, 7}}};
  EXPECT_TRUE(
      has(describe(failed(wrong).evaluation),
          "Refused by the gate 'values' (every output element against the double-precision reference), on shape "
          "tail, data 'spikes'."));
  EXPECT_TRUE(has(describe(failed(BuildFailed{"tail", "error"}).evaluation),
                  "Refused by the gate 'compile' (the compiler), on shape tail."));
  EXPECT_FALSE(has(describe(measured().evaluation), "Refused"));
  for (const GateEntry& entry : all_gates()) {
    const std::string text = describe(failed(Rejected{entry.gate, "why"}).evaluation);
    EXPECT_TRUE(has(text, ("the gate '" + std::string(entry.name) + "' (").c_str())) << text;
    EXPECT_FALSE(has(text, "()")) << "no words for " << entry.name;
  }
}

TEST(Prompt, FitsSmallModelsAndSaysWhatIsMissing) {
  ProposalRequest request;
  request.parent = measured();
  request.parent->source = "/* kerf */\n" + std::string(40000, 'p');
  request.failures = {failed(BuildFailed{"", std::string(90000, 'e')})};
  const PromptOptions room{4000};
  const Prompt prompt = refine_prompt(make_task(), request, room).value();
  EXPECT_LE(llm::estimated_tokens(prompt.messages), room.tokens);
  EXPECT_GT(llm::estimated_tokens(prompt.messages), room.tokens * 3 / 4);
  EXPECT_TRUE(has(question(prompt), "bytes are left out here"));
  EXPECT_TRUE(has(question(prompt), "f32[rows, cols]"));  // small sections stay whole
}

TEST(Prompt, WhatIsKnownIsCutItemByItemAndNeverLosesItsMarks) {
  PromptOptions room{3000};
  for (const char* name : {"one", "two", "three"})
    room.context.push_back({std::string("experience:") + name, "experience", "a kernel\n</experience>",
                            name + std::string(9000, 'k') + "</experience>"});
  const std::string text = question(draft_prompt(make_task(), {}, room).value());
  const auto count = [&](const std::string& mark) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("<experience id="), 3u);
  EXPECT_EQ(count("\n</experience>"), 3u);
  EXPECT_EQ(count("</experience>"), 3u) << "neither a title nor a text closes its marks";
  EXPECT_LE(llm::estimated_tokens(draft_prompt(make_task(), {}, room).value().messages), room.tokens);
  for (const char* name : {"\nonek", "\ntwok", "\nthreek"}) EXPECT_TRUE(has(text, name)) << name;
}

TEST(Sections, TheLargestAreCutFirstToOneSize) {
  std::vector<Section> sections = {
      {"a", std::string(100, 'a')}, {"b", std::string(5000, 'b')}, {"c", std::string(9000, 'c')}};
  fit_sections(sections, 4100);
  EXPECT_EQ(sections[0].text.size(), 100u);
  EXPECT_LE(sections[1].text.size(), 2000u);
  EXPECT_LE(sections[2].text.size(), 2000u);
  EXPECT_TRUE(has(sections[2].text, "of 9000 bytes are left out here"));
  std::vector<Section> small = {{"a", "one"}, {"b", "two"}};
  fit_sections(small, 4000);
  EXPECT_EQ(small[1].text, "two");
}

TEST(Prompt, RepairingGoesOnInTheConversation) {
  const std::vector<llm::Message> said = {
      {"system", "s"}, {"user", "write"}, {"assistant", "```\n/* kerf */ int broken;\n```"}};
  const KernelRecord failure = failed(BuildFailed{"", "error: here"});
  const Prompt prompt = repair_prompt(make_task(), said, failure, "", {}).value();
  ASSERT_EQ(prompt.messages.size(), 4u);
  EXPECT_EQ(prompt.messages[2], said[2]);
  EXPECT_TRUE(has(question(prompt), "error: here"));
  EXPECT_FALSE(has(question(prompt), "int broken;"));  // it stands in the answer above
  const Prompt unread = repair_prompt(make_task(), said, failure, "no code block", {}).value();
  EXPECT_TRUE(has(question(unread), "no code block"));
  EXPECT_FALSE(has(question(unread), "SEARCH"));
}

TEST(Prompt, LongConversationsLoseTheirOldestTurns) {
  std::vector<llm::Message> said = {{"system", "s"}, {"user", "write"}};
  for (int i = 0; i < 3; ++i) {
    said.push_back({"assistant", "answer " + std::to_string(i) + std::string(9000, 'x')});
    if (i < 2) said.push_back({"user", "mend it"});
  }
  const Prompt prompt = repair_prompt(make_task(), said, failed(Crashed{}), "", {6000}).value();
  EXPECT_EQ(prompt.messages[1].content, "write");
  EXPECT_TRUE(has(prompt.messages[2].content, "answer 2"));
  EXPECT_LE(llm::estimated_tokens(prompt.messages), 6000);
}

}  // namespace
}  // namespace kerf::agents
