// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/uml_host.hpp"

#include <cpuid.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace softspine::testbeds {
namespace {

constexpr std::size_t kWithAvx512 = 2'696;
constexpr std::size_t kWithAmx = 11'008;

UmlHost host_with(std::size_t xsave_bytes) {
  return {"x86_64", xsave_bytes};
}

// What the processor says itself of the components that are enabled, in the standard format.
std::size_t enabled_bytes_by_cpuid() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid_count(0xD, 0, &eax, &ebx, &ecx, &edx);
  return ebx;
}

TEST(UmlHost, HasTheXsaveAreaThatItsProcessorTellsOf) {
  const UmlHost host = look_at_uml_host();
  EXPECT_EQ(host.machine, "x86_64");
  if (!host.xsave_bytes) GTEST_SKIP() << "nothing can be traced here: " << host.xsave_bytes.error();
  EXPECT_EQ(*host.xsave_bytes, enabled_bytes_by_cpuid());
  std::printf("# this machine's XSAVE area has %zu bytes: %s\n", *host.xsave_bytes,
              *host.xsave_bytes > kWithAvx512 ? "with AMX" : "without AMX");
}

TEST(UmlHost, CanRunAKernelThatHasRoomForItsXsaveArea) {
  EXPECT_EQ(obstacle_to_uml(host_with(kWithAvx512), kWithAvx512), "");
  EXPECT_EQ(obstacle_to_uml(host_with(kWithAmx), 12'288), "");
  EXPECT_EQ(obstacle_to_uml(host_with(12'288), 12'288), "");
}

TEST(UmlHost, CannotRunAKernelThatHasLessAndSaysBothSizes) {
  EXPECT_EQ(obstacle_to_uml(host_with(kWithAmx), kWithAvx512),
            "this processor's XSAVE area has 11008 bytes, and the kernel has room for 2696");
  EXPECT_NE(obstacle_to_uml(host_with(12'296), 12'288), "");
}

TEST(UmlHost, CannotRunWhatIsForAnotherProcessor) {
  EXPECT_EQ(obstacle_to_uml({"aarch64", kWithAvx512}), "this machine is aarch64, not x86_64");
  EXPECT_EQ(obstacle_to_uml({"aarch64", kWithAvx512}, 12'288), "this machine is aarch64, not x86_64");
}

// As a container does that filters system calls.
void forbid_ptrace() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) std::perror("PR_SET_SECCOMP");
}

TEST(UmlHostDeathTest, CannotRunWhereNothingMayBeTracedAndSaysSo) {
  EXPECT_EXIT(
      {
        forbid_ptrace();
        std::fprintf(stderr, "%s\n", obstacle_to_uml(look_at_uml_host()).c_str());
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "no process be traced.*PTRACE_TRACEME: Operation not permitted");
}

}  // namespace
}  // namespace softspine::testbeds
