// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "control/document/words.hpp"

namespace softspine::tools {

namespace {

// At commas, but not within brackets, braces and quotes.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  out.push_back(text.substr(begin));
  return out;
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool good = error == std::errc{} && end == text.data() + text.size() && !text.empty();
  return good ? std::optional(out) : std::nullopt;
}

struct WholeRange {
  int64_t first = 0;
  int64_t last = 0;
  int64_t step = 1;
};

// Nothing if it is a value: no two numbers around "..".
std::optional<WholeRange> range_of(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const size_t slash = std::min(text.find('/', dots), text.size());
  const auto first = whole_number(text.substr(0, dots));
  const auto last = whole_number(text.substr(dots + 2, slash - dots - 2));
  const auto step = slash == text.size() ? std::optional<int64_t>(1) : whole_number(text.substr(slash + 1));
  if (!first || !last || !step) return std::nullopt;
  return WholeRange{*first, *last, *step};
}

std::string add_range(const WholeRange& range, std::string_view text, std::vector<std::string>& out) {
  if (range.step < 1) return fmt::format("{}: a step is 1 at least", control::shown(text));
  if (range.last < range.first) return fmt::format("{}: ends before it begins", control::shown(text));
  const uint64_t steps =
      (static_cast<uint64_t>(range.last) - static_cast<uint64_t>(range.first)) / static_cast<uint64_t>(range.step);
  if (steps >= kMaxSweepRuns) return fmt::format("{}: has more than {} values", control::shown(text), kMaxSweepRuns);
  for (uint64_t i = 0; i <= steps; ++i)
    out.push_back(std::to_string(range.first + static_cast<int64_t>(i) * range.step));
  return {};
}

// The last `count` parts of a path, between dots.
std::string end_of(const std::string& path, size_t count) {
  size_t at = path.size();
  for (size_t i = 0; i < count && at != std::string::npos && at > 0; ++i) at = path.find_last_of('.', at - 1);
  return at == std::string::npos || at == 0 ? path : path.substr(at + 1);
}

}  // namespace

std::expected<Axis, std::string> axis_of(std::string_view text) {
  const auto setting = control::setting_of(text);
  if (!setting) return std::unexpected(setting.error());
  Axis out{.path = setting->path, .values = {}};
  for (const std::string_view part : parts_of(setting->value)) {
    if (part.empty()) return std::unexpected(fmt::format("{}: a value is missing", control::shown(text)));
    if (const auto range = range_of(part)) {
      if (const std::string why = add_range(*range, part, out.values); !why.empty()) return std::unexpected(why);
    } else {
      out.values.emplace_back(part);
    }
  }
  const std::set<std::string> distinct(out.values.begin(), out.values.end());
  if (distinct.size() != out.values.size())
    return std::unexpected(fmt::format("{}: has a value twice", control::shown(text)));
  return out;
}

std::expected<Combinations, std::string> Combinations::of(std::vector<Axis> axes) {
  std::set<std::string> paths;
  Combinations out(std::move(axes));
  for (const Axis& axis : out.axes_) {
    if (!paths.insert(axis.path).second) return std::unexpected(fmt::format("{} is set twice", axis.path));
    out.count_ *= axis.values.size();
    if (out.count_ > kMaxSweepRuns) return std::unexpected(fmt::format("more than {} combinations", kMaxSweepRuns));
  }
  return out;
}

std::vector<size_t> Combinations::places(uint64_t number) const {
  std::vector<size_t> out(axes_.size());
  for (size_t i = axes_.size(); i-- > 0; number /= axes_[i].values.size()) out[i] = number % axes_[i].values.size();
  return out;
}

std::vector<control::Setting> Combinations::settings(uint64_t number) const {
  const std::vector<size_t> at = places(number);
  std::vector<control::Setting> out;
  for (size_t i = 0; i < axes_.size(); ++i) out.push_back({axes_[i].path, axes_[i].values[at[i]]});
  return out;
}

std::vector<std::string> Combinations::names() const {
  std::vector<std::string> out;
  for (const Axis& axis : axes_) {
    size_t parts = 1;
    const auto is_others = [&](const Axis& other) {
      return &other != &axis && end_of(other.path, parts) == end_of(axis.path, parts);
    };
    while (end_of(axis.path, parts) != axis.path && std::ranges::any_of(axes_, is_others)) ++parts;
    out.push_back(end_of(axis.path, parts));
  }
  return out;
}

}  // namespace softspine::tools
