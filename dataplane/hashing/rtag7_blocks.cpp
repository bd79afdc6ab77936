// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/rtag7_blocks.hpp"

#include <algorithm>

#include "dataplane/hashing/rtag7_function.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

// The value for a row that RTAG7 does not have is never used.
template <HashAlgorithm A>
constexpr bool kIsHere = row_of(A).is_in(HashModel::kRtag7);

uint32_t part_of(HashAlgorithm algorithm, uint32_t seed) noexcept {
  return with_algorithm(algorithm, [&]<HashAlgorithm A>() -> uint32_t {
    if constexpr (kIsHere<A>) return seed_part<A>(seed);
    return 0;
  });
}

// Block B in the place of block A.
HashConfig as_first(const HashConfig& config) {
  HashConfig out = config;
  out.algorithm = config.rtag7->b_first;
  out.fields = config.rtag7->b_fields.value_or(config.fields);
  out.seed = config.rtag7->b_seed;
  out.rtag7->a = config.rtag7->b;
  return out;
}

bool has_equal_ports(const HeaderView& view) noexcept {
  if ((view.flags & (kIsUdp | kIsTcp)) == 0) return false;
  const uint8_t* l4 = view.frame + view.l4_offset;
  return load16(l4 + udp::kSourcePort) == load16(l4 + udp::kDestinationPort);
}

}  // namespace

uint32_t Rtag7Blocks::Function::of(const uint64_t* words) const noexcept {
  return with_algorithm(algorithm, [&]<HashAlgorithm A>() -> uint32_t {
    if constexpr (kIsHere<A>) return Rtag7Function<A>::of(words, kWords) ^ seed_part;
    return 0;
  });
}

Rtag7Blocks::Block Rtag7Blocks::compiled(const HashConfig& config) {
  const auto function = [&](HashAlgorithm algorithm) {
    return Function{.algorithm = algorithm, .seed_part = part_of(algorithm, config.seed)};
  };
  const auto layouts = [](const HashConfig& of) { return std::array{KeyLayout{of, false}, KeyLayout{of, true}}; };
  const Rtag7Options& options = config.rtag7->a;
  Block out{.seed = config.seed,
            .functions = {function(config.algorithm), function(options.second)},
            .has_equal_ports = options.equal_ports.has_value(),
            .layouts = layouts(config),
            .equal_ports = {}};
  if (!options.equal_ports) return out;
  HashConfig other = config;
  other.fields = *options.equal_ports;
  out.equal_ports = layouts(other);
  return out;
}

Rtag7Blocks::Rtag7Blocks(const HashConfig& config)
    : blocks_{compiled(config), compiled(as_first(config))},
      choice_{.output = config.rtag7->output, .offset = config.offset},
      has_macro_flow_(config.rtag7->macro_flow && !config.rtag7->macro_flow->table.empty()) {
  if (!has_macro_flow_) return;
  const Rtag7MacroFlow& flows = *config.rtag7->macro_flow;
  upper_byte_ = flows.upper_byte;
  macro_flow_ = {.algorithm = flows.algorithm, .seed_part = part_of(flows.algorithm, config.seed)};
  for (size_t i = 0; i < table_.size(); ++i) table_[i] = flows.table[i % flows.table.size()];
}

const KeyLayout& Rtag7Blocks::layout(bool is_of_b, const HeaderView& view) const noexcept {
  const Block& block = blocks_[is_of_b ? 1 : 0];
  const size_t version = (view.flags & kIsIpv6) != 0 ? 1 : 0;
  return (block.has_equal_ports && has_equal_ports(view) ? block.equal_ports : block.layouts)[version];
}

void Rtag7Blocks::build(const HeaderView& view, HashKey& key) const noexcept {
  layout(true, view).build(view, key);
  std::copy_n(key.words.begin(), kWords, key.words.begin() + kWords);
  const bool cut_short = key.cut_short;
  layout(false, view).build(view, key);
  key.count = 2 * kWords;
  key.cut_short = key.cut_short || cut_short;
}

HashTaken Rtag7Blocks::take(const HashKey& key) const noexcept {
  Rtag7MacroFlow::Entry choice = choice_;
  HashTaken out;
  if (has_macro_flow_) {
    const uint32_t hash = macro_flow_.of(key.words.data());
    out.macro_flow = static_cast<int16_t>(upper_byte_ ? hash >> 8 : hash & 0xff);
    choice = table_[static_cast<size_t>(out.macro_flow)];
  }
  out.output = choice.output;
  out.offset = choice.offset;
  const Block& block = blocks_[out.is_of_b() ? 1 : 0];
  const bool is_second = out.output == Rtag7Output::kA1 || out.output == Rtag7Output::kB1;
  const Function& function = block.functions[is_second ? 1 : 0];
  out.algorithm = function.algorithm;
  out.seed = block.seed;
  out.raw = function.of(key.words.data() + (out.is_of_b() ? kWords : 0));
  return out;
}

}  // namespace softspine::dataplane
