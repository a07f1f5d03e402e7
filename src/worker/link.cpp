#include "worker/link.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace kerf::worker {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t kMagic = 0x4b455246;        // "KERF"
constexpr std::uint64_t kLargestMessage = 1 << 30;  // bulk data goes through shared memory, not through here

struct FrameHeader {
  std::uint32_t magic = kMagic;
  std::uint32_t descriptors = 0;
  std::uint64_t size = 0;
};

/// Waits until the socket is ready; an infinite wait when `deadline` is the maximum.
Status wait_for(int descriptor, short events, SteadyClock::time_point deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline != SteadyClock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
      if (left <= 0) return fail(Errc::timeout, "no answer in time");
      timeout = static_cast<int>(std::min<std::int64_t>(left, 1 << 30));
    }
    pollfd entry{descriptor, events, 0};
    const int ready = ::poll(&entry, 1, timeout);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return fail(Errc::io, fmt::format("poll: {}", std::strerror(errno)));
  }
}

SteadyClock::time_point deadline_after(std::chrono::milliseconds limit) {
  return limit < std::chrono::milliseconds(0) ? SteadyClock::time_point::max() : SteadyClock::now() + limit;
}

Status send_bytes(int descriptor, const char* data, std::size_t size, int passed, SteadyClock::time_point deadline) {
  std::size_t sent = 0;
  while (sent < size) {
    iovec piece{const_cast<char*>(data) + sent, size - sent};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (passed >= 0 && sent == 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &passed, sizeof(int));
    }
    const ssize_t count = ::sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      KERF_TRY_VOID(wait_for(descriptor, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return fail(Errc::unavailable, fmt::format("the other end is gone ({})", std::strerror(errno)));
    }
  }
  return {};
}

void take_descriptor(msghdr& message, int* received) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    if (received && *received < 0) {
      *received = descriptor;
    } else {
      ::close(descriptor);
    }
  }
}

Status receive_bytes(int descriptor, char* data, std::size_t size, int* received, SteadyClock::time_point deadline) {
  std::size_t have = 0;
  while (have < size) {
    KERF_TRY_VOID(wait_for(descriptor, POLLIN, deadline));
    iovec piece{data + have, size - have};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t count = ::recvmsg(descriptor, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (count > 0) {
      take_descriptor(message, received);
      have += static_cast<std::size_t>(count);
    } else if (count == 0) {
      return fail(Errc::unavailable, "the other end closed the connection");
    } else if (errno == ECONNRESET) {
      return fail(Errc::unavailable, "the other end is gone");
    } else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
      return fail(Errc::io, fmt::format("recvmsg: {}", std::strerror(errno)));
    }
  }
  return {};
}

}  // namespace

Link::~Link() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Link::Link(Link&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Link& Link::operator=(Link&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Status Link::send(std::string_view payload, int passed_descriptor, std::chrono::milliseconds limit) {
  const auto deadline = deadline_after(limit);
  const FrameHeader header{kMagic, passed_descriptor >= 0 ? 1u : 0u, payload.size()};
  if (payload.size() < 4096) {  // one system call for the usual small message
    std::string whole(reinterpret_cast<const char*>(&header), sizeof header);
    whole += payload;
    return send_bytes(descriptor_, whole.data(), whole.size(), passed_descriptor, deadline);
  }
  KERF_TRY_VOID(
      send_bytes(descriptor_, reinterpret_cast<const char*>(&header), sizeof header, passed_descriptor, deadline));
  return send_bytes(descriptor_, payload.data(), payload.size(), -1, deadline);
}

Result<std::string> Link::receive(std::chrono::milliseconds limit, int* received_descriptor) {
  const auto deadline = deadline_after(limit);
  if (received_descriptor) *received_descriptor = -1;
  FrameHeader header;
  KERF_TRY_VOID(
      receive_bytes(descriptor_, reinterpret_cast<char*>(&header), sizeof header, received_descriptor, deadline));
  if (header.magic != kMagic || header.size > kLargestMessage) return fail(Errc::io, "a malformed message");
  std::string payload(static_cast<std::size_t>(header.size), '\0');
  KERF_TRY_VOID(receive_bytes(descriptor_, payload.data(), payload.size(), received_descriptor, deadline));
  return payload;
}

Result<Link> enter_worker(std::int64_t memory_bytes) {
  if (::fcntl(kWorkerDescriptor, F_SETFD, FD_CLOEXEC) < 0) {
    return fail(Errc::unavailable, "this is a worker of kerf; it is started by kerf, not by hand");
  }
  ::syscall(SYS_close_range, kWorkerDescriptor + 1, ~0u, 0);
  if (memory_bytes > 0) {
    const rlimit limit{static_cast<rlim_t>(memory_bytes), static_cast<rlim_t>(memory_bytes)};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return fail(Errc::io, fmt::format("setrlimit: {}", std::strerror(errno)));
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::thread([] {
    for (;;) {
      pollfd entry{kWorkerDescriptor, POLLRDHUP, 0};
      if (::poll(&entry, 1, -1) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) ::_exit(0);
    }
  }).detach();
  return Link(kWorkerDescriptor);
}

}  // namespace kerf::worker
