// SPDX-License-Identifier: Apache-2.0
// The kinds of hosts behind a host node: our own RoCEv2 endpoint, a guest that we start, or an edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dataplane/edge/nic_parameters.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// The clock by which a host runs: the fabric's, on either clock, or the wall clock.
enum class HostClock : uint8_t { kFabric, kWall };

// Each kind has kWord, what reports call it, and kClock. One that we start, and that runs a command, has `run` and
// `timeout`.

struct BuiltinHost {
  static constexpr const char* kWord = "built-in";
  static constexpr HostClock kClock = HostClock::kFabric;
};

enum class GuestKind : uint8_t { kUml, kQemu };

// What lies over the guests' root folder.
enum class GuestRoot : uint8_t { kOurs, kFolder, kExt4, kSquashfs };

// A file or folder of this machine, and where the guest finds its copy. Both absolute.
struct GuestFile {
  std::string place;
  std::string source;
};

// A virtual machine on vhost-user sockets, one per port of the host; booted, addressed, run and torn down by us.
struct Guest {
  static constexpr const char* kWord = "guest";
  static constexpr HostClock kClock = HostClock::kWall;
  GuestKind kind = GuestKind::kUml;
  std::string run;  // a shell command inside the guest; empty: boot only
  uint64_t memory_bytes = 384ULL << 20;
  uint32_t cpus = 1;
  dataplane::Duration timeout = dataplane::Duration::s(60);  // wall time until the command is given up
  GuestRoot root_kind = GuestRoot::kOurs;
  std::string root;              // absolute: the folder or image over our root folder
  std::vector<GuestFile> files;  // a folder before what lies in it
  std::string kernel;            // absolute; empty: ours
};

// A network namespace, of ours or one that is there already, joined by TAPs.
struct NamespaceHost {
  static constexpr const char* kWord = "namespace";
  static constexpr HostClock kClock = HostClock::kWall;
  std::string run;
  dataplane::Duration timeout = dataplane::Duration::s(60);
  std::string join;                   // the file of one that is there; empty: of ours
  std::string interface = "fabric0";  // in one that is there
};

// Programs of this machine that use an RDMA device of ours, which needs no kernel module (testbeds/verbs_device).
struct VerbsHost {
  static constexpr const char* kWord = "verbs";
  static constexpr HostClock kClock = HostClock::kWall;
  std::string run;
  dataplane::Duration timeout = dataplane::Duration::s(60);
};

struct TapEdge {
  static constexpr const char* kWord = "tap";
  static constexpr HostClock kClock = HostClock::kWall;
  std::string name;
};
struct AfPacketEdge {
  static constexpr const char* kWord = "af_packet";
  static constexpr HostClock kClock = HostClock::kWall;
  std::string interface;
};
struct VhostUserEdge {
  static constexpr const char* kWord = "vhost-user";
  static constexpr HostClock kClock = HostClock::kWall;
  std::string socket;
};
// Which recorded time is the start of the run.
enum class PcapZero : uint8_t {
  kFirstFrame,  // that of the file's own first frame
  kTogether,    // the earliest first frame of all that are recorded together
  kRecorded,    // 0: the times are a fabric's, as our captures have them
};
// Paths are relative to the testbed file's folder. Either may be empty, not both.
struct PcapEdge {
  static constexpr const char* kWord = "pcap";
  static constexpr HostClock kClock = HostClock::kFabric;
  std::string in;
  std::string out;
  PcapZero zero = PcapZero::kFirstFrame;
  dataplane::Duration offset;  // later by that
};
// A PCI address ("0000:3b:00.0") or a virtual device with its arguments ("net_memif0,socket=…").
struct DpdkEdge {
  static constexpr const char* kWord = "dpdk";
  static constexpr HostClock kClock = HostClock::kWall;
  std::string device;
};

// The NIC between a host that is outside and its link (dataplane/edge/nic.hpp). A built-in host is its own NIC.
struct HostNic {
  std::optional<uint8_t> pfc_enable;  // bit n: priority n; none: those of the switch's port before it
  dataplane::NicParameters parameters;
};

// Whether both are spellings of one path; symbolic links are not followed.
inline bool same_file(const std::string& a, const std::string& b) {
  return std::filesystem::path(a).lexically_normal() == std::filesystem::path(b).lexically_normal();
}

using Edge = std::variant<TapEdge, AfPacketEdge, VhostUserEdge, PcapEdge, DpdkEdge>;

// Something that we do not start: one edge for each of the host's links, in their order. With two, what is behind them
// bonds them.
struct EdgeHost {
  std::vector<Edge> edges;
};

using Attachment = std::variant<BuiltinHost, Guest, NamespaceHost, VerbsHost, EdgeHost>;

inline bool is_builtin(const Attachment& a) {
  return std::holds_alternative<BuiltinHost>(a);
}
// Whether we start what stands behind the host, with files of its own and the addresses that the fabric plans.
inline bool is_started(const Attachment& a) {
  return !is_builtin(a) && !std::holds_alternative<EdgeHost>(a);
}
// Whether captures stand for the host.
inline bool is_replayed(const Attachment& a) {
  const auto* const host = std::get_if<EdgeHost>(&a);
  return host != nullptr &&
         std::ranges::all_of(host->edges, [](const Edge& edge) { return std::holds_alternative<PcapEdge>(edge); });
}
inline HostClock clock_of(const Edge& edge) {
  return std::visit([](const auto& kind) { return kind.kClock; }, edge);
}
inline HostClock clock_of(const EdgeHost& host) {
  const bool is_ours = std::ranges::all_of(host.edges, [](const Edge& e) { return clock_of(e) == HostClock::kFabric; });
  return is_ours ? HostClock::kFabric : HostClock::kWall;
}
inline HostClock clock_of(const Attachment& attachment) {
  const auto clock = [](const auto& kind) {
    if constexpr (requires { kind.kClock; })
      return kind.kClock;
    else
      return clock_of(kind);
  };
  return std::visit(clock, attachment);
}
inline bool needs_wall_clock(const Attachment& attachment) {
  return clock_of(attachment) == HostClock::kWall;
}

}  // namespace softspine::control
