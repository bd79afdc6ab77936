// SPDX-License-Identifier: Apache-2.0
// Prometheus' text exposition format 0.0.4: families of samples, each with HELP and TYPE before its first.
// A family without a sample is left out. Names are ours and valid; label values and help are escaped.
// A large exposition is handed over in pages of whole lines, as it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace softspine::control {

class Exposition {
 public:
  using Label = std::pair<std::string_view, std::string_view>;
  using Labels = std::span<const Label>;
  enum class Type : uint8_t { kCounter, kGauge, kSummary };

  static constexpr size_t kPageBytes = 1 << 20;
  // Returns false when no more pages are wanted; nothing more is then made.
  using PutPage = std::function<bool(std::string page)>;

  Exposition() = default;
  // Pages have kPageBytes and at most one line more. The rest has to be taken at the end.
  explicit Exposition(PutPage put) : put_(std::move(put)) {}

  // Begins a family, which the samples that follow belong to. Each name once.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(Labels labels, uint64_t value) { line("", labels, std::to_string(value)); }
  void sample(Labels labels, double value);
  // The lines of a summary: name_sum and name_count.
  void sum_and_count(Labels labels, double sum, uint64_t count);
  // The same with labels that are already formatted.
  template <typename Value>
  void sample(std::initializer_list<Label> labels, Value value) {
    sample(Labels{labels.begin(), labels.size()}, value);
  }
  void sum_and_count(std::initializer_list<Label> labels, double sum, uint64_t count) {
    sum_and_count(Labels{labels.begin(), labels.size()}, sum, count);
  }

  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, Labels labels, std::string_view value);

  std::string text_;
  std::string name_;
  PutPage put_;  // empty: the whole text is kept
  bool is_over_ = false;
  std::string head_;  // HELP and TYPE of the family, until its first sample
};

}  // namespace softspine::control
