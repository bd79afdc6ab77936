// SPDX-License-Identifier: Apache-2.0
// A switch that is to be identified: a random hash, computed by the slow twins of tests/model/hashing, and a group
// whose members stand in a random order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/identify/identification.hpp"
#include "analysis/identify/probes.hpp"
#include "dataplane/hashing/toeplitz.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/model/hashing/slow_hash.hpp"

namespace softspine::tests {

// The keys of hosts that forward, of IPv4 flows without tunnels: Linux's struct flow_keys, in which
// the smaller address and the smaller port come first, as little-endian numbers, and Open vSwitch's words.
inline SlowBytes slow_key_of_host(const dataplane::HashConfig& config, const analysis::Flow& flow) {
  using enum dataplane::HashField;
  const bool is_linux = config.model == dataplane::HashModel::kLinux;
  const auto takes = [&](dataplane::HashField field) {
    if (!is_linux || config.linux_policy == 1) return true;
    if (config.linux_policy == 3)
      return std::find(config.fields.begin(), config.fields.end(), field) != config.fields.end();
    return field == kSrcIp || field == kDstIp;
  };
  SlowBytes key(is_linux ? 48 : 16);
  const auto put = [&](size_t at, const uint8_t* bytes, size_t count) { std::copy_n(bytes, count, key.begin() + at); };
  const uint8_t ports[2][2]{
      {static_cast<uint8_t>(flow.source_port >> 8), static_cast<uint8_t>(flow.source_port)},
      {static_cast<uint8_t>(flow.destination_port >> 8), static_cast<uint8_t>(flow.destination_port)}};
  const size_t addresses = is_linux ? 36 : 0;
  const size_t at_ports = is_linux ? 28 : 12;
  if (takes(kSrcIp)) put(addresses, flow.source.data(), 4);
  if (takes(kDstIp)) put(addresses + 4, flow.destination.data(), 4);
  if (takes(kIpProtocol)) key[is_linux ? 2 : 8] = flow.protocol;
  if (flow.has_ports() && takes(kL4SrcPort)) put(at_ports, ports[0], 2);
  if (flow.has_ports() && takes(kL4DstPort)) put(at_ports + 2, ports[1], 2);
  if (!is_linux) {  // whether ports follow: of the symmetric ones, TCP's only
    const bool is_symmetric = config.algorithm == dataplane::HashAlgorithm::kOvsSymL4 ||
                              config.algorithm == dataplane::HashAlgorithm::kOvsSymL4Crc32c;
    key[11] = flow.has_ports() && (!is_symmetric || flow.protocol == dataplane::ip::kTcp) ? 1 : 0;
    return key;
  }
  const auto in_order = [&key](size_t at, size_t bytes) {
    const auto first = key.begin() + static_cast<ptrdiff_t>(at);
    const auto second = first + static_cast<ptrdiff_t>(bytes);
    const SlowBytes a(std::make_reverse_iterator(second), std::make_reverse_iterator(first));
    const auto end = second + static_cast<ptrdiff_t>(bytes);
    const SlowBytes b(std::make_reverse_iterator(end), std::make_reverse_iterator(second));
    if (b < a) std::swap_ranges(first, second, second);
  };
  in_order(addresses, 4);
  in_order(at_ports, 2);
  return key;
}

// The hash of a flow over IPv4, computed apart from the code under test.
inline uint32_t slow_hash_of(const dataplane::HashConfig& config, analysis::Flow flow) {
  const auto number_at = [](const analysis::Flow::Address& address) {
    return uint32_t{address[0]} << 24 | uint32_t{address[1]} << 16 | uint32_t{address[2]} << 8 | address[3];
  };
  const auto takes = [&config](dataplane::HashField field) {
    return std::find(config.fields.begin(), config.fields.end(), field) != config.fields.end();
  };
  using enum dataplane::HashField;
  if (dataplane::row_of(config.algorithm).is_of_hosts()) return slow_hash(config, slow_key_of_host(config, flow));
  if (config.model == dataplane::HashModel::kRtag7) {
    uint32_t user = takes(kRdmaBthDestQp) ? flow.qp : 0;
    if (takes(kRdmaBthOpcode)) user = takes(kRdmaBthDestQp) ? user * 256 + flow.opcode : flow.opcode;
    const SlowPacket packet{.source = {number_at(flow.source)},
                            .destination = {number_at(flow.destination)},
                            .vlan = flow.vlan,
                            .in_port = flow.in_port,
                            .protocol = flow.protocol,
                            .has_ports = flow.has_ports(),
                            .source_port = flow.source_port,
                            .destination_port = flow.destination_port,
                            .user = user};
    const dataplane::Rtag7Options options = config.rtag7 ? config.rtag7->a : dataplane::Rtag7Options{};
    return slow_hash(config, slow_rtag7_key(packet, {.fields = config.fields, .options = options}));
  }
  // SAI's symmetric hash is that of the direction in which the larger address comes first, then the larger port.
  if (config.symmetric &&
      std::pair(flow.source, flow.source_port) < std::pair(flow.destination, flow.destination_port)) {
    std::swap(flow.source, flow.destination);
    std::swap(flow.source_port, flow.destination_port);
  }
  SlowBytes key;
  const auto add = [&](dataplane::HashField field, uint64_t value, size_t bytes) {
    if (!takes(field)) return;
    if (config.algorithm == dataplane::HashAlgorithm::kXor && bytes % 2 == 1) key.push_back(0);
    for (size_t i = bytes; i-- > 0;) key.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  add(kInPort, flow.in_port, 2);
  add(kSrcMac, 0, 6);
  add(kDstMac, 0, 6);
  add(kEthertype, 0x0800, 2);
  add(kVlanId, flow.vlan, 2);
  add(kSrcIp, number_at(flow.source), 4);
  add(kDstIp, number_at(flow.destination), 4);
  add(kL4SrcPort, flow.source_port, 2);
  add(kL4DstPort, flow.destination_port, 2);
  add(kIpProtocol, flow.protocol, 1);
  add(kRdmaBthDestQp, flow.qp, 3);
  add(kRdmaBthOpcode, flow.opcode, 1);
  add(kIpv6FlowLabel, 0, 3);
  add(kSrcIpv4, number_at(flow.source), 4);
  add(kDstIpv4, number_at(flow.destination), 4);
  key.resize((key.size() + 7) / 8 * 8);
  dataplane::HashConfig with_key = config;
  if (with_key.key.empty()) with_key.key.assign(dataplane::kMicrosoftRssKey.begin(), dataplane::kMicrosoftRssKey.end());
  return slow_hash(with_key, key);
}

struct SwitchUnderTest {
  dataplane::HashConfig hash;
  std::vector<uint32_t> order;  // the link of each member

  uint32_t members() const { return static_cast<uint32_t>(order.size()); }
  uint32_t bucket_of(const analysis::Flow& flow) const {
    const uint32_t value = slow_hash_of(hash, flow);
    if (hash.model == dataplane::HashModel::kLinux) return linux_bucket(value);
    return hash.model == dataplane::HashModel::kOvs ? ovs_bucket(value) : value % members();
  }
  uint32_t link_of(const analysis::Flow& flow) const { return order[bucket_of(flow)]; }

 private:
  // The first next hop whose upper bound, round(2^31 i / n) - 1, is not below the upper 31 bits.
  uint32_t linux_bucket(uint32_t value) const {
    const uint64_t n = members();
    uint32_t bucket = 0;
    while (((uint64_t{bucket + 1} << 31) + n / 2) / n - 1 < value >> 1) ++bucket;
    return bucket;
  }
  // Equal buckets are dealt in turn: value v of the table belongs to bucket v % n.
  uint32_t ovs_bucket(uint32_t value) const {
    uint32_t values = 16;
    while (values < 4 * members() && values < 256) values *= 2;
    return value % values % members();
  }
};

inline std::string name_of_link(uint32_t link) {
  return "Ethernet" + std::to_string(4 * link);
}

// The links that flows took; so many percent of the flows are said to have taken a random one.
inline analysis::Observations observed(const SwitchUnderTest& it, const std::vector<analysis::Flow>& flows,
                                       dataplane::Rng& rng, uint32_t wrong_percent = 0) {
  analysis::ObservationCollector out;
  for (uint32_t link = 0; link < it.members(); ++link) out.add_link(name_of_link(link));
  for (const analysis::Flow& flow : flows) {
    const bool is_wrong = rng.below(100) < wrong_percent;
    out.add(flow, name_of_link(is_wrong ? static_cast<uint32_t>(rng.below(it.members())) : it.link_of(flow)));
  }
  return std::move(out).take();
}

// A model and an algorithm, four out of seven times over the 5-tuple, an offset, and a seed: of hashes that are not
// linear one below 65,536.
inline dataplane::HashConfig random_hash(dataplane::Rng& rng) {
  dataplane::HashConfig out;
  for (;;) {
    out.model = rng.below(2) == 0 ? dataplane::HashModel::kSai : dataplane::HashModel::kRtag7;
    const auto& row = dataplane::kHashAlgorithms[rng.below(dataplane::kHashAlgorithms.size())];
    if (!row.is_in(out.model) || row.is_drawn) continue;
    out.algorithm = row.algorithm;
    const bool is_linear = row.seed != dataplane::SeedEffect::kMixing;
    out.seed = static_cast<uint32_t>(is_linear ? rng.next() : rng.below(65'536));
    out.offset = static_cast<uint8_t>(rng.below(row.bits_in(out.model)));
    break;
  }
  const auto set_from = [&](analysis::FieldTier tier) {
    const auto sets = analysis::field_sets(tier, {}, false);
    return sets[rng.below(sets.size())];
  };
  if (rng.below(7) >= 4) {
    do {
      out.fields = set_from(analysis::FieldTier::kUsual);
    } while (out.fields.size() < 3);
  }
  if (out.model == dataplane::HashModel::kRtag7 && rng.below(4) == 0) {
    out.rtag7.emplace();
    out.rtag7->a.pre_processing = rng.below(2) == 0;
    out.rtag7->a.symmetric = !out.rtag7->a.pre_processing;
  }
  out.symmetric = out.model == dataplane::HashModel::kSai && rng.below(4) == 0;
  return out;
}

// A Linux router, or an Open vSwitch, with a seed below 65,536.
inline dataplane::HashConfig random_host_hash(dataplane::Rng& rng) {
  using enum dataplane::HashField;
  dataplane::HashConfig out{.seed = static_cast<uint32_t>(1 + rng.below(65'535))};
  if (rng.below(2) == 0) {
    out.model = dataplane::HashModel::kOvs;
    out.algorithm =
        static_cast<dataplane::HashAlgorithm>(static_cast<size_t>(dataplane::HashAlgorithm::kOvsSymL4) + rng.below(4));
    return out;
  }
  out.model = dataplane::HashModel::kLinux;
  out.algorithm = dataplane::HashAlgorithm::kSiphash;
  out.linux_policy = static_cast<uint8_t>(rng.below(2) == 0 ? rng.below(2) : 3);
  out.fields = {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol};
  if (out.linux_policy == 3) out.fields.erase(out.fields.begin() + static_cast<ptrdiff_t>(rng.below(5)));
  return out;
}

// Its flows take eight links at least: CRC_XOR1 and its kin, rotated, may leave all flows on one.
inline SwitchUnderTest random_switch(dataplane::Rng& rng,
                                     dataplane::HashConfig (*draw)(dataplane::Rng&) = random_hash) {
  SwitchUnderTest out;
  std::set<uint32_t> links;
  while (links.size() < 8) {
    out = {.hash = draw(rng), .order = std::vector<uint32_t>(8 + rng.below(57))};
    for (uint32_t i = 0; i < out.order.size(); ++i) out.order[i] = i;
    for (size_t i = out.order.size(); i > 1; --i) std::swap(out.order[i - 1], out.order[rng.below(i)]);
    links.clear();
    for (const analysis::Flow& flow : analysis::first_probes(300, {}, 1)) links.insert(out.link_of(flow));
  }
  return out;
}

}  // namespace softspine::tests
