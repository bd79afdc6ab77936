// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/bench_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace softspine::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillion = 1e6;

const char* name_of(VirtualBench::Pattern pattern) {
  return pattern == VirtualBench::Pattern::kPermutation ? "permutation" : "incast";
}
std::string hex(uint64_t value) {
  return fmt::format("{:016x}", value);
}

}  // namespace

std::string text_of(const ForwardingBench& bench, const ForwardingResult& r) {
  return fmt::format(
      "{} switch{}{}, {} B: {:.2f} Mpps, {:.2f} M packet-hops/s, {:.0f} cycles a packet-hop, {:.0f} % of the core, "
      "{} packets, {} dropped, checksum {}",
      bench.hops, bench.hops == 1 ? "" : "es", bench.lossless ? ", lossless" : "",
      bench.frame_bytes + dataplane::kFcsBytes, r.packets_per_second / kMillion, r.packet_hops_per_second / kMillion,
      r.cycles_per_packet_hop, r.cpu_share * 100, r.packets, r.drops, hex(r.checksum));
}

std::string text_of(const VirtualBench& bench, const VirtualResult& r) {
  return fmt::format(
      "{}, {} hosts, {} worker{}: {:.2f} M packet-hops/s ({:.2f} M a CPU second), {:.0f} × slower than real, "
      "{} packet-hops, {} dropped, checksum {}",
      name_of(bench.pattern), bench.radix * bench.radix, bench.workers, bench.workers == 1 ? "" : "s",
      r.packet_hops_per_second / kMillion, r.packet_hops_per_cpu_second / kMillion, r.slowdown, r.packet_hops, r.drops,
      hex(r.checksum));
}

std::string json_of(const ForwardingBench& bench, const ForwardingResult& r) {
  return Json{{"bench", "forwarding"},
              {"hops", bench.hops},
              {"lossless", bench.lossless},
              {"frame_bytes", bench.frame_bytes + dataplane::kFcsBytes},
              {"packets", r.packets},
              {"packets_per_second", r.packets_per_second},
              {"packet_hops_per_second", r.packet_hops_per_second},
              {"cycles_per_packet_hop", r.cycles_per_packet_hop},
              {"cpu_share", r.cpu_share},
              {"drops", r.drops},
              {"checksum", hex(r.checksum)}}
      .dump();
}

std::string flood_text(const ForwardingResult& r) {
  return fmt::format("malformed pauses: {:.2f} M/s taken, {:.0f} cycles each, {:.0f} % of the core, {} forwarded",
                     r.packets_per_second / kMillion, r.cycles_per_packet_hop, r.cpu_share * 100, r.drops);
}
std::string flood_json(const ForwardingResult& r) {
  return Json{{"bench", "flood"},
              {"packets", r.packets},
              {"packets_per_second", r.packets_per_second},
              {"cycles_per_packet", r.cycles_per_packet_hop},
              {"cpu_share", r.cpu_share},
              {"forwarded", r.drops}}
      .dump();
}

std::string json_of(const VirtualBench& bench, const VirtualResult& r) {
  return Json{{"bench", "virtual"},
              {"pattern", name_of(bench.pattern)},
              {"hosts", bench.radix * bench.radix},
              {"workers", bench.workers},
              {"packet_hops", r.packet_hops},
              {"packet_hops_per_second", r.packet_hops_per_second},
              {"packet_hops_per_cpu_second", r.packet_hops_per_cpu_second},
              {"slowdown", r.slowdown},
              {"delivered", r.delivered},
              {"drops", r.drops},
              {"windows", r.windows},
              {"checksum", hex(r.checksum)}}
      .dump();
}

}  // namespace softspine::tools
