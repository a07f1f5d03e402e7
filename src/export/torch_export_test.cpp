#include "export/torch_export.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "export/python_text.hpp"
#include "task/task.hpp"

namespace kerf::exporting {
namespace {

using Json = nlohmann::json;

constexpr const char* kTask = "name = \"twice\"\n[inputs]\nx = \"f32[8, 4]\"\n[reference]\nexpr = \"y = x * 2\"\n";
constexpr const char* kCuda = R"(/* kerf
target: cuda
tune: BLOCK = {32, 64}
scratch: t = f32[8, BLOCK]
launch: first<<<(ceil_div(32, BLOCK), 2), BLOCK, 4 * BLOCK>>>(x, t)
launch: second<<<1, 32>>>(t, y)
*/
#include <stdint.h>
extern "C" __global__ void first(const float* x, float* t) {}
extern "C" __global__ void second(const float* t, float* y) {}
)";

Json record() {
  const Json tensor{{"argument", "x"}, {"shape", {8, 4}}, {"dtype", "float32"}};
  return {{"schema", 1},
          {"file", "m.py"},
          {"source", "import torch\n'''text'''\n"},
          {"torch", "1.13"},
          {"share", 1.0},
          {"uncovered", Json::array()},
          {"model", {{"kind", "class"}, {"name", "Model"}, {"args", Json::array()}, {"kwargs", Json::object()}}},
          {"arguments", {{"args", {tensor}}, {"kwargs", Json::object()}}},
          {"inputs",
           {{{"name", "x"},
             {"source", "x"},
             {"kind", "input"},
             {"type", "f32[8, 4]"},
             {"shape", {8, 4}},
             {"dtype", "float32"}}}},
          {"outputs", {{{"name", "y"}, {"type", "f32[8, 4]"}, {"shape", {8, 4}}}}},
          {"result", {{"output", "y"}, {"dtype", "float32"}}},
          {"changes", {"norm.running_mean"}},
          {"modes", Json::array()},
          {"settings", Json::object()},
          {"imports", Json::array()}};
}

struct Exported {
  Task task = *parse_task(kTask, {}, "twice.toml");
  Candidate candidate = *parse_candidate("twice.cu", kCuda);
  Result<std::string> text(const Json& json, const Exporter& exporter = cuda_exporter()) const {
    return kernelbench_file(exporter, {task, "cuda", candidate, {{"BLOCK", 64}}, {}, "Kernel of a test."}, json.dump());
  }
};

TEST(TorchExport, WritesLaunchesAsNumbers) {
  const auto text = Exported().text(record());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_NE(text->find(R"({"kernel":"first","grid":[1,2,1],"block":[64,1,1],"shared":256,"args":[0,2]})"),
            std::string::npos);
  EXPECT_NE(text->find(R"({"kernel":"second","grid":[1,1,1],"block":[32,1,1],"shared":0,"args":[2,1]})"),
            std::string::npos);
  EXPECT_NE(text->find("\"scratch\": [2048]"), std::string::npos);
  EXPECT_NE(text->find("\"stdint.h\":"), std::string::npos) << "headers that NVRTC does not bring travel along";
  EXPECT_NE(text->find("class ModelNew(KerfModule, kerf_model.Model):"), std::string::npos);
  EXPECT_NE(text->find("# The original's forward changes norm.running_mean; the kernels do not."), std::string::npos);
  EXPECT_TRUE(is_exported(*text));
}

TEST(TorchExport, RefusesWhatItCannotSay) {
  Json part = record();
  part["share"] = 0.4;
  part["uncovered"] = {{{"operator", "linalg_inv"}, {"line", 7}}};
  Json made = record();
  made["inputs"][0]["place"] = {{"opaque", "a tensor of 9 elements"}};
  Json named = record();
  named["inputs"][0]["name"] = "other";
  Json old = record();
  old["schema"] = 7;
  Json broken = record();
  broken.erase("changes");
  for (const auto& [json, words] : std::vector<std::pair<Json, std::string>>{
           {part, "about 40 % of its arithmetic; these operators stay with PyTorch: linalg_inv (line 7)"},
           {made, "input 'x' is a tensor of 9 elements"},
           {named, "name different buffers"},
           {old, "of another version of Kerf"},
           {broken, "damaged"}}) {
    const auto text = Exported().text(json);
    ASSERT_FALSE(text) << words;
    EXPECT_EQ(text.error().code, Errc::invalid_input);
    EXPECT_NE(text.error().message.find(words), std::string::npos) << text.error().message;
  }
  EXPECT_FALSE(Exported().text(record(), opencl_exporter()));
}

TEST(PythonText, IsRawWhereThatIsTheSameText) {
  EXPECT_EQ(python_string("a\\n\n"), "r'''a\\n\n'''");
  EXPECT_EQ(python_string("'''doc'''\n"), "r\"\"\"'''doc'''\n\"\"\"");
  EXPECT_EQ(python_string("'''\"\"\"\n\\"), "(\"'''\\\"\\\"\\\"\\n\"\n \"\\\\\")");
  EXPECT_EQ(python_string("it's'"), "r\"\"\"it's'\"\"\"");
  EXPECT_EQ(python_string("a\r\n"), "(\"a\\x0d\\n\"\n \"\")");
  EXPECT_EQ(python_comment("one\n\ntwo\n"), "# one\n#\n# two\n");
}

}  // namespace
}  // namespace kerf::exporting
