#include "base/elf.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/file.hpp"
#include "base/rng.hpp"

namespace kerf {
namespace {

const std::string& sample() {
  static const std::string bytes = read_file(KERF_ELF_SAMPLE).value();
  return bytes;
}

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// Reads all there is; false when the file is refused. Everything returned must point into the bytes.
bool read_all(std::string_view bytes) {
  const auto file = elf::read(bytes);
  if (!file) return false;
  for (const auto& section : file->sections) {
    EXPECT_TRUE(inside(section.name, bytes) && inside(section.bytes, bytes));
    for (const auto& symbol : elf::symbols(*file, section)) EXPECT_TRUE(inside(symbol.name, bytes));
    for (const auto& relocation : elf::relocations(*file, section)) EXPECT_TRUE(inside(relocation.symbol, bytes));
  }
  return true;
}

TEST(Elf, ReadsSectionsSymbolsRelocationsAndDynamicEntriesOfASharedObject) {
  const auto file = elf::read(sample());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->type, ET_DYN);
  std::vector<std::string> names, defined, relocated;
  for (const auto& section : file->sections) {
    names.emplace_back(section.name);
    for (const auto& symbol : elf::symbols(*file, section))
      if (section.type == SHT_DYNSYM && symbol.section != SHN_UNDEF) defined.emplace_back(symbol.name);
    for (const auto& relocation : elf::relocations(*file, section)) relocated.emplace_back(relocation.symbol);
    if (section.name == ".bss") {
      EXPECT_TRUE(section.bytes.empty());
    }
  }
  const auto has = [](const std::vector<std::string>& list, const char* name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  EXPECT_TRUE(has(names, ".text") && has(names, ".dynsym"));
  EXPECT_TRUE(has(defined, "kerf_elf_sample"));
  EXPECT_TRUE(has(relocated, "sinf"));
  EXPECT_TRUE(std::any_of(file->dynamic.begin(), file->dynamic.end(),
                          [](const elf::DynamicEntry& entry) { return entry.tag == DT_INIT_ARRAY; }));
}

TEST(Elf, RefusesEveryPrefixOfAFile) {
  for (std::size_t length = 0; length < sample().size(); ++length) {
    const std::string prefix = sample().substr(0, length);  // a copy: reads beyond its end are found by the sanitizer
    EXPECT_FALSE(read_all(prefix)) << length;
  }
}

TEST(Elf, SurvivesEveryByteOfTheHeadersChanged) {
  std::string bytes = sample();
  const auto check = [&](std::size_t at) {
    const char kept = bytes[at];
    for (const int value : {0, 1, 0x7f, 0x80, 0xff, kept ^ 0x10}) {
      bytes[at] = static_cast<char>(value);
      read_all(bytes);
    }
    bytes[at] = kept;
  };
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t segments = sizeof header + header.e_phnum * sizeof(Elf64_Phdr);
  for (std::size_t at = 0; at < segments; ++at) check(at);
  for (std::size_t at = header.e_shoff; at < bytes.size(); ++at) check(at);
}

TEST(Elf, SurvivesRandomDamage) {
  Rng rng(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = sample();
    const auto last = static_cast<std::int64_t>(bytes.size()) - 1;
    for (auto left = rng.integer(1, 8); left > 0; --left)
      bytes[static_cast<std::size_t>(rng.integer(0, last))] = static_cast<char>(rng.integer(0, 255));
    read_all(bytes);
  }
}

TEST(Elf, RefusesOtherClassesAndByteOrders) {
  std::string bytes = sample();
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(elf::read(bytes));
  bytes = sample();
  bytes[EI_DATA] = ELFDATA2MSB;
  EXPECT_FALSE(elf::read(bytes));
  EXPECT_FALSE(elf::read(""));
}

}  // namespace
}  // namespace kerf
