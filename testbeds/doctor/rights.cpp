// SPDX-License-Identifier: Apache-2.0
// Which rights (capabilities) a run has to have. The users of each right were found by taking it away from a run.
#include <fmt/format.h>
#include <linux/capability.h>

#include "testbeds/doctor/looks.hpp"

namespace softspine::testbeds {

namespace {

struct Right {
  int number;
  std::string_view name;  // in capabilities(7), less "CAP_"
  UseSet by;
  UseSet over_network;  // of `by`: it has to count for the network namespace that we are in
  UseSet of_machine;    // of `by`: a user namespace's is not enough
};

constexpr Right kRights[] = {
    {CAP_NET_ADMIN, "NET_ADMIN", uses(Use::kTap, Use::kAfPacket, Use::kAfXdp, Use::kNamespace),
     uses(Use::kTap, Use::kAfPacket, Use::kAfXdp), 0},
    {CAP_NET_RAW, "NET_RAW", uses(Use::kAfPacket, Use::kAfXdp, Use::kDpdkPcap),
     uses(Use::kAfPacket, Use::kAfXdp, Use::kDpdkPcap), 0},
    {CAP_SYS_ADMIN, "SYS_ADMIN", uses(Use::kNamespace, Use::kAfXdp, Use::kUio), 0, uses(Use::kAfXdp, Use::kUio)},
};

std::string mend_of(const Examination& it, const Right& right, UseSet by) {
  if (!it.machine.could_hold(right.number))
    return fmt::format("a container that is started with --cap-add {}", right.name);
  const bool namespaces_alone = (by & ~uses(Use::kNamespace)) == 0;
  return (namespaces_alone ? "unshare -r " : "sudo ") + run_command(it.asked);
}

template <size_t N>
void look_at_right(const Examination& it, Findings& out) {
  const Right& right = kRights[N];
  const UseSet by = right.by & it.asked.used;
  Finding finding{.what = fmt::format("CAP_{}", right.name), .fact = "for " + words_of(by), .mend = {}};
  if (!it.machine.field("proc/self/status", "CapEff:")) {
    finding.state = State::kUnknown;
    finding.fact += ": /proc/self/status cannot be read";
  } else if (!it.machine.holds(right.number)) {
    finding.state = State::kMissing;
    finding.fact += ": we have no such right";
    finding.mend = mend_of(it, right, by);
  } else if (const bool foreign = (by & right.over_network) != 0 && !it.machine.calls().owns_network();
             foreign || ((by & right.of_machine) != 0 && !it.machine.is_in_first_user_namespace())) {
    finding.state = State::kMissing;
    finding.fact += foreign ? ": we have it in a user namespace to which this network does not belong"
                            : ": we have it in a user namespace alone, not on this machine";
    finding.mend = "sudo " + run_command(it.asked);
  }
  out.push_back(finding);
}

// The kernel locks rings, what AF_XDP writes into, and what an IOMMU maps; without CAP_IPC_LOCK up to a limit.
void look_at_locked_memory(const Examination& it, Findings& out) {
  uint64_t bytes = it.asked.locked_bytes;
  if (it.asked.has(Use::kVfio)) bytes += uint64_t{it.asked.need.eal_mebibytes} << 20;
  Finding finding{.what = "locked memory", .fact = fmt::format("{} KiB", bytes >> 10), .mend = {}};
  const auto limit = it.machine.limit("Max locked memory");
  if (it.machine.holds(CAP_IPC_LOCK) && it.machine.is_in_first_user_namespace()) {
    finding.fact += ", by CAP_IPC_LOCK without a limit";
  } else if (limit && *limit < bytes) {
    finding.state = State::kMissing;
    finding.fact += fmt::format(" asked, {} KiB allowed, and we have no CAP_IPC_LOCK on this machine", *limit >> 10);
    finding.mend = "ulimit -l unlimited, or sudo " + run_command(it.asked);
  }
  out.push_back(finding);
}

constexpr Look kRightLooks[] = {
    {"CAP_NET_ADMIN", kRights[0].by, look_at_right<0>},
    {"CAP_NET_RAW", kRights[1].by, look_at_right<1>},
    {"CAP_SYS_ADMIN", kRights[2].by, look_at_right<2>},
    {"locked memory", uses(Use::kAfPacket, Use::kAfXdp, Use::kVfio), look_at_locked_memory},
};

}  // namespace

std::span<const Look> right_looks() {
  return kRightLooks;
}

}  // namespace softspine::testbeds
