#include "sandbox/base_filter.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "sandbox/unique_fd.hpp"

namespace kerf {
namespace {

// Looking into other processes, changing the machine, or a second way around the other walls.
constexpr const char* kRefused[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    "perf_event_open",
    "bpf",
    "keyctl",
    "add_key",
    "request_key",
    "mount",
    "umount2",
    "pivot_root",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "mount_setattr",
    "chroot",
    "unshare",
    "setns",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "open_by_handle_at",
    "name_to_handle_at",
    "acct",
    "quotactl",
    "iopl",
    "ioperm",
    "syslog",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "vhangup",
    "lookup_dcookie",
    "personality",
    "setpriority",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "ioprio_set",
};

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};

Result<std::vector<sock_filter>> export_program(scmp_filter_ctx filter) {
  const UniqueFd file(::memfd_create("kerf-filter", MFD_CLOEXEC));
  if (!file) return fail(Errc::io, fmt::format("memfd: {}", std::strerror(errno)));
  if (const int rc = seccomp_export_bpf(filter, file.number()); rc != 0)
    return fail(Errc::io, fmt::format("seccomp program: {}", std::strerror(-rc)));
  const off_t size = ::lseek(file.number(), 0, SEEK_END);
  std::vector<sock_filter> program(static_cast<std::size_t>(size) / sizeof(sock_filter));
  if (::pread(file.number(), program.data(), static_cast<std::size_t>(size), 0) != size)
    return fail(Errc::io, "seccomp program: short read");
  return program;
}

}  // namespace

Result<std::vector<sock_filter>> make_base_filter(bool network) {
  const std::unique_ptr<void, ReleaseFilter> filter(seccomp_init(SCMP_ACT_ALLOW));
  if (!filter) return fail(Errc::unavailable, "seccomp filter cannot be made");
  const auto refuse = [&](const char* name, int error) {
    const int number = seccomp_syscall_resolve_name(name);
    // Names that this architecture or library does not know cannot be called either.
    if (number == __NR_SCMP_ERROR) return 0;
    const int rc = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(static_cast<unsigned>(error)), number, 0);
    return rc == -EDOM ? 0 : rc;
  };
  int rc = 0;
  for (const char* name : kRefused) rc = rc != 0 ? rc : refuse(name, EPERM);
  if (!network && rc == 0) rc = refuse("socket", EPERM);
  // clone3's flags lie in memory a filter cannot read; the C library falls back to clone.
  if (rc == 0) rc = refuse("clone3", ENOSYS);
  if (rc == 0) {
    rc = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                          SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER));
  }
  if (rc != 0) return fail(Errc::unavailable, fmt::format("seccomp rule: {}", std::strerror(-rc)));
  return export_program(filter.get());
}

}  // namespace kerf
