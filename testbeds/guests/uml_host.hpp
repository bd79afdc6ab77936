// SPDX-License-Identifier: Apache-2.0
// Whether this machine can run a user-mode Linux kernel. Such a kernel holds its processes by ptrace and gives their
// extended registers (x87 to AMX) back to the host with PTRACE_SETREGSET, which refuses a buffer shorter than the
// host's XSAVE area: the kernel has to have room for that area (kernel/patch has the size of ours, and the reason).
//
// The area's size is that of a child's NT_X86_XSTATE: what the host's kernel has enabled, in XSAVE's standard format.
// The area's size is CPUID leaf 0xD, subleaf 0, EBX: 2,696 or less with AVX-512, 11,008 with AMX.
#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace softspine::testbeds {

struct UmlHost {
  std::string machine;                                  // by uname: "x86_64"
  std::expected<std::size_t, std::string> xsave_bytes;  // or why no child could be traced
};

// Starts a child that stops at once, and reads the size from it; takes less than a millisecond.
UmlHost look_at_uml_host();

// Why no kernel of ours can run here, however much room it has for the area; empty when one can.
std::string obstacle_to_uml(const UmlHost& host);
// Why a kernel with `room_bytes` of room for the XSAVE area cannot run here; empty when it can.
std::string obstacle_to_uml(const UmlHost& host, std::size_t room_bytes);

}  // namespace softspine::testbeds
