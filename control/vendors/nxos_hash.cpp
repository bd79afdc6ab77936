// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/nxos_hash.hpp"

#include <algorithm>
#include <charconv>

#include "control/document/words.hpp"
#include "control/vendors/configuration_lines.hpp"

namespace softspine::control {
namespace {

constexpr FieldSet kNxosSources =
    set_of(HashField::kSrcIp) | set_of(HashField::kL4SrcPort) | set_of(HashField::kSrcMac);
constexpr FieldSet kNxosAddresses = set_of(HashField::kSrcIp) | set_of(HashField::kDstIp);
constexpr FieldSet kNxosPorts = set_of(HashField::kL4SrcPort) | set_of(HashField::kL4DstPort);
constexpr FieldSet kNxosVlan = set_of(HashField::kVlanId);
constexpr FieldSet kNxosMacs = set_of(HashField::kSrcMac) | set_of(HashField::kDstMac);

// The words behind the direction of a port channel's line.
constexpr std::pair<std::string_view, FieldSet> kNxosChannels[] = {
    {"ip", kNxosAddresses},
    {"l4port", kNxosPorts},
    {"ip-l4port", kNxosAddresses | kNxosPorts},
    {"ip-vlan", kNxosAddresses | kNxosVlan},
    {"ip-l4port-vlan", kNxosAddresses | kNxosPorts | kNxosVlan},
    {"mac", kNxosMacs}};

// Those of the fields that are of one direction; "": there is no such direction.
std::optional<FieldSet> nxos_direction(FieldSet fields, std::string_view word, std::string_view both,
                                       std::string_view source, std::string_view destination) {
  if (word == both) return fields;
  if (!source.empty() && word == source) return fields & (kNxosSources | kNxosVlan);
  if (word == destination) return fields & ~kNxosSources;
  return std::nullopt;
}

class NxosReading {
 public:
  explicit NxosReading(HashReading& out) : out_(out) {}

  void read(std::string_view text) {
    const VendorRow& row = row_of(Vendor::kNxos);
    for_each_line(text, row.syntax, [&](const ConfigurationLine& line) {
      const auto begins = [&line](std::string_view prefix) { return begins_with(line, prefix) > 0; };
      if (std::ranges::none_of(row.prefixes, begins)) {
        if (++out_.ignored_count <= HashReading::kIgnoredListed)
          out_.ignored.push_back({line.number, std::string(line.text)});
        return;
      }
      rest_ = {};
      if (!take(line)) return void(out_.not_taken.push_back({line.number, shown(line.text) + " is not known here"}));
      if (rest_.empty()) return void(out_.taken.push_back({line.number, std::string(line.text)}));
      out_.partly.push_back({line.number, shown(line.text) + ", without " + rest_ + ": no model here has it"});
    });
    out_.remarks.push_back({0, "no line names the function that is computed: the profile's own is taken"});
    if (!out_.seed)
      out_.remarks.push_back(
          {0, "no line says the seed (universal-id), and a switch draws one at random: the profile's own is taken"});
  }

 private:
  // Whether the line is known; what of it no model here has is in rest_.
  bool take(const ConfigurationLine& line) {
    if (begins_with(line, "ip load-sharing address") > 0) return take_ecmp(line);
    return begins_with(line, "port-channel load-balance") > 0 && take_channels(line);
  }
  bool take_ecmp(const ConfigurationLine& line) {
    const std::vector<std::string>& words = line.words;
    if (words.size() < 4) return false;
    auto fields = nxos_direction(kNxosAddresses, words[3], "source-destination", "source", "destination");
    if (!fields) return false;
    for (size_t i = 4; i < words.size(); ++i) {
      const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view{};
      if (words[i] == "port") {
        const auto ports = nxos_direction(kNxosPorts, next, "source-destination", "source", "destination");
        if (!ports) return false;
        *fields |= *ports;
        ++i;
      } else if (words[i] == "universal-id") {
        if (!read_seed(next)) return false;
        ++i;
      } else if (words[i] == "ipv6-flowlabel") {
        *fields |= set_of(HashField::kIpv6FlowLabel);
      } else {
        rest_ += (rest_.empty() ? "" : " ") + words[i];
      }
    }
    out_.fields = fields_of(*fields);
    return true;
  }
  bool take_channels(const ConfigurationLine& line) {
    const std::vector<std::string>& words = line.words;
    if (words.size() < 4) return false;
    const auto* known = std::ranges::find(kNxosChannels, words[3], &std::pair<std::string_view, FieldSet>::first);
    if (known == std::end(kNxosChannels)) return false;
    const auto fields = nxos_direction(known->second, words[2], "src-dst", "src", "dst");
    if (!fields) return false;
    for (size_t i = 4; i < words.size(); ++i) rest_ += (rest_.empty() ? "" : " ") + words[i];
    out_.lag_fields = fields_of(*fields);
    return true;
  }
  bool read_seed(std::string_view text) {
    uint32_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return false;
    out_.seed = seed;
    return true;
  }

  HashReading& out_;
  std::string rest_;
};

}  // namespace

void read_nxos(std::string_view text, HashReading& out) {
  NxosReading(out).read(text);
}

}  // namespace softspine::control
