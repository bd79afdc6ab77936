// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/exposition.hpp"

#include <fmt/format.h>

namespace softspine::control {

namespace {

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view word_for(Exposition::Type type) {
  switch (type) {
    case Exposition::Type::kCounter: return "counter";
    case Exposition::Type::kGauge: return "gauge";
    case Exposition::Type::kSummary: return "summary";
  }
  return "untyped";
}

}  // namespace

void Exposition::family(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  head_ = fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, escaped(help, false), word_for(type));
}

void Exposition::sample(Labels labels, double value) {
  line("", labels, fmt::format("{}", value));
}

void Exposition::sum_and_count(Labels labels, double sum, uint64_t count) {
  line("_sum", labels, fmt::format("{}", sum));
  line("_count", labels, std::to_string(count));
}

void Exposition::line(std::string_view suffix, Labels labels, std::string_view value) {
  if (is_over_) return;
  text_ += std::exchange(head_, {});
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (const auto& [label, content] : labels) {
    text_ += std::exchange(before, ',');
    text_ += label;
    text_ += "=\"" + escaped(content, true) + '"';
  }
  if (labels.size() > 0) text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
  if (put_ && text_.size() >= kPageBytes) is_over_ = !put_(std::exchange(text_, {}));
}

}  // namespace softspine::control
