// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/openconfig_hash.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

using OcJson = nlohmann::ordered_json;

constexpr uint64_t kMaxSeed = 0xffff'ffff;
constexpr uint64_t kMaxRotation = 31;
constexpr int kMaxJsonDepth = 32;

// A key without its module's name.
std::string_view plain(std::string_view key) {
  return key.substr(key.find(':') == std::string_view::npos ? 0 : key.find(':') + 1);
}

const OcJson* child(const OcJson& value, std::string_view name) {
  if (!value.is_object()) return nullptr;
  for (const auto& [key, found] : value.items()) {
    if (plain(key) == name) return &found;
  }
  return nullptr;
}

const OcJson* policies_in(const OcJson& value, int depth) {
  if (!value.is_structured() || depth > kMaxJsonDepth) return nullptr;
  if (const OcJson* found = child(value, "hashing-policies")) return found;
  for (const OcJson& below : value) {
    if (const OcJson* found = policies_in(below, depth + 1)) return found;
  }
  return nullptr;
}

class PolicyReading {
 public:
  explicit PolicyReading(HashReading& out) : out_(out) {}

  void read(const OcJson& policy) {
    if (const OcJson* config = child(policy, "config")) read_config(*config);
    if (const OcJson* modes = child(policy, "hash-field-modes")) read_modes(*modes);
    if (!out_.algorithm)
      remark("no policy names the function that is computed by SAI's word: the profile's own is taken");
  }

 private:
  void remark(std::string text) { out_.remarks.push_back({0, std::move(text)}); }
  static std::string line_of(const std::string& what, const OcJson& value) {
    return what + " " + value.dump(-1, ' ', false, OcJson::error_handler_t::replace);
  }
  void take(const std::string& what, const OcJson& value) { out_.taken.push_back({0, line_of(what, value)}); }
  void not_taken(std::string text) { out_.not_taken.push_back({0, std::move(text)}); }

  std::optional<uint64_t> number(const std::string& name, const OcJson& value, uint64_t most) {
    uint64_t found = 0;
    bool is_good = value.is_number_unsigned();
    if (is_good) found = value.get<uint64_t>();
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
      is_good = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    }
    if (is_good && found <= most) return found;
    out_.errors.push_back({0, "hashing-policy's " + name + ": expected a number from 0 to " + std::to_string(most)});
    return std::nullopt;
  }

  void read_config(const OcJson& config) {
    if (!config.is_object()) return;
    for (const auto& [key, value] : config.items()) {
      const std::string name(plain(key));
      if (name == "name") continue;
      if (name == "seed") {
        if (const auto seed = number(name, value, kMaxSeed)) out_.seed = static_cast<uint32_t>(*seed);
        take(name, value);
      } else if (name == "rotation") {
        if (const auto bits = number(name, value, kMaxRotation)) out_.offset = static_cast<uint8_t>(*bits);
        take(name, value);
        remark("OpenConfig does not say which way 'rotation' rotates: to the right here");
      } else if (name == "algorithm") {
        read_algorithm(value);
      } else {
        not_taken(shown(name) + " is not known here");
      }
    }
  }
  void read_algorithm(const OcJson& value) {
    const std::string word = value.is_string() ? value.get<std::string>() : "";
    const auto& words = row_of(Vendor::kOpenConfig).algorithms;
    const auto found = std::ranges::find(words, word, &AlgorithmWord::first);
    if (found != words.end()) {
      out_.algorithm = found->second;
      take("algorithm", value);
    } else {
      not_taken("the algorithm " + shown(word) + " is the device's own word, and not known here");
    }
  }

  static bool is_true(const OcJson* config, std::string_view name) {
    const OcJson* value = config == nullptr ? nullptr : child(*config, name);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  static const OcJson* config_of(const OcJson& modes, std::string_view name) {
    const OcJson* container = child(modes, name);
    return container == nullptr ? nullptr : child(*container, "config");
  }
  // Nothing: left to the device.
  std::optional<FieldSet> addresses(const OcJson& modes, const std::string& family) {
    const OcJson* config = config_of(modes, family + "-fields");
    if (config == nullptr || is_true(config, family + "-target-define")) return std::nullopt;
    FieldSet out = 0;
    const bool both = is_true(config, family + "-both");
    if (both || is_true(config, family + "-src-address")) out |= set_of(HashField::kSrcIp);
    if (both || is_true(config, family + "-dst-address")) out |= set_of(HashField::kDstIp);
    if (is_true(config, family + "-flow-label")) out |= set_of(HashField::kIpv6FlowLabel);
    if (is_true(config, family + "-ingress-subinterface"))
      without_.push_back(family + "-ingress-subinterface: there are no subinterfaces here");
    lines_.push_back(line_of(family + "-fields", *config));
    return out;
  }
  std::optional<FieldSet> ports(const OcJson& modes) {
    const OcJson* config = child(modes, "config");
    const OcJson* value = config == nullptr ? nullptr : child(*config, "transport-ports");
    if (value == nullptr || !value->is_string()) return std::nullopt;
    const auto& word = value->get_ref<const std::string&>();
    const std::string_view mode = plain(word);
    lines_.push_back(line_of("transport-ports", *value));
    constexpr FieldSet kSource = set_of(HashField::kL4SrcPort);
    constexpr FieldSet kDestination = set_of(HashField::kL4DstPort);
    if (mode == "NONE") return FieldSet{0};
    if (mode == "SRC_PORT") return kSource;
    if (mode == "DST_PORT") return kDestination;
    if (mode == "BOTH") return kSource | kDestination;
    if (mode != "TARGET_DEFINED") out_.errors.push_back({0, "there is no transport-ports " + shown(word)});
    return std::nullopt;
  }
  void read_modes(const OcJson& modes) {
    constexpr FieldSet kLabel = set_of(HashField::kIpv6FlowLabel);
    const auto ipv4 = addresses(modes, "ipv4");
    const auto ipv6 = addresses(modes, "ipv6");
    const auto transport = ports(modes);
    if (!ipv4 && !ipv6 && !transport) return;
    if (!transport || (!ipv4 && !ipv6)) {
      for (const std::string& line : lines_)
        not_taken(line + ": another part of the fields is left to the device, so the profile's own are taken");
      return;
    }
    for (const std::string& line : lines_) out_.taken.push_back({0, line});
    for (const std::string& what : without_) out_.partly.push_back({0, "without " + what});
    if (ipv4 && ipv6 && (*ipv4 & ~kLabel) != (*ipv6 & ~kLabel))
      remark("IPv6's fields are others than IPv4's: those of IPv4 are taken for both");
    const FieldSet all = *transport | (ipv4 ? *ipv4 : *ipv6) | (ipv6 ? *ipv6 & kLabel : 0);
    out_.fields = fields_of(all);
    if (all == 0) out_.errors.push_back({0, "no field is left in the key"});
  }

  HashReading& out_;
  std::vector<std::string> lines_;    // on fields
  std::vector<std::string> without_;  // of them
};

// Deeper than any configuration, and than recursion should go.
OcJson parsed(std::string_view text) {
  const auto shallow = [](int depth, OcJson::parse_event_t, OcJson&) { return depth <= kMaxJsonDepth; };
  return OcJson::parse(text, shallow, false);
}

}  // namespace

void read_openconfig(std::string_view text, HashReading& out) {
  const OcJson root = parsed(text);
  const auto fail = [&out](std::string message) { out.errors.push_back({0, std::move(message)}); };
  if (root.is_discarded()) return fail("is no JSON");
  const OcJson* policies = policies_in(root, 0);
  const OcJson* list = policies == nullptr ? nullptr : child(*policies, "hashing-policy");
  if (list == nullptr || !list->is_array() || list->empty())
    return fail("has no OpenConfig hashing-policies; SONiC's files are read by config_db and switch_json");
  if (list->size() > 1) return fail("has " + std::to_string(list->size()) + " hashing policies: keep the one of ECMP");
  PolicyReading(out).read(list->front());
}

}  // namespace softspine::control
