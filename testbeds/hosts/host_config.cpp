// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/host_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <tuple>

#include "testbeds/hosts/frame_template.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr uint16_t kMaxHostPorts = 2;  // one, or dual-homed
constexpr uint32_t kMaxDscp = 63;

bool is_unicast(const MacAddress& mac) {
  return (mac[0] & ethernet::kMulticastBit) == 0 && mac != MacAddress{};
}
bool is_qp(uint32_t qp) {
  return qp > 1 && qp < bth::kMask24;
}  // 0xffffff is multicast's

bool has_address_like(const HostConfig& host, const IpAddress& other) {
  return std::holds_alternative<Ipv4Address>(other) ? host.ipv4 != 0 : host.ipv6 != Ipv6Address{};
}

// What a file may say, and of what lasts a time also zero: none.
template <typename T>
void claim_within(const ParameterKey<ReliableParameters, T>& key, const ReliableParameters& reliable,
                  std::vector<std::string>& wrong) {
  if constexpr (std::integral<T>) {
    const T value = reliable.*key.member;
    if (value < key.least || value > key.most)
      wrong.push_back(fmt::format("{}: {} is not in {} … {}", key.key, value, *key.least, *key.most));
  } else if constexpr (std::same_as<T, Duration>) {
    if (reliable.*key.member < Duration{}) wrong.push_back(fmt::format("{}: negative", key.key));
  }
}

}  // namespace

std::vector<std::string> validate(const HostConfig& host) {
  std::vector<std::string> wrong;
  if (!is_unicast(host.mac)) wrong.emplace_back("mac: not a unicast address");
  if (!is_unicast(host.gateway)) wrong.emplace_back("gateway: not a unicast address");
  if (host.ipv4 == 0 && host.ipv6 == Ipv6Address{}) wrong.emplace_back("neither an IPv4 nor an IPv6 address");
  if (host.ports == 0 || host.ports > kMaxHostPorts) {
    wrong.push_back(fmt::format("ports: {}, but a host has 1 to {}", host.ports, kMaxHostPorts));
  }
  if (host.tag.vlan >= ethernet::kVlanMask) wrong.push_back(fmt::format("vlan: {} is above 4094", host.tag.vlan));
  if (std::ranges::max(host.tag.pcp_of_dscp) >= kPriorities) wrong.emplace_back("pcp_of_dscp: above 7");
  if (std::ranges::max(host.priority_of_dscp) >= kPriorities) wrong.emplace_back("priority_of_dscp: above 7");
  return wrong;
}

std::vector<std::string> validate(const HostConfig& host, const FlowConfig& flow) {
  std::vector<std::string> wrong;
  const auto claim = [&wrong]<typename... T>(bool holds, fmt::format_string<const T&...> text, const T&... values) {
    if (!holds) wrong.push_back(fmt::format(text, values...));
  };
  claim(has_address_like(host, flow.destination), "destination: the host has no address of its kind");
  claim(is_qp(flow.source_qp), "source_qp: {} is not in 2 … 16777214", flow.source_qp);
  claim(is_qp(flow.destination_qp), "destination_qp: {} is not in 2 … 16777214", flow.destination_qp);
  claim(flow.dscp <= kMaxDscp, "dscp: {} is above {}", flow.dscp, kMaxDscp);
  claim(flow.ecn <= ip::kCe, "ecn: {} is above 3", flow.ecn);
  claim(flow.ttl > 0, "ttl: 0 leaves no host");
  claim(flow.flow_label <= ipv6::kFlowLabelMask, "flow_label: {:#x} is above 20 bits", flow.flow_label);
  claim(flow.message_bytes <= kMaxMessageBytes, "message_bytes: {} is above 2^31", flow.message_bytes);
  claim(!flow.has_immediates || (flow.verb == control::Verb::kSend && flow.queue_depth != 0),
        "has_immediates: of sends that are posted");
  claim(flow.first_psn <= bth::kMask24, "first_psn: {:#x} is above 24 bits", flow.first_psn);
  claim(flow.port.value() < host.ports, "port: {}, but the host has {}", flow.port.value(), host.ports);
  claim(flow.start >= Instant{}, "start: before the fabric's");
  claim(flow.gap >= Duration{}, "gap: negative");
  constexpr std::array kPathMtus{256u, 512u, 1024u, 2048u, 4096u};
  const bool known = std::ranges::find(kPathMtus, flow.mtu) != kPathMtus.end();
  claim(known, "mtu: {} is none of 256, 512, 1024, 2048, 4096", flow.mtu);
  claim(flow.rate.is_zero() || flow.rate >= Rate::min(), "rate: below 1 Mb/s");
  const ReliableParameters& reliable = flow.reliable;
  std::apply([&](const auto&... key) { (claim_within(key, reliable, wrong), ...); }, control::kReliableKeys);
  claim(reliable.ack_every <= reliable.window,
        "ack_every: {} is above {}, the window: it would wait for what nobody sends", reliable.ack_every,
        reliable.window);
  const uint32_t packet = largest_packet_bytes(flow);
  claim(!known || packet <= host.mtu, "mtu: {} makes IP packets of {} bytes, above the host's mtu of {}", flow.mtu,
        packet, host.mtu);
  return wrong;
}

std::vector<std::string> validate(const HostConfig& host, const SinkConfig& sink) {
  std::vector<std::string> wrong;
  const bool answers = sink.transport == TransportKind::kReliable || sink.cnp_interval > Duration{};
  if (answers && !is_qp(sink.source_qp)) wrong.emplace_back("source_qp: it has nobody to answer");
  if (answers && !has_address_like(host, sink.source))
    wrong.emplace_back("source: the host has no address of its kind");
  if (sink.ack_dscp > kMaxDscp || sink.cnp_dscp > kMaxDscp) wrong.emplace_back("dscp: above 63");
  if (sink.cnp_interval < Duration{}) wrong.emplace_back("cnp_interval: negative");
  if (sink.nic_delay < Duration{}) wrong.emplace_back("nic_delay: negative");
  return wrong;
}

}  // namespace softspine::testbeds
