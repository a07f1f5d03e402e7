#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "device/arena/concrete_plan.hpp"
#include "device/arena/fault_text.hpp"
#include "device/arena/protocol.hpp"
#include "device/arena/shared_memory.hpp"
#include "device/arena/slot_memory.hpp"
#include "device/arena/zones.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf::arena {
namespace {

TEST(Zones, KeepRedZonesAndAlignmentAndFillTheFile) {
  ZonePlanner planner;
  std::int64_t end = 0;
  std::vector<std::int64_t> offsets;
  for (int turn = 0; turn < 40; ++turn) {
    const Place place = planner.add(turn * 37, static_cast<std::uint64_t>(turn));
    EXPECT_EQ(place.zone, end);  // nothing in the file lies between zones
    EXPECT_EQ(place.zone % kPage, 0);
    EXPECT_EQ(place.zone_bytes % kPage, 0);
    EXPECT_EQ(place.data % 64, 0);
    EXPECT_GE(place.data - place.zone, kRedZoneBytes);
    EXPECT_GE(place.zone + place.zone_bytes - (place.data + place.bytes), kRedZoneBytes);
    end = place.zone + place.zone_bytes;
    offsets.push_back(place.data % kPage);
  }
  EXPECT_EQ(planner.end(), end);
  EXPECT_NE(offsets[0], offsets[1]);
}

TEST(Zones, BytesThatCannotBeCountedAreTheLargestNumber) {
  EXPECT_EQ(tensor_bytes(DType::f32, std::vector<std::int64_t>{3, 5}), 60);
  EXPECT_EQ(tensor_bytes(DType::f32, std::vector<std::int64_t>{1LL << 40, 1LL << 40}),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(tensor_bytes(DType::f32, std::vector<std::int64_t>{1LL << 40, 1LL << 40, 0}), 0);
}

TEST(SlotMemory, EveryProcessHasOffsetsOfItsOwn) {
  const SlotShape shape{{100, 200, 300}, 2};
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto memory = SlotMemory::make(shape, 2, seed);
    ASSERT_TRUE(memory);
    seen.insert(memory->places()[0][0].data % kPage);
  }
  EXPECT_GT(seen.size(), 3u);
}

TEST(Zones, NoticeEveryByteOutsideTheBufferAndNoneInside) {
  ZonePlanner planner;
  const Place place = planner.add(101, 1);
  std::vector<std::byte> memory(static_cast<std::size_t>(planner.end()));
  fill_red_zones(memory.data(), place, Poison::b);
  fill_poison(memory.data(), place, Poison::b);
  EXPECT_TRUE(red_zones_intact(memory.data(), place, Poison::b));
  EXPECT_FALSE(red_zones_intact(memory.data(), place, Poison::a));
  for (std::int64_t at = place.zone; at < place.zone + place.zone_bytes; ++at) {
    const bool inside = at >= place.data && at < place.data + place.bytes;
    auto& byte = memory[static_cast<std::size_t>(at)];
    byte ^= std::byte{1};
    EXPECT_EQ(red_zones_intact(memory.data(), place, Poison::b), inside) << at;
    byte ^= std::byte{1};
  }
}

TEST(Zones, WhatLiesBesideABufferIsNotNumbersOrOrdinaryOnes) {
  ZonePlanner planner;
  const Place place = planner.add(1000, 2);
  std::vector<std::byte> memory(static_cast<std::size_t>(planner.end()));
  for (const Poison poison : {Poison::a, Poison::b}) {
    fill_red_zones(memory.data(), place, poison);
    std::set<float> seen;
    for (int i = 1; i < 60; ++i) {
      const float value = reinterpret_cast<const float*>(memory.data() + place.data)[-i];
      EXPECT_EQ(std::isnan(value), poison == Poison::a);
      if (poison == Poison::b) {
        EXPECT_TRUE(std::fabs(value) > 0.01F && std::fabs(value) < 4) << value;
        seen.insert(value);
      }
    }
    EXPECT_TRUE(poison == Poison::a || seen.size() > 50U);
  }
}

/// Slots of so many small buffers.
std::vector<std::vector<Place>> some_places(int slots, int buffers) {
  ZonePlanner planner;
  std::vector<std::vector<Place>> places(static_cast<std::size_t>(slots));
  for (auto& slot : places)
    for (int i = 0; i < buffers; ++i) slot.push_back(planner.add(1000 * (i + 1), 0));
  return places;
}

TEST(Zones, AreSpreadWithoutTouchingEachOther) {
  const auto places = some_places(7, 3);
  const ZoneSpread spread = spread_zones(places);
  std::map<std::int64_t, std::int64_t> zones{{spread.bytes, 0}};  // begin to bytes
  for (std::size_t s = 0; s < places.size(); ++s)
    for (std::size_t i = 0; i < places[s].size(); ++i) zones[spread.begins[s][i]] = places[s][i].zone_bytes;
  EXPECT_EQ(zones.size(), 22U);
  std::int64_t end = 0;
  for (const auto& [begin, bytes] : zones) {
    EXPECT_GE(begin, end + kGuardBytes);
    EXPECT_TRUE(begin % kPage == 0);
    end = begin + bytes;
  }
}

TEST(Zones, EverySecondSlotHasItsBuffersTheOtherWayRound) {
  const ZoneSpread spread = spread_zones(some_places(2, 3));
  EXPECT_LT(spread.begins[0][0], spread.begins[0][1]);
  EXPECT_LT(spread.begins[0][1], spread.begins[0][2]);
  EXPECT_GT(spread.begins[1][0], spread.begins[1][1]);
  EXPECT_GT(spread.begins[1][1], spread.begins[1][2]);
}

TEST(Zones, LieAtAddressesOfWhichNoMiddleBitIsAlike) {
  constexpr std::int64_t kBits = 0x3ffff000;  // of a page's address, below 1 GiB
  for (const int buffers : {2, 3, 4}) {       // of a slot; a kernel may look at any of them
    const ZoneSpread spread = spread_zones(some_places(16, buffers));
    for (std::size_t i = 0; i < static_cast<std::size_t>(buffers); ++i) {
      std::int64_t set = 0, unset = 0;
      for (const auto& slot : spread.begins) {
        set |= slot[i];
        unset |= ~slot[i];
      }
      EXPECT_EQ(set & unset & kBits, kBits) << buffers << " buffers, buffer " << i;
    }
  }
}

TEST(Zones, PoisonIsTheWordOfItsPattern) {
  ZonePlanner planner;
  const Place place = planner.add(1000, 2);
  std::vector<std::byte> memory(static_cast<std::size_t>(planner.end()));
  for (const Poison poison : {Poison::a, Poison::b}) {
    fill_poison(memory.data(), place, poison);
    const auto* words = reinterpret_cast<const std::uint16_t*>(memory.data() + place.data);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(words[i], static_cast<std::uint16_t>(poison)) << i;
  }
}

TEST(Protocol, ALoadMessageSurvivesTheTrip) {
  LoadMessage message;
  message.inputs = 2;
  message.slots = {{{4096, 8192, 4416, 100}, {16384, 4096, 16640, 3}}, {{1, 2, 3, 4}, {5, 6, 7, 8}}};
  message.scratch = {{9, 10, 11, 12}};
  message.launches = {{"first", {1, 2, 3}, {4, 5, 6}, 3, 77, {0, 2, 1}}, {"second", {9, 1, 1}, {8, 1, 1}, 1, 0, {}}};
  message.memory_bytes = 1LL << 40;
  message.surroundings = {{{4096, 8192}}, {{1, 2}, {3, 4}}};
  const auto copy = decode(encode(message));
  ASSERT_TRUE(copy);
  EXPECT_EQ(encode(*copy), encode(message));
  EXPECT_EQ(copy->launches[0].kernel, "first");
  EXPECT_EQ(copy->launches[0].args, (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(copy->slots[1][1].bytes, 8);
  EXPECT_EQ(copy->surroundings.words, message.surroundings.words);
}

TEST(Protocol, ACutMessageIsAnErrorAtEveryLength) {
  LoadMessage message;
  message.slots = {{{1, 2, 3, 4}}};
  message.launches = {{"kernel", {1, 1, 1}, {1, 1, 1}, 1, 0, {0}}};
  const std::string whole = encode(message);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(decode(whole.substr(0, size))) << size;
  EXPECT_FALSE(decode(whole + "x"));
}

TEST(Protocol, DescriptorsTravelOverTheSocketAndItsEndIsNoticed) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  auto memory = SharedMemory::make(4096);
  ASSERT_TRUE(memory);
  memory->data()[7] = std::byte{42};
  ASSERT_TRUE(send_load(writer.number(), {memory->fd(), memory->fd(), memory->fd(), memory->fd(), memory->fd()}));
  auto received = receive_load(reader.number());
  ASSERT_TRUE(received);
  const auto mapped = SharedMemory::open(std::move(received->slots), true);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->data()[7], std::byte{42});
  writer.reset();
  EXPECT_EQ(receive_load(reader.number()).error().code, Errc::not_found);
}

TEST(Protocol, AFutexWakesTheOtherSide) {
  std::atomic<std::uint32_t> word{0};
  std::thread waker([&] {
    word.store(1);
    futex_wake(word);
  });
  while (word.load() == 0) futex_wait(word, 0, std::chrono::seconds(1));
  waker.join();
  const auto begin = std::chrono::steady_clock::now();
  futex_wait(word, 1, std::chrono::milliseconds(5));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(4));
}

TEST(SharedMemory, ReadOnlyMemoryCannotBeWritten) {
  auto fd = SharedMemory::make_read_only("code");
  ASSERT_TRUE(fd);
  EXPECT_LT(::write(fd->number(), "x", 1), 0);
  const auto mapped = SharedMemory::open(*std::move(fd), false);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->bytes(), 4);
  EXPECT_LT(::mprotect(mapped->data(), 4096, PROT_READ | PROT_WRITE), 0);
}

LaunchPlan one_launch(std::vector<Dim> grid, std::vector<std::string> args) {
  LaunchPlan plan;
  plan.scratch = {{"tmp", DType::f64, {Dim::symbol("n"), 2}}};
  plan.launches = {{"k", std::move(grid), {Dim(64)}, Dim(0), std::move(args)}};
  return plan;
}

TEST(ConcretePlan, SymbolsAndNamesBecomeNumbers) {
  const std::vector<BufferSpec> buffers = {{"x", DType::f32, {4}, BufferRole::input},
                                           {"y", DType::f32, {4}, BufferRole::output}};
  const auto result = evaluate_plan(one_launch({Dim::symbol("n"), Dim(3)}, {"y", "tmp", "x"}), buffers, {{"n", 10}});
  ASSERT_TRUE(result) << result.error().message;
  const auto& numbers = std::get<ConcretePlan>(*result);
  EXPECT_EQ(numbers.scratch.bytes, std::vector<std::int64_t>{160});
  EXPECT_EQ(numbers.launches[0].grid, (std::array<std::int64_t, 3>{10, 3, 1}));
  EXPECT_EQ(numbers.launches[0].block, (std::array<std::int64_t, 3>{64, 1, 1}));
  EXPECT_EQ(numbers.launches[0].dimensions, 2);
  EXPECT_EQ(numbers.launches[0].args, (std::vector<int>{1, 2, 0}));
}

TEST(ConcretePlan, AnEmptyGridIsAFaultAndAnUnknownNameAnError) {
  const std::vector<BufferSpec> buffers = {{"x", DType::f32, {4}, BufferRole::input}};
  const auto empty = evaluate_plan(one_launch({Dim::symbol("n")}, {"x"}), buffers, {{"n", 0}});
  ASSERT_TRUE(empty);
  EXPECT_TRUE(std::holds_alternative<Fault>(*empty));
  EXPECT_FALSE(evaluate_plan(one_launch({Dim(1)}, {"z"}), buffers, {{"n", 1}}));
  EXPECT_FALSE(evaluate_plan(one_launch({Dim(1)}, {"x"}), buffers, {}));
}

TEST(ConcretePlan, NumbersThatDoNotExistAreTheCandidatesFault) {
  const std::vector<BufferSpec> buffers = {{"x", DType::f32, {4}, BufferRole::input}};
  const auto is_fault = [&](const LaunchPlan& plan, const Bindings& constants) {
    const auto result = evaluate_plan(plan, buffers, constants);
    return result && std::holds_alternative<Fault>(*result);
  };
  EXPECT_TRUE(is_fault(one_launch({floor_div(Dim(64), Dim::symbol("n"))}, {"x"}), {{"n", 0}}));
  EXPECT_TRUE(is_fault(one_launch({Dim::symbol("n") * Dim::symbol("n")}, {"x"}), {{"n", 1LL << 40}}));
  EXPECT_TRUE(is_fault(one_launch({Dim(1LL << 60)}, {"x"}), {{"n", 1}}));  // 64 work-items each
  EXPECT_TRUE(is_fault(one_launch({Dim(1)}, {"x"}), {{"n", 1LL << 45}}));  // more scratch than any machine has
  EXPECT_TRUE(is_fault(one_launch({Dim(1)}, {"x"}), {{"n", 1LL << 61}}));
  EXPECT_TRUE(is_fault(one_launch({Dim(1)}, {"x"}), {{"n", -1}}));
}

TEST(FaultText, NamesWhatHappened) {
  WorkerEnd forbidden;
  forbidden.exit_code = kForbiddenExit;
  forbidden.forbidden_call = SYS_openat;
  EXPECT_EQ(explain(forbidden).kind, Fault::Kind::forbidden);
  EXPECT_EQ(explain(forbidden).message, "the kernel called openat");

  WorkerEnd exited;
  exited.exit_code = 3;
  EXPECT_EQ(explain(exited).kind, Fault::Kind::crashed);
  EXPECT_NE(explain(exited).message.find("exit status 3"), std::string::npos);

  WorkerEnd killed;
  killed.signal = SIGKILL;
  EXPECT_NE(explain(killed).message.find("out of memory"), std::string::npos);
}

TEST(CleanText, IsPrintableAndEnds) {
  EXPECT_EQ(clean_text(std::string_view("a\x1b[2Jb\0c", 8)), "a?[2Jb");
  EXPECT_LE(clean_text(std::string(9000, 'x')).size(), 1500u);
}

}  // namespace
}  // namespace kerf::arena
