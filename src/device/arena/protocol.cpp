#include "device/arena/protocol.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

namespace kerf::arena {
namespace {

class Writer {
 public:
  void number(std::int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
  }
  void place(const Place& place) {
    for (const auto value : {place.zone, place.zone_bytes, place.data, place.bytes}) number(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Parser {
 public:
  explicit Parser(std::string_view bytes) : rest_(bytes) {}
  std::int64_t number() {
    std::int64_t value = 0;
    if (rest_.size() < sizeof value) {
      broken_ = true;
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::size_t count() {
    const auto value = static_cast<std::size_t>(number());
    if (value > rest_.size()) broken_ = true;  // every element takes at least a byte
    return broken_ ? 0 : value;
  }
  std::string text() {
    const std::size_t size = count();
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  Place place() {
    Place place;
    for (auto* field : {&place.zone, &place.zone_bytes, &place.data, &place.bytes}) *field = number();
    return place;
  }
  bool broken() const { return broken_ || !rest_.empty(); }

 private:
  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace

std::string encode(const LoadMessage& message) {
  Writer out;
  out.number(message.inputs);
  out.number(static_cast<std::int64_t>(message.slots.size()));
  for (const auto& slot : message.slots) {
    out.number(static_cast<std::int64_t>(slot.size()));
    for (const auto& place : slot) out.place(place);
  }
  out.number(static_cast<std::int64_t>(message.scratch.size()));
  for (const auto& place : message.scratch) out.place(place);
  out.number(static_cast<std::int64_t>(message.launches.size()));
  for (const auto& launch : message.launches) {
    out.text(launch.kernel);
    for (const auto extent : launch.grid) out.number(extent);
    for (const auto extent : launch.block) out.number(extent);
    out.number(launch.dimensions);
    out.number(launch.shared_bytes);
    out.number(static_cast<std::int64_t>(launch.args.size()));
    for (const int arg : launch.args) out.number(arg);
  }
  for (const auto* ranges : {&message.surroundings.clock_pages, &message.surroundings.words}) {
    out.number(static_cast<std::int64_t>(ranges->size()));
    for (const auto& [begin, end] : *ranges) {
      out.number(static_cast<std::int64_t>(begin));
      out.number(static_cast<std::int64_t>(end));
    }
  }
  out.number(message.memory_bytes);
  return out.take();
}

Result<LoadMessage> decode(std::string_view bytes) {
  Parser in(bytes);
  LoadMessage message;
  message.inputs = static_cast<int>(in.number());
  message.slots.resize(in.count());
  for (auto& slot : message.slots) {
    slot.resize(in.count());
    for (auto& place : slot) place = in.place();
  }
  message.scratch.resize(in.count());
  for (auto& place : message.scratch) place = in.place();
  message.launches.resize(in.count());
  for (auto& launch : message.launches) {
    launch.kernel = in.text();
    for (auto& extent : launch.grid) extent = in.number();
    for (auto& extent : launch.block) extent = in.number();
    launch.dimensions = static_cast<int>(in.number());
    launch.shared_bytes = in.number();
    launch.args.resize(in.count());
    for (auto& arg : launch.args) arg = static_cast<int>(in.number());
  }
  for (auto* ranges : {&message.surroundings.clock_pages, &message.surroundings.words}) {
    ranges->resize(in.count());
    for (auto& [begin, end] : *ranges) {
      begin = static_cast<std::uint64_t>(in.number());
      end = static_cast<std::uint64_t>(in.number());
    }
  }
  message.memory_bytes = in.number();
  if (in.broken()) return fail(Errc::invalid_input, "load message cut off");
  return message;
}

Status send_load(int socket, const std::array<int, kLoadFds>& fds) {
  char byte = 'L';
  iovec part{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof fds)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof space;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(rights), fds.data(), sizeof fds);
  if (::sendmsg(socket, &header, MSG_NOSIGNAL) != 1)
    return fail(Errc::io, fmt::format("worker: {}", std::strerror(errno)));
  return {};
}

Result<LoadFds> receive_load(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  std::array<int, kLoadFds> fds{};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof fds)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = space;
  header.msg_controllen = sizeof space;
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count == 0) return fail(Errc::not_found, "the judge has closed the connection");
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (count != 1 || rights == nullptr || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof fds))
    return fail(Errc::io, "the judge's message cannot be read");
  std::memcpy(fds.data(), CMSG_DATA(rights), sizeof fds);
  return LoadFds{UniqueFd(fds[0]), UniqueFd(fds[1]), UniqueFd(fds[2]), UniqueFd(fds[3]), UniqueFd(fds[4])};
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t old, std::chrono::nanoseconds limit) {
  const timespec time{static_cast<time_t>(limit.count() / 1'000'000'000),
                      static_cast<long>(limit.count() % 1'000'000'000)};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, old, limit.count() < 0 ? nullptr : &time,
            nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace kerf::arena
