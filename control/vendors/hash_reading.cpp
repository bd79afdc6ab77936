// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/hash_reading.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "control/document/words.hpp"
#include "control/vendors/configuration_lines.hpp"
#include "control/vendors/openconfig_hash.hpp"

namespace softspine::control {
namespace {

constexpr FieldSet kAddressesAndPorts = set_of(HashField::kSrcIp) | set_of(HashField::kDstIp) |
                                        set_of(HashField::kL4SrcPort) | set_of(HashField::kL4DstPort);
constexpr std::array<std::string_view, 4> kYes{"on", "enabled", "true", "TRUE"};
constexpr std::array<std::string_view, 4> kNo{"off", "disabled", "false", "FALSE"};

bool is_one_of(std::string_view word, const std::array<std::string_view, 4>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool concerns(const VendorRow& row, const ConfigurationLine& line) {
  return std::ranges::any_of(row.prefixes, [&line](std::string_view prefix) { return begins_with(line, prefix) > 0; });
}

// The longest one that the line begins with.
const Knob* knob_of(const VendorRow& row, const ConfigurationLine& line, size_t& words) {
  const Knob* found = nullptr;
  words = 0;
  for (const Knob& knob : row.knobs) {
    const size_t taken = begins_with(line, knob.words);
    if (taken > words) {
      words = taken;
      found = &knob;
    }
  }
  return found;
}

class VendorReading {
 public:
  VendorReading(const VendorRow& row, HashReading& out)
      : row_(row), out_(out), ipv4_{row.usual_ipv4}, ipv6_{row.usual_ipv6} {}

  void read(std::string_view text) {
    for_each_line(text, row_.syntax, [this](const ConfigurationLine& line) {
      if (concerns(row_, line)) {
        take(line);
      } else {
        ignore(line);
      }
    });
    finish();
  }

 private:
  struct Key {
    FieldSet fields = 0;
    FieldSet said = 0;  // of which a line says whether they are in the key
    bool is_said() const { return (said & kAddressesAndPorts) == kAddressesAndPorts; }
  };

  void ignore(const ConfigurationLine& line) {
    if (++out_.ignored_count <= HashReading::kIgnoredListed)
      out_.ignored.push_back({line.number, std::string(line.text)});
  }
  void remark(const ConfigurationLine& line, std::string text) {
    out_.remarks.push_back({line.number, std::move(text)});
  }
  void fail(const ConfigurationLine& line, std::string text) { out_.errors.push_back({line.number, std::move(text)}); }

  void take(const ConfigurationLine& line) {
    size_t words = 0;
    const Knob* knob = knob_of(row_, line, words);
    if (knob == nullptr) {
      if (is_head(line)) return ignore(line);
      return remark(line, shown(line.text) + " is not known here, and not taken into account");
    }
    if (knob->kind == KnobKind::kElsewhere || knob->kind == KnobKind::kLagAlgorithm) return ignore(line);
    out_.taken.push_back({line.number, std::string(line.text)});
    turn(*knob, line, {line.words.begin() + static_cast<ptrdiff_t>(words), line.words.end()});
  }
  // "load-balance sand profile default" says nothing yet.
  bool is_head(const ConfigurationLine& line) const {
    return std::ranges::any_of(row_.prefixes, [&](std::string_view prefix) {
      return row_.syntax == LineSyntax::kIndented && begins_with(line, prefix) == line.words.size();
    });
  }

  void turn(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    switch (knob.kind) {
      case KnobKind::kSeed: return turn_seed(knob, line, values);
      case KnobKind::kAlgorithm: return turn_algorithm(line, values);
      case KnobKind::kSwitch: return turn_switch(knob, line, values);
      case KnobKind::kInclude: return put(knob, true);
      case KnobKind::kExclude: return put(knob, false);
      case KnobKind::kList: return turn_list(knob, line, values);
      case KnobKind::kEnable: return turn_enable(line, values);
      case KnobKind::kUnmodelled:
        if (values.size() != 1 || !is_one_of(values.front(), kNo))
          remark(line, shown(line.text) + " is not expressed: " + std::string(knob.why));
        return;
      case KnobKind::kLagAlgorithm:
      case KnobKind::kElsewhere: return;
    }
  }

  std::optional<uint64_t> number(const Knob& knob, const ConfigurationLine& line,
                                 const std::vector<std::string>& values) {
    uint64_t value = 0;
    const std::string text = values.empty() ? "" : values.front();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = values.size() == 1 && error == std::errc{} && end == text.data() + text.size();
    if (is_number && value <= knob.most) return value;
    fail(line, std::string(knob.words) + ": expected a number from 0 to " + std::to_string(knob.most) +
                   (values.empty() ? "" : ", found " + shown(text)));
    return std::nullopt;
  }
  void turn_seed(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    if (const auto value = number(knob, line, values)) out_.seed = static_cast<uint32_t>(*value);
  }
  void turn_algorithm(const ConfigurationLine& line, const std::vector<std::string>& values) {
    const std::string_view word = values.empty() ? std::string_view{} : values.front();
    const auto found = std::ranges::find(row_.algorithms, word, &AlgorithmWord::first);
    if (found == row_.algorithms.end()) return fail(line, "there is no algorithm " + shown(word));
    out_.algorithm = found->second;
  }
  void turn_switch(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    const bool is_yes = values.size() == 1 && is_one_of(values.front(), kYes);
    if (!is_yes && (values.size() != 1 || !is_one_of(values.front(), kNo)))
      return fail(line, std::string(knob.words) + ": expected on or off" +
                            (values.empty() ? "" : ", found " + shown(values.front())));
    put(knob, is_yes);
  }
  void turn_enable(const ConfigurationLine& line, const std::vector<std::string>& values) {
    if (values.size() != 1 || (!is_one_of(values.front(), kYes) && !is_one_of(values.front(), kNo)))
      return fail(line, "expected true or false");
    is_enabled_ = is_one_of(values.front(), kYes);
  }
  void turn_list(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    FieldSet fields = 0;
    for (const std::string& value : values) {
      if (value.starts_with("INNER_")) continue;  // of tunnelled packets: there are none here
      const auto found = std::ranges::find(row_.fields, value, &FieldWord::first);
      if (found == row_.fields.end()) {
        remark(line, "the field " + shown(value) + " is not known here, and not in the key");
      } else {
        fields |= set_of(found->second) & knob.fields;
      }
    }
    for_each_key(knob, [&](Key& key) { key.fields = (key.fields & ~knob.fields) | fields; });
  }

  void put(const Knob& knob, bool is_in) {
    for_each_key(knob, [&](Key& key) { key.fields = is_in ? key.fields | knob.fields : key.fields & ~knob.fields; });
  }
  template <typename Change>
  void for_each_key(const Knob& knob, Change&& change) {
    // What is put beside the others, whatever the family, says nothing of them.
    const bool is_beside = knob.kind == KnobKind::kInclude && knob.families == Families::kBoth;
    const FieldSet said = knob.kind == KnobKind::kList ? knob.fields : is_beside ? 0 : ~FieldSet{0};
    const auto of = [&](Key& key, Families family) {
      if ((static_cast<uint8_t>(knob.families) & static_cast<uint8_t>(family)) == 0) return;
      change(key);
      key.said |= said;
    };
    of(ipv4_, Families::kIpv4);
    of(ipv6_, Families::kIpv6);
  }

  bool has_switches_without_enable() const { return row_.vendor == Vendor::kTrafficConf && !is_enabled_; }
  void finish() {
    if (!out_.algorithm)
      out_.remarks.push_back({0, "no line names the function that is computed: the profile's own is taken"});
    if (!out_.seed && !row_.without_seed.empty())
      out_.remarks.push_back(
          {0, "no line says the seed, and " + std::string(row_.without_seed) + ": the profile's own is taken"});
    if (has_switches_without_enable()) {
      if (ipv4_.is_said() || ipv6_.is_said())
        out_.remarks.push_back(
            {0, "hash_config.enable is not true: the fields are the usual ones, whatever hash_config says"});
      ipv4_ = {row_.usual_ipv4};
      ipv6_ = {row_.usual_ipv6};
    }
    finish_fields();
  }
  void finish_fields() {
    constexpr FieldSet kOwn = set_of(HashField::kIpv6FlowLabel);
    constexpr FieldSet kQp = set_of(HashField::kRdmaBthDestQp);
    const bool is_usual = row_.usual_ipv4 != 0;
    if (!is_usual && !ipv4_.is_said() && !ipv6_.is_said()) {
      out_.adds_qp = (ipv4_.fields & kQp) != 0;
      if ((ipv4_.fields & ~kQp) != 0)
        out_.remarks.push_back({0, "no line says which other fields are in the key: the ingress port is left out"});
      return;
    }
    const bool both = is_usual || (ipv4_.is_said() && ipv6_.is_said());
    const FieldSet fields = is_usual || ipv4_.is_said() ? ipv4_.fields : ipv6_.fields;
    if (both && (ipv6_.fields & ~kOwn) != (ipv4_.fields & ~kOwn))
      out_.remarks.push_back({0, "IPv6's fields are others than IPv4's: those of IPv4 are taken for both"});
    if (!both)
      out_.remarks.push_back({0, std::string("only ") + (ipv4_.is_said() ? "IPv4's" : "IPv6's") +
                                     " fields are said: they are taken for both"});
    const FieldSet all = fields | (both ? ipv6_.fields & kOwn : 0);
    out_.fields.emplace();
    for (unsigned f = 0; f < 32; ++f) {
      if ((all >> f & 1) != 0) out_.fields->push_back(static_cast<HashField>(f));
    }
    if (out_.fields->empty()) out_.errors.push_back({0, "no field is left in the key"});
  }

  const VendorRow& row_;
  HashReading& out_;
  Key ipv4_;
  Key ipv6_;
  bool is_enabled_ = false;
};

// Whose lines on hashing the text has most of.
const VendorRow* recognise(std::string_view text) {
  const VendorRow* best = nullptr;
  uint64_t most = 0;
  for (const VendorRow& row : vendors()) {
    if (row.syntax == LineSyntax::kJson) continue;
    uint64_t count = 0;
    for_each_line(text, row.syntax, [&](const ConfigurationLine& line) { count += concerns(row, line) ? 1 : 0; });
    if (count <= most) continue;
    most = count;
    best = &row;
  }
  return best;
}

std::string names_of_vendors() {
  std::string out;
  for (const VendorRow& row : vendors()) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

}  // namespace

HashReading read_hash(std::string_view text) {
  HashReading out;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    out.vendor = Vendor::kOpenConfig;
    read_openconfig(text, out);
    return out;
  }
  const VendorRow* row = recognise(text);
  if (row == nullptr) {
    out.errors.push_back({0, "has no line on hashing that is known here: of " + names_of_vendors()});
    return out;
  }
  out.vendor = row->vendor;
  VendorReading(*row, out).read(text);
  return out;
}

void apply_reading(const HashReading& reading, HashConfig& hash) {
  if (reading.algorithm) hash.algorithm = *reading.algorithm;
  if (reading.seed) hash.seed = *reading.seed;
  if (reading.offset) hash.offset = *reading.offset;
  if (reading.fields) hash.fields = *reading.fields;
  constexpr HashField kQp = HashField::kRdmaBthDestQp;
  if (reading.adds_qp && std::ranges::find(hash.fields, kQp) == hash.fields.end()) hash.fields.push_back(kQp);
}

}  // namespace softspine::control
