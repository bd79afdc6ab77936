// SPDX-License-Identifier: Apache-2.0
// RTAG7 once more, from the description of what a chip computes: bins in a list, a shift register for each CRC that
// takes one bit at a time, a loop for each rotation. No line of what it judges.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dataplane/hashing/hash_config.hpp"

namespace softspine::tests {

using SlowBytes = std::vector<uint8_t>;

// A register of so many bits, its first one in front, that takes each byte with the last bit first: what a reflected
// CRC is before it is turned round. So its value is the chip's "bit-reversed" result, and nothing is reversed here.
inline uint32_t slow_register(unsigned bits, uint32_t polynomial, const SlowBytes& bytes, uint32_t start = 0) {
  const uint64_t first = uint64_t{1} << (bits - 1);
  uint64_t cells = start;
  for (const uint8_t byte : bytes) {
    for (int i = 0; i < 8; ++i) {
      const bool feedback = ((cells & first) != 0) != ((byte >> i & 1) != 0);
      cells = (cells & ~first) * 2;
      if (feedback) cells ^= polynomial;
    }
  }
  return static_cast<uint32_t>(cells);
}

// The sum of a key's bins, in base 2 without carry, folded in halves down to so many bits.
inline uint32_t slow_xor_of_bins(const SlowBytes& key, unsigned bits) {
  uint32_t sum = 0;
  for (size_t i = 0; i < key.size(); i += 2) sum ^= key[i] + 256U * key[i + 1];
  for (unsigned width = 16; width > bits; width /= 2) sum = sum % (1U << width / 2) ^ sum / (1U << width / 2);
  return sum;
}

// Of a whole key, with its seed.
inline uint32_t slow_rtag7_function(dataplane::HashAlgorithm algorithm, const SlowBytes& key) {
  using enum dataplane::HashAlgorithm;
  const auto arc = [&] { return slow_register(16, 0x8005, key); };
  const auto castagnoli = [&] { return slow_register(32, 0x1EDC6F41, key); };
  const auto ethernet = [&] { return slow_register(32, 0x04C11DB7, key); };
  const auto koopman = [&] { return slow_register(32, 0x741B8CD7, key); };
  const auto with_xor = [&](unsigned bits) { return arc() / 256 * 256 + slow_xor_of_bins(key, bits); };
  switch (algorithm) {
    case kCrc: return arc();
    case kXor: return slow_xor_of_bins(key, 16);
    case kCrcCcitt: return slow_register(16, 0x1021, key);
    case kCrcXor: return with_xor(8);
    case kCrcXor4: return with_xor(4);
    case kCrcXor2: return with_xor(2);
    case kCrcXor1: return with_xor(1);
    case kCrc32Lo: return castagnoli() % 65'536;
    case kCrc32Hi: return castagnoli() / 65'536;
    case kCrcEthernetLo: return ethernet() % 65'536;
    case kCrcEthernetHi: return ethernet() / 65'536;
    case kCrcKoopmanLo: return koopman() % 65'536;
    case kCrcKoopmanHi: return koopman() / 65'536;
    default: throw std::logic_error("RTAG7 has no twin of this algorithm");
  }
}

// The seed is the last word of the key, its lowest byte first.
inline SlowBytes with_slow_seed(SlowBytes key, uint32_t seed) {
  for (size_t i = 0; i < 4; ++i) key[key.size() - 4 + i] ^= static_cast<uint8_t>(seed >> (8 * i));
  return key;
}

// A packet of IP as the chip's parser hands it on.
struct SlowPacket {
  std::vector<uint32_t> source;  // words: one of IPv4, four of IPv6
  std::vector<uint32_t> destination;
  unsigned vlan = 0;
  unsigned in_port = 0;
  unsigned protocol = 0;
  bool has_ports = false;  // UDP or TCP
  unsigned source_port = 0;
  unsigned destination_port = 0;
  uint32_t user = 0;  // bins 1 and 0
};

inline uint32_t slow_address(const std::vector<uint32_t>& words, bool low) {
  if (low) return words.back();
  uint32_t sum = 0;
  for (const uint32_t word : words) sum ^= word;
  return sum;
}

struct SlowBlock {
  std::vector<dataplane::HashField> fields;
  dataplane::Rtag7Options options;
  uint32_t seed = 0;
  bool has_user = false;
};

inline SlowBytes slow_rtag7_key(SlowPacket packet, SlowBlock block) {
  if (block.options.symmetric && packet.source < packet.destination) {
    std::swap(packet.source, packet.destination);
    std::swap(packet.source_port, packet.destination_port);
  }
  if (block.options.equal_ports && packet.has_ports && packet.source_port == packet.destination_port)
    block.fields = *block.options.equal_ports;
  std::array<unsigned, 12> bins{};
  for (const dataplane::HashField field : block.fields) {
    using enum dataplane::HashField;
    const uint32_t source = slow_address(packet.source, block.options.low_ipv6);
    const uint32_t destination = slow_address(packet.destination, block.options.low_ipv6);
    if (field == kSrcIp) bins[11] = source >> 16;
    if (field == kSrcIp) bins[10] = source & 0xffff;
    if (field == kDstIp) bins[9] = destination >> 16;
    if (field == kDstIp) bins[8] = destination & 0xffff;
    if (field == kVlanId) bins[7] = packet.vlan;
    if (field == kL4SrcPort && packet.has_ports) bins[6] = packet.source_port;
    if (field == kL4DstPort && packet.has_ports) bins[5] = packet.destination_port;
    if (field == kIpProtocol) bins[4] = packet.protocol;
    if (field == kInPort) bins[3] = packet.in_port;
  }
  bins[1] = packet.user >> 16;
  bins[0] = packet.user & 0xffff;
  SlowBytes key;
  for (unsigned bin : bins) {
    if (block.options.pre_processing) bin = (bin ^ bin / 8 ^ bin * 4) % 65'536;
    key.push_back(static_cast<uint8_t>(bin % 256));
    key.push_back(static_cast<uint8_t>(bin / 256));
  }
  key.resize(28);
  return with_slow_seed(key, block.seed);
}

// `user_of`: what stands in bins 1 and 0 for a block's fields.
template <typename UserOf>
uint32_t slow_rtag7(const dataplane::HashConfig& config, const SlowPacket& packet, UserOf user_of) {
  using enum dataplane::Rtag7Output;
  const dataplane::Rtag7Config& rtag7 = *config.rtag7;
  const bool is_equal = packet.has_ports && packet.source_port == packet.destination_port;
  const auto key_of = [&](const std::vector<dataplane::HashField>& fields, const dataplane::Rtag7Options& options,
                          uint32_t seed) {
    SlowPacket with_user = packet;
    with_user.user = user_of(is_equal && options.equal_ports ? *options.equal_ports : fields);
    return slow_rtag7_key(with_user, {.fields = fields, .options = options, .seed = seed});
  };
  const SlowBytes a = key_of(config.fields, rtag7.a, config.seed);
  const SlowBytes b = key_of(rtag7.b_fields.value_or(config.fields), rtag7.b, rtag7.b_seed);
  dataplane::Rtag7Output output = rtag7.output;
  unsigned offset = config.offset;
  if (rtag7.macro_flow) {
    const uint32_t hash = slow_rtag7_function(rtag7.macro_flow->algorithm, a);
    const auto& table = rtag7.macro_flow->table;
    const auto& entry = table[(rtag7.macro_flow->upper_byte ? hash / 256 : hash % 256) % table.size()];
    output = entry.output;
    offset = entry.offset;
  }
  uint32_t value = 0;
  if (output == kA0) value = slow_rtag7_function(config.algorithm, a);
  if (output == kA1) value = slow_rtag7_function(rtag7.a.second, a);
  if (output == kB0) value = slow_rtag7_function(rtag7.b_first, b);
  if (output == kB1) value = slow_rtag7_function(rtag7.b.second, b);
  for (unsigned i = 0; i < offset; ++i) value = value / 2 + value % 2 * 32'768;
  return value;
}

}  // namespace softspine::tests
