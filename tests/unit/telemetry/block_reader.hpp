// SPDX-License-Identifier: Apache-2.0
// Reads a pcapng file back, by the draft and without our encoder: for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace softspine::tests {

struct ReadFrame {
  uint32_t interface = 0;
  uint64_t ticks = 0;  // of 100 ps
  uint32_t original_bytes = 0;
  std::string bytes;
  uint32_t flags = 0;
  uint64_t missed_before = 0;
  std::string comment;
};

struct ReadStatistics {
  uint32_t interface = 0;
  uint64_t ticks = 0;
  uint64_t received = 0;
  uint64_t dropped = 0;
};

struct ReadFile {
  std::string content;
  std::vector<std::string> interfaces;
  std::vector<std::string> descriptions;
  std::vector<std::string> filters;  // with the byte that says in which form
  std::vector<ReadFrame> frames;
  std::vector<ReadStatistics> statistics;
};

template <typename T>
T number_at(const std::string& text, size_t at) {
  T value{};
  if (at + sizeof value > text.size()) throw std::runtime_error("the file ends inside a block");
  std::memcpy(&value, text.data() + at, sizeof value);
  return value;
}

inline std::map<uint16_t, std::string> options_in(const std::string& block, size_t at) {
  std::map<uint16_t, std::string> options;
  for (;;) {
    const auto code = number_at<uint16_t>(block, at);
    const auto length = number_at<uint16_t>(block, at + 2);
    if (code == 0) return options;
    options[code] = block.substr(at + 4, length);
    at += 4 + (length + 3u) / 4 * 4;
  }
}

inline ReadFrame frame_in(const std::string& block) {
  ReadFrame frame;
  frame.interface = number_at<uint32_t>(block, 8);
  frame.ticks = (uint64_t{number_at<uint32_t>(block, 12)} << 32) | number_at<uint32_t>(block, 16);
  const auto captured = number_at<uint32_t>(block, 20);
  frame.original_bytes = number_at<uint32_t>(block, 24);
  frame.bytes = block.substr(28, captured);
  auto options = options_in(block, 28 + (captured + 3u) / 4 * 4);
  frame.flags = number_at<uint32_t>(options[2], 0);
  if (options.contains(4)) frame.missed_before = number_at<uint64_t>(options[4], 0);
  frame.comment = options[1];
  return frame;
}

inline ReadStatistics statistics_in(const std::string& block) {
  auto options = options_in(block, 20);
  return {.interface = number_at<uint32_t>(block, 8),
          .ticks = (uint64_t{number_at<uint32_t>(block, 12)} << 32) | number_at<uint32_t>(block, 16),
          .received = number_at<uint64_t>(options[4], 0),
          .dropped = number_at<uint64_t>(options[5], 0)};
}

inline ReadFile read_pcapng(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  ReadFile file;
  file.content.assign(std::istreambuf_iterator<char>{in}, {});
  for (size_t at = 0; at < file.content.size();) {
    const auto type = number_at<uint32_t>(file.content, at);
    const auto length = number_at<uint32_t>(file.content, at + 4);
    if (number_at<uint32_t>(file.content, at + length - 4) != length)
      throw std::runtime_error("a block's lengths differ");
    const std::string block = file.content.substr(at, length);
    if (type == 1) file.interfaces.push_back(options_in(block, 16)[2]);
    if (type == 1) file.descriptions.push_back(options_in(block, 16)[3]);
    if (type == 1) file.filters.push_back(options_in(block, 16)[11]);
    if (type == 5) file.statistics.push_back(statistics_in(block));
    if (type == 6) file.frames.push_back(frame_in(block));
    at += length;
  }
  return file;
}

}  // namespace softspine::tests
