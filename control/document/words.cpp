// SPDX-License-Identifier: Apache-2.0
#include "control/document/words.hpp"

#include <algorithm>
#include <cstdio>

namespace softspine::control {
namespace {

constexpr size_t kShownBytes = 60;
constexpr int64_t kCandidate = 16;  // what a word costs besides its letters

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// One of ASCII's or of Latin-1's (U+0080 to U+009F: two bytes, either of them).
bool is_control(std::string_view text, size_t i) {
  const auto at = [&](size_t k) { return k < text.size() ? static_cast<uint8_t>(text[k]) : uint8_t{0}; };
  const auto latin = [&](size_t k) { return at(k) == 0xC2 && at(k + 1) >= 0x80 && at(k + 1) <= 0x9F; };
  return at(i) < 0x20 || at(i) == 0x7F || latin(i) || (i > 0 && latin(i - 1));
}

}  // namespace

std::string shown(std::string_view text) {
  const bool cut = text.size() > kShownBytes;
  if (cut) {
    size_t end = kShownBytes;
    while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;  // not within a UTF-8 sequence
    text = text.substr(0, end);
  }
  std::string out = "'";
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (!is_control(text, i)) {
      out += text[i];
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    out += escaped;
  }
  return out + (cut ? "…'" : "'");
}

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit) return limit + 1;
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t best = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
      best = std::min(best, row[j]);
    }
    if (best > limit) return limit + 1;
    before.swap(last);
    last.swap(row);
  }
  return std::min(last[b.size()], limit + 1);
}

std::string Guesser::guess(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.empty() || word.size() > 64) return "";
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  const std::string wanted = lower(word);
  size_t best = limit + 1;
  std::string_view found;
  for (const std::string_view candidate : known) {
    if (budget_ < 0) return "";
    budget_ -= kCandidate;
    if (candidate.size() > word.size() + limit || candidate.size() + limit < word.size()) continue;
    budget_ -= static_cast<int64_t>(word.size() * candidate.size());
    const size_t distance = edit_distance(wanted, lower(candidate), limit);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return best > limit ? "" : ": did you mean " + shown(found) + "?";
}

}  // namespace softspine::control
