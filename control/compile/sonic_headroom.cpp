// SPDX-License-Identifier: Apache-2.0
#include "control/compile/sonic_headroom.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace softspine::control {
namespace {

constexpr double kKib = 1'024;
constexpr double kSmallest = 64;
constexpr double kMacAndPhy = 0.8 * kKib;
constexpr double kUsualResponse = 3.8 * kKib;
constexpr double kMetresASecond = 1.98e8;
constexpr double kCompensation = 2 * kKib;

// Quanta of 512 bits in which a port of so many Mb/s obeys a pause: 802.3, 31B.3.7, and SONiC's figures for newer ones.
constexpr std::array<std::pair<uint64_t, uint32_t>, 10> kQuanta{{{800'000, 905},
                                                                 {400'000, 905},
                                                                 {200'000, 453},
                                                                 {100'000, 394},
                                                                 {50'000, 147},
                                                                 {40'000, 118},
                                                                 {25'000, 80},
                                                                 {10'000, 67},
                                                                 {1'000, 2},
                                                                 {100, 1}}};

double response_bytes(uint64_t mbps) {
  const auto found = std::ranges::find(kQuanta, mbps, &std::pair<uint64_t, uint32_t>::first);
  return found == kQuanta.end() ? kUsualResponse : found->second * 64.0;
}

double worst_factor(double cell) {
  return std::ceil(cell > 2 * kSmallest ? cell / kSmallest : 2 * cell / (1 + cell));
}

uint64_t whole_kib(double bytes) {
  return static_cast<uint64_t>(std::ceil(bytes / kKib)) << 10;
}

// Both ways.
double bytes_on_cable(const PortQos& port, const PortShape& shape, double mbps) {
  const double seconds = port.cable_micrometres ? static_cast<double>(*port.cable_micrometres) / 1e6 / kMetresASecond
                                                : static_cast<double>(shape.propagation.count_ps()) / 1e12;
  return 2 * seconds * mbps * 1e6 / 8;
}

}  // namespace

SonicHeadroom sonic_headroom(const QosConfig& config, const PortShape& shape) {
  const PortQos& port = config.port(shape.name);
  const uint64_t mbps = port.speed.value_or(shape.rate).count_bps() / 1'000'000;
  const auto speed = static_cast<double>(mbps);
  const double port_mtu = shape.largest_frame - kFrameOverhead;
  const double mtu = config.lossless_mtu;
  const double percentage = config.small_packet_percentage;
  const double worst = worst_factor(config.cell_bytes);
  const double small = 100 * kSmallest / (percentage * kSmallest + (100 - percentage) * mtu);
  const double occupancy = 1 + small * (worst - 1);
  const double on_tile = config.spectrum4 ? speed / 1'000 * 120 / 8 : 0;
  const double travelling = port_mtu + bytes_on_cable(port, shape, speed) + kMacAndPhy + response_bytes(mbps) + on_tile;
  SonicHeadroom out;
  out.xoff = whole_kib(mtu + travelling * occupancy);
  out.xon = port.eight_lanes ? kPipelineBytesOf8Lanes : kPipelineBytes;
  out.size = out.xon;
  if (config.shares_headroom()) return out;
  const uint64_t most = whole_kib(mtu + travelling * worst);
  if (percentage < 100 && out.xoff + static_cast<uint64_t>(kCompensation) < most) {
    out.xoff += static_cast<uint64_t>(kCompensation);
  }
  out.size = whole_kib(static_cast<double>(out.xoff + out.xon) + (port.eight_lanes ? port_mtu : 0));
  return out;
}

BufferProfileConfig fitted(const BufferProfileConfig& profile, const QosConfig& config, const PortShape& shape) {
  BufferProfileConfig out = profile;
  if (!profile.calculated) return out;
  const SonicHeadroom headroom = sonic_headroom(config, shape);
  out.size = headroom.size;
  out.xon = headroom.xon;
  out.xoff = headroom.xoff;
  out.holds_headroom = !config.shares_headroom();
  return out;
}

}  // namespace softspine::control
