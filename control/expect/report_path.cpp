// SPDX-License-Identifier: Apache-2.0
#include "control/expect/report_path.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "control/document/words.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::control {
namespace {

constexpr std::array kKeyUnits{KeyUnit{"_ps", Dimension::kDuration, 1},   KeyUnit{"_ns", Dimension::kDuration, 1e3},
                               KeyUnit{"_us", Dimension::kDuration, 1e6}, KeyUnit{"_ms", Dimension::kDuration, 1e9},
                               KeyUnit{"_s", Dimension::kDuration, 1e12}, KeyUnit{"_bps", Dimension::kRate, 1},
                               KeyUnit{"_bytes", Dimension::kBytes, 1},   KeyUnit{"_percent", Dimension::kShare, 1e-2}};

constexpr std::array<std::string_view, 2> kSharesOfOne{"share", "utilisation"};
constexpr std::array<std::string_view, 2> kRatios{"highest_load", "max_over_mean"};

bool is_drop_reason(std::string_view key) {
  for (int i = 0; i < dataplane::kDropReasons; ++i) {
    if (dataplane::name_of(static_cast<dataplane::DropReason>(i)) == key) return true;
  }
  return false;
}

bool is_container(const Json& value) {
  return value.is_object() || value.is_array();
}

class Search {
 public:
  explicit Search(bool is_outline) : is_outline_(is_outline) {}

  Found run(const Json& report, std::string_view path) {
    walk(report, path, "", "");
    if (!out_.matches.empty()) out_.missing.clear();
    return std::move(out_);
  }

 private:
  // `rest`: what of the path lies below `value`; `way`: what led here, with stars filled in.
  void walk(const Json& value, std::string_view rest, const std::string& way, const std::string& key) {
    if (rest.empty()) {
      out_.matches.push_back({way, key, &value});
      return;
    }
    if (!is_container(value)) {
      note_missing(rest, way + " is no map");
      return;
    }
    if (is_outline_ && is_open(value)) return walk_model(value, rest, way);
    if (rest == "*" || rest.starts_with("*.")) {
      each(value, rest.size() > 2 ? rest.substr(2) : "", way);
      return;
    }
    const auto [name, child] = value.is_array() ? item(value, rest) : longest_key(value, rest);
    if (child != nullptr) {
      walk(*child, below(rest, name.size()), joined(way, name), name);
    } else if (!exact_or_with_unit(value, rest, way)) {
      note_missing(rest, nearest(value, rest, way));
    }
  }

  // In an outline: any name, or any place of a list, leads to the one model.
  void walk_model(const Json& open, std::string_view rest, const std::string& way) {
    const Json& model = open.is_object() ? open["*"] : open.empty() ? unknown_value() : open[0];
    if (model.is_null()) {
      const std::string_view last = rest.substr(rest.rfind('.') + 1);
      out_.matches.push_back({joined(way, rest), std::string(last), &unknown_value()});
      return;
    }
    if (open.is_array() && !is_place(rest.substr(0, rest.find('.')))) {
      return note_missing(rest,
                          way + " is a list, numbered from 0: there is no " + shown(rest.substr(0, rest.find('.'))));
    }
    // A name may hold dots: the shortest that leads on is taken.
    const size_t before = out_.matches.size();
    for (size_t end = rest.find('.');; end = rest.find('.', end + 1)) {
      const std::string_view name = rest.substr(0, end);
      const bool is_all = end == std::string_view::npos;
      if (is_all && is_container(model) && name.find('.') != std::string_view::npos) return;
      walk(model, below(rest, name.size()), joined(way, name), std::string(name));
      if (is_all || out_.matches.size() != before || open.is_array() || name == "*") return;
    }
  }
  static bool is_place(std::string_view word) {
    return word == "*" || (!word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos);
  }

  void each(const Json& value, std::string_view rest, const std::string& way) {
    if (value.empty()) note_missing(rest, (way.empty() ? "the report" : way) + " is empty");
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        walk(value[i], rest, joined(way, std::to_string(i)), std::to_string(i));
      }
      return;
    }
    for (const auto& [name, child] : value.items()) walk(child, rest, joined(way, name), name);
  }

  static std::pair<std::string, const Json*> item(const Json& array, std::string_view rest) {
    const std::string_view word = rest.substr(0, rest.find('.'));
    size_t index = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
    const bool good = error == std::errc{} && end == word.data() + word.size() && index < array.size();
    return {std::string(word), good ? &array[index] : nullptr};
  }

  // The longest key that is the rest, or its beginning up to a dot.
  static std::pair<std::string, const Json*> longest_key(const Json& object, std::string_view rest) {
    std::pair<std::string, const Json*> best{"", nullptr};
    for (const auto& [name, child] : object.items()) {
      const bool fits = rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '.');
      if (fits && (best.second == nullptr || name.size() > best.first.size())) best = {name, &child};
    }
    return best;
  }

  // `fct_p99` for `fct_p99_ps`, at the end of a path only.
  bool exact_or_with_unit(const Json& value, std::string_view rest, const std::string& way) {
    if (!value.is_object()) return false;
    for (const auto& [name, child] : value.items()) {
      const auto unit = unit_of_key(name);
      if (!unit || name.substr(0, name.size() - unit->ending.size()) != rest) continue;
      out_.matches.push_back({joined(way, name), name, &child});
      return true;
    }
    return false;
  }

  // The first missing place is enough; the deepest one is the most useful.
  void note_missing(std::string_view rest, std::string message) {
    const bool deeper = out_.missing.empty() || rest.size() < missing_rest_;
    if (!deeper) return;
    out_.missing = std::move(message);
    missing_rest_ = rest.size();
  }

  std::string nearest(const Json& value, std::string_view rest, const std::string& way) {
    const std::string_view word = rest.substr(0, rest.find('.'));
    const std::string where = way.empty() ? "the report" : way;
    if (value.is_array()) {
      return where + " has " + std::to_string(value.size()) + " items, numbered from 0: there is no " + shown(word);
    }
    std::vector<std::string_view> keys;
    for (const auto& [name, child] : value.items()) {
      const auto unit = unit_of_key(name);
      keys.push_back(name);
      if (unit) keys.push_back(keys.back().substr(0, name.size() - unit->ending.size()));
    }
    std::string guess = guesser_.guess(word, keys);
    if (guess.empty() && !keys.empty() && value.size() <= kKeysListed) {
      for (const auto& [name, child] : value.items()) guess += (guess.empty() ? ": it has " : ", ") + name;
    }
    return where + " has no " + shown(word) + guess;
  }

  static std::string_view below(std::string_view rest, size_t taken) {
    return taken >= rest.size() ? std::string_view{} : rest.substr(taken + 1);
  }
  static std::string joined(const std::string& way, std::string_view name) {
    return way.empty() ? std::string(name) : way + "." + std::string(name);
  }

  static bool is_open(const Json& value) { return value.is_array() || (value.is_object() && value.contains("*")); }

  static constexpr size_t kKeysListed = 8;
  bool is_outline_;
  Found out_;
  size_t missing_rest_ = 0;
  Guesser guesser_;
};

}  // namespace

std::optional<KeyUnit> unit_of_key(std::string_view key) {
  if (is_drop_reason(key)) return std::nullopt;  // not_for_us is a number of packets
  const auto found = std::ranges::find_if(
      kKeyUnits, [&](const KeyUnit& u) { return key.size() > u.ending.size() && key.ends_with(u.ending); });
  return found == kKeyUnits.end() ? std::nullopt : std::optional(*found);
}

bool is_share_of_one(std::string_view key) {
  return std::ranges::find(kSharesOfOne, key) != kSharesOfOne.end();
}

bool is_ratio(std::string_view key) {
  return is_share_of_one(key) || std::ranges::find(kRatios, key) != kRatios.end();
}

Found find_in_report(const Json& report, std::string_view path) {
  return Search{false}.run(report, path);
}
Found find_in_outline(const Json& outline, std::string_view path) {
  return Search{true}.run(outline, path);
}
const Json& unknown_value() {
  static const Json kUnknown;
  return kUnknown;
}

}  // namespace softspine::control
