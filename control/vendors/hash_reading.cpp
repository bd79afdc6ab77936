// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/hash_reading.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "control/document/words.hpp"
#include "control/vendors/configuration_lines.hpp"
#include "control/vendors/key_reading.hpp"
#include "control/vendors/nxos_hash.hpp"
#include "control/vendors/openconfig_hash.hpp"
#include "control/vendors/packet_types.hpp"
#include "control/vendors/payload_bytes.hpp"
#include "control/vendors/sand_profiles.hpp"

namespace softspine::control {
namespace {

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
      : row_(row), out_(out), ecmp_(row.usual_ipv4, row.usual_ipv6), lags_(row.usual_lag, row.usual_lag) {}

  void read(std::string_view text) {
    if (row_.vendor == Vendor::kArista) profiles_ = sand_profiles_in(text);
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
  enum class Outcome : uint8_t { kTaken, kElsewhere, kNoted };  // kNoted: in another list already

  void ignore(const ConfigurationLine& line) {
    if (++out_.ignored_count <= HashReading::kIgnoredListed)
      out_.ignored.push_back({line.number, std::string(line.text)});
  }
  Outcome not_taken(const ConfigurationLine& line, std::string_view why) {
    out_.not_taken.push_back({line.number, shown(line.text) + " " + std::string(why)});
    return Outcome::kNoted;
  }
  Outcome not_expressed(const ConfigurationLine& line, std::string_view why) {
    return not_taken(line, "is not expressed: " + std::string(why));
  }
  Outcome unknown(const ConfigurationLine& line) { return not_taken(line, "is not known here"); }
  Outcome fail(const ConfigurationLine& line, std::string text) {
    out_.errors.push_back({line.number, std::move(text)});
    return Outcome::kNoted;
  }

  void take(const ConfigurationLine& line) {
    switch (outcome_of(line)) {
      case Outcome::kTaken: return out_.taken.push_back({line.number, std::string(line.text)});
      case Outcome::kElsewhere: return ignore(line);
      case Outcome::kNoted: return;
    }
  }
  Outcome outcome_of(const ConfigurationLine& line) {
    size_t words = 0;
    const Knob* knob = knob_of(row_, line, words);
    if (knob == nullptr && is_head(line)) return Outcome::kElsewhere;
    if (knob == nullptr || has_unknown_words(*knob, line.words.size() - words)) return unknown(line);
    if (knob->kind == KnobKind::kElsewhere) return Outcome::kElsewhere;
    Knob turned = *knob;
    if (const auto profile = sand_profile_of(line)) {
      if (!profiles_.is_in_force(*profile))
        return not_taken(line, "is of the profile " + shown(*profile) + ", which is not in force");
      turned.of_lags = !profiles_.is_of_ecmp(*profile);
    }
    return turn(turned, line, {line.words.begin() + static_cast<ptrdiff_t>(words), line.words.end()});
  }
  // "ip load-sharing trident" may go on otherwise than with a seed.
  static bool has_unknown_words(const Knob& knob, size_t values) {
    if (knob.kind == KnobKind::kNoSeed) return values > 0;
    return (knob.kind == KnobKind::kSeed || knob.kind == KnobKind::kSymmetric) && values > 1;
  }
  // "load-balance sand profile default" sets nothing yet.
  bool is_head(const ConfigurationLine& line) const {
    return std::ranges::any_of(row_.prefixes, [&](std::string_view prefix) {
      return row_.syntax == LineSyntax::kIndented && begins_with(line, prefix) == line.words.size();
    });
  }

  Outcome turn(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    switch (knob.kind) {
      case KnobKind::kSeed: return turn_seed(knob, line, values);
      case KnobKind::kNoSeed: out_.seed = 0; return Outcome::kTaken;
      case KnobKind::kAlgorithm: return turn_algorithm(knob, line, values);
      case KnobKind::kSwitch: return turn_switch(knob, line, values);
      case KnobKind::kInclude: key_of(knob).put(knob, true); return Outcome::kTaken;
      case KnobKind::kExclude: key_of(knob).put(knob, false); return Outcome::kTaken;
      case KnobKind::kList: return turn_list(knob, line, values);
      case KnobKind::kEnable: return turn_enable(knob, line, values);
      case KnobKind::kSymmetric: return turn_symmetric(knob, line, values);
      case KnobKind::kPayload: return turn_payload(knob, line, values);
      case KnobKind::kProfile: return turn_profile(line, values);
      case KnobKind::kUnmodelled:
        if (values.size() == 1 && is_one_of(values.front(), kNo)) return Outcome::kTaken;
        return not_expressed(line, knob.why);
      case KnobKind::kElsewhere: break;
    }
    return Outcome::kElsewhere;
  }
  KeyReading& key_of(const Knob& knob) { return knob.of_lags ? lags_ : ecmp_; }

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
  Outcome turn_seed(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    const auto value = number(knob, line, values);
    if (!value) return Outcome::kNoted;
    (knob.of_lags ? out_.lag_seed : out_.seed) = static_cast<uint32_t>(*value);
    return Outcome::kTaken;
  }
  Outcome turn_algorithm(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    const std::string_view word = values.empty() ? std::string_view{} : values.front();
    const auto found = std::ranges::find(row_.algorithms, word, &AlgorithmWord::first);
    if (found == row_.algorithms.end()) return fail(line, "there is no algorithm " + shown(word));
    (knob.of_lags ? out_.lag_algorithm : out_.algorithm) = found->second;
    return Outcome::kTaken;
  }
  Outcome turn_switch(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    const bool is_yes = values.size() == 1 && is_one_of(values.front(), kYes);
    if (!is_yes && (values.size() != 1 || !is_one_of(values.front(), kNo)))
      return fail(line, std::string(knob.words) + ": expected on or off" +
                            (values.empty() ? "" : ", found " + shown(values.front())));
    key_of(knob).put(knob, is_yes);
    return Outcome::kTaken;
  }
  // A word that stands alone means yes.
  Outcome turn_symmetric(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    const bool is_yes = values.empty() || is_one_of(values.front(), kYes);
    if (!is_yes && !is_one_of(values.front(), kNo)) return unknown(line);
    out_.symmetric = is_yes;
    symmetric_families_ |= static_cast<uint8_t>(knob.families);
    return Outcome::kTaken;
  }
  Outcome turn_enable(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    if (values.size() != 1 || (!is_one_of(values.front(), kYes) && !is_one_of(values.front(), kNo)))
      return fail(line, "expected true or false");
    (knob.of_lags ? lags_enabled_ : ecmp_enabled_) = is_one_of(values.front(), kYes);
    return Outcome::kTaken;
  }
  Outcome turn_list(const Knob& knob, const ConfigurationLine& line, std::vector<std::string> values) {
    PacketType packets;
    if (row_.vendor == Vendor::kSonic) {
      if (auto error = take_packet_type(values, packets); !error.empty()) return fail(line, std::move(error));
    }
    FieldSet fields = 0;
    std::string others;
    for (const std::string& value : values) {
      const auto found = std::ranges::find(row_.fields, value, &FieldWord::first);
      if (found == row_.fields.end()) {
        others += (others.empty() ? "" : ", ") + shown(value);
      } else {
        fields |= set_of(found->second);
      }
    }
    if (packets.object) {
      packets.change((knob.of_lags ? lag_objects_ : objects_)[*packets.object], fields);
    } else {
      key_of(knob).replace(knob, fields);
    }
    if (others.empty()) return Outcome::kTaken;
    out_.partly.push_back({line.number, shown(line.text) + ", without " + others + ": not known here"});
    return Outcome::kNoted;
  }
  Outcome turn_payload(const Knob& knob, const ConfigurationLine& line, const std::vector<std::string>& values) {
    const PayloadBytes found = read_payload_bytes(values);
    if (found.is_head) return Outcome::kElsewhere;
    if (!found.why_not.empty()) return not_expressed(line, found.why_not);
    std::vector<dataplane::Udf>& all = knob.of_lags ? out_.lag_udfs : out_.udfs;
    if (all.size() + found.udfs.size() > dataplane::kMaxUdfs)
      return not_expressed(line, "more than " + std::to_string(dataplane::kMaxUdfs) + " UDFs");
    all.insert(all.end(), found.udfs.begin(), found.udfs.end());
    return Outcome::kTaken;
  }
  Outcome turn_profile(const ConfigurationLine& line, const std::vector<std::string>& values) {
    if (values.size() != 1) return unknown(line);
    if (profiles_.has(values.front())) return Outcome::kTaken;
    return not_taken(line, "names a profile that is not in this file");
  }

  void finish() {
    if (!out_.algorithm)
      out_.remarks.push_back({0, "no line names the function that is computed: the profile's own is taken"});
    if (!out_.seed && !row_.without_seed.empty())
      out_.remarks.push_back(
          {0, "no line says the seed, and " + std::string(row_.without_seed) + ": the profile's own is taken"});
    finish_symmetry();
    for (const std::string& text : profiles_.remarks()) out_.remarks.push_back({0, text});
    if (row_.vendor == Vendor::kTrafficConf) drop_what_is_not_enabled();
    finish_ecmp();
    finish_lags();
  }
  void finish_symmetry() {
    if (!out_.symmetric && row_.is_usually_symmetric)
      out_.remarks.push_back(
          {0,
           "no line says whether both directions of a flow hash alike, which is the default: the profile's own is "
           "taken (symmetric: true)"});
    if (symmetric_families_ == static_cast<uint8_t>(Families::kIpv4) ||
        symmetric_families_ == static_cast<uint8_t>(Families::kIpv6))
      out_.remarks.push_back({0, "symmetric is said of one IP version: it is taken for both"});
  }
  void drop_what_is_not_enabled() {
    const auto drop = [this](const char* name, KeyReading& key, FieldSet usual_ipv4, FieldSet usual_ipv6) {
      if (key.is_said())
        out_.remarks.push_back(
            {0, std::string(name) + ".enable is not true: the fields are the usual ones, whatever " + name + " says"});
      key = {usual_ipv4, usual_ipv6};
    };
    if (!ecmp_enabled_) drop("hash_config", ecmp_, row_.usual_ipv4, row_.usual_ipv6);
    if (!lags_enabled_) drop("lag_hash_config", lags_, row_.usual_lag, row_.usual_lag);
  }
  static void put(const std::array<std::optional<FieldSet>, dataplane::kHashObjects>& from, HashObjectFields& out) {
    for (size_t i = 0; i < from.size(); ++i) out[i] = from[i].transform(fields_of);
  }
  void finish_ecmp() {
    put(objects_, out_.objects);
    const KeyReading::Result found = ecmp_.finish();
    for (const std::string& text : found.remarks) out_.remarks.push_back({0, text});
    out_.adds_qp = found.adds_qp;
    if (!found.fields) return;
    out_.fields = fields_of(*found.fields);
    if (out_.fields->empty()) out_.errors.push_back({0, "no field is left in the key"});
  }
  void finish_lags() {
    put(lag_objects_, out_.lag_objects);
    if (!lags_.has_lines()) return;
    const KeyReading::Result found = lags_.finish();
    for (const std::string& text : found.remarks) out_.remarks.push_back({0, "of LAGs: " + text});
    if (!found.fields) return;
    out_.lag_fields = fields_of(*found.fields);
    if (out_.lag_fields->empty()) out_.errors.push_back({0, "no field is left in the key of LAGs"});
  }

  const VendorRow& row_;
  HashReading& out_;
  KeyReading ecmp_;
  KeyReading lags_;
  std::array<std::optional<FieldSet>, dataplane::kHashObjects> objects_;
  std::array<std::optional<FieldSet>, dataplane::kHashObjects> lag_objects_;
  SandProfiles profiles_;
  bool ecmp_enabled_ = false;
  bool lags_enabled_ = false;
  uint8_t symmetric_families_ = 0;
};

// The vendor of which the text has most lines on hashing.
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
  if (row->vendor == Vendor::kNxos) {
    read_nxos(text, out);
  } else {
    VendorReading(*row, out).read(text);
  }
  return out;
}

void apply_reading(const HashReading& reading, HashConfig& hash) {
  if (reading.algorithm) hash.algorithm = *reading.algorithm;
  if (reading.seed) hash.seed = *reading.seed;
  if (reading.offset) hash.offset = *reading.offset;
  if (reading.fields) hash.fields = *reading.fields;
  if (!reading.udfs.empty()) hash.udfs = reading.udfs;
  for (size_t i = 0; i < hash.objects.size(); ++i) {
    if (reading.objects[i]) hash.objects[i] = {.fields = *reading.objects[i], .udfs = {}, .fine_grained = {}};
  }
  if (reading.symmetric && hash.model == HashModel::kRtag7) {
    if (*reading.symmetric && !hash.rtag7) hash.rtag7.emplace();
    if (hash.rtag7) hash.rtag7->a.symmetric = *reading.symmetric;
  } else if (reading.symmetric) {
    hash.symmetric = *reading.symmetric;
  }
  constexpr HashField kQp = HashField::kRdmaBthDestQp;
  if (reading.adds_qp && std::ranges::find(hash.fields, kQp) == hash.fields.end()) hash.fields.push_back(kQp);
}

}  // namespace softspine::control
