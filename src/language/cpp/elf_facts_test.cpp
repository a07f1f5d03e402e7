#include "language/cpp/elf_facts.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/rng.hpp"

namespace kerf::cpp {
namespace {

std::string sample() { return read_file(KERF_ELF_SAMPLE).value(); }

bool mentions(const std::vector<std::string>& list, const std::string& part) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& one) { return one.find(part) != std::string::npos; });
}

TEST(ElfFacts, FindStateLoadTimeCodeAndExportsOfASharedObject) {
  const auto facts = read_elf_facts(sample());
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(mentions(facts->facts.writable_globals, "counter"));
  EXPECT_FALSE(facts->facts.constructors.empty());
  EXPECT_TRUE(mentions(facts->exported, "kerf_elf_sample"));
}

TEST(ElfFacts, RefuseEveryPrefixAndSurviveDamage) {
  const std::string whole = sample();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string prefix = whole.substr(0, length);
    EXPECT_FALSE(read_elf_facts(prefix)) << length;
  }
  Rng rng(3);
  const auto last = static_cast<std::int64_t>(whole.size()) - 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (auto left = rng.integer(1, 8); left > 0; --left)
      bytes[static_cast<std::size_t>(rng.integer(0, last))] = static_cast<char>(rng.integer(0, 255));
    (void)read_elf_facts(bytes);
  }
}

TEST(ElfFacts, RefuseWhatIsNoSharedObject) {
  std::string bytes = sample();
  bytes[16] = 1;  // e_type: a relocatable file
  const auto facts = read_elf_facts(bytes);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().message, "not a shared object");
}

std::vector<std::string> found_in(std::string_view code) {
  elf::File file;
  file.machine = EM_X86_64;
  file.sections.emplace_back();
  file.sections.back().flags = SHF_EXECINSTR;
  file.sections.back().bytes = code;
  return forbidden_instructions(file);
}

TEST(ForbiddenInstructions, NothingIsReadInsideOfVectorInstructions) {
  using namespace std::string_view_literals;
  // vpopcntb zmm0, [rdi + 0x10f], which disassemblers may not know; its displacement reads 0F 01 00.
  constexpr auto kCounts = "\x62\xF2\x7D\x48\x54\x87\x0F\x01\x00\x00"sv;
  // vpshldd zmm0, zmm1, [rax + 4 * rcx + 0x310f], 5; then ret.
  constexpr auto kShifts = "\x62\xF3\x75\x48\x71\x84\x88\x0F\x31\x00\x00\x05\xC3"sv;
  const std::string code = std::string(kCounts) + std::string(kCounts) + std::string(kShifts);
  EXPECT_EQ(found_in(code), std::vector<std::string>{});
  EXPECT_EQ(found_in(std::string(kCounts) + "\x0F\x31\xC3"), std::vector<std::string>{"instruction rdtsc"});
  EXPECT_EQ(found_in(std::string(kCounts) + "\x0F\x01\xF9\xC3"), std::vector<std::string>{"instruction rdtscp"});
}

}  // namespace
}  // namespace kerf::cpp
