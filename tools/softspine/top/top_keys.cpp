// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/top_keys.hpp"

#include <algorithm>
#include <string>

namespace softspine::tools {

using control::RankBy;

namespace {

constexpr size_t kMostFilter = 64;
constexpr std::string_view kEscape = "\x1b";

// The first key of a text: one byte, or an escape sequence as terminals send it for a key.
std::string_view first_key(std::string_view typed) {
  if (!typed.starts_with(kEscape) || typed.size() < 2 || (typed[1] != '[' && typed[1] != 'O'))
    return typed.substr(0, 1);
  size_t end = 2;
  while (end < typed.size() && (typed[end] < '@' || typed[end] > '~')) ++end;
  return typed.substr(0, std::min(end + 1, typed.size()));
}

void type(std::string_view key, TopSettings& settings) {
  const char c = key[0];
  if (key == kEscape) {
    settings.filter = settings.filter_before;
    settings.is_typing = false;
  } else if (c == '\r' || c == '\n') {
    settings.is_typing = false;
  } else if (c == '\x7f' || c == '\b') {
    if (!settings.filter.empty()) settings.filter.pop_back();
  } else if (key.size() == 1 && c >= ' ' && c < '\x7f' && settings.filter.size() < kMostFilter) {
    settings.filter += c;
  }
  settings.first = 0;
}

// True if the key scrolls.
bool scroll(std::string_view key, size_t page, TopSettings& settings) {
  const auto up = [&settings](size_t by) { settings.first -= std::min(settings.first, by); };
  if (key == "k" || key == "\x1b[A" || key == "\x1bOA") {
    up(1);
  } else if (key == "j" || key == "\x1b[B" || key == "\x1bOB") {
    settings.first += 1;
  } else if (key == "\x1b[5~") {
    up(page);
  } else if (key == "\x1b[6~") {
    settings.first += page;
  } else if (key == "\x1b[H" || key == "\x1bOH" || key == "\x1b[1~") {
    settings.first = 0;
  } else {
    return false;
  }
  return true;
}

void rank_by(RankBy by, TopSettings& settings) {
  settings.by = by;
  settings.first = 0;
}

void command(char key, TopSettings& settings) {
  switch (key) {
    case 'h': return rank_by(RankBy::kHurt, settings);
    case 'p': return rank_by(RankBy::kPaused, settings);
    case 'd': return rank_by(RankBy::kDropped, settings);
    case 'o': return rank_by(RankBy::kOccupied, settings);
    case 'u': return rank_by(RankBy::kUtilised, settings);
    case ' ': settings.is_frozen = !settings.is_frozen; return;
    case '?': settings.shows_help = true; return;
    case 'v':
      settings.kind = settings.kind == RowKind::kPorts ? RowKind::kLanes : RowKind::kPorts;
      settings.first = 0;
      return;
    case '/':
      settings.filter_before = settings.filter;
      settings.is_typing = true;
      return;
    default: return;
  }
}

bool press_one(std::string_view key, size_t page, TopSettings& settings) {
  if (settings.is_typing) {
    type(key, settings);
    return true;
  }
  if (key == "q") return false;
  if (settings.shows_help) {
    settings.shows_help = false;
  } else if (key == kEscape) {
    settings.filter.clear();
    settings.first = 0;
  } else if (!scroll(key, page, settings) && key.size() == 1) {
    command(key[0], settings);
  }
  return true;
}

}  // namespace

bool press(std::string_view typed, size_t page, TopSettings& settings) {
  while (!typed.empty()) {
    const std::string_view key = first_key(typed);
    if (!press_one(key, page, settings)) return false;
    typed.remove_prefix(key.size());
  }
  return true;
}

}  // namespace softspine::tools
