// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guest_line/line_frames.hpp"

#include <algorithm>

namespace softspine::testbeds {
namespace {

constexpr uint8_t kOnTerminal = 1;
constexpr uint8_t kErrorsApart = 2;

void append_little(std::string& out, uint32_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

uint32_t little(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

uint16_t little16(std::string_view bytes) {
  return static_cast<uint16_t>(little(bytes.substr(0, 2)));
}

bool is_kind(uint8_t kind) {
  return kind >= static_cast<uint8_t>(FrameKind::kHello) && kind <= static_cast<uint8_t>(FrameKind::kAnswer);
}

void append_text_of(std::string& out, TerminalSize size) {
  append_little(out, size.rows, 2);
  append_little(out, size.columns, 2);
}

// "a\0b\0" without the first word.
std::optional<std::string> next_word(std::string_view& text) {
  const size_t end = text.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  std::string word{text.substr(0, end)};
  text.remove_prefix(end + 1);
  return word;
}

}  // namespace

void append_frame(std::string& out, const LineFrame& frame) {
  out += static_cast<char>(frame.kind);
  out += static_cast<char>(frame.stream);
  append_little(out, static_cast<uint32_t>(frame.payload.size()), 2);
  append_little(out, frame.program, 4);
  out += frame.payload;
}

std::string hello_frame() {
  std::string out;
  append_frame(out, {.kind = FrameKind::kHello, .payload = kHelloText});
  return out;
}

void append_frames(std::string& out, LineFrame frame) {
  for (std::string_view rest = frame.payload; !rest.empty(); rest.remove_prefix(frame.payload.size())) {
    frame.payload = rest.substr(0, kMaxPayloadBytes);
    append_frame(out, frame);
  }
}

void append_number(std::string& out, FrameKind kind, Stream stream, uint32_t program, uint32_t number) {
  std::string payload;
  append_little(payload, number, 4);
  append_frame(out, {.kind = kind, .stream = stream, .program = program, .payload = payload});
}

void append_size(std::string& out, uint32_t program, TerminalSize size) {
  std::string payload;
  append_text_of(payload, size);
  append_frame(out, {.kind = FrameKind::kSize, .program = program, .payload = payload});
}

void append_begin(std::string& out, uint32_t program, const BeginTerms& terms) {
  std::string payload;
  payload += static_cast<char>((terms.has_terminal ? kOnTerminal : 0) | (terms.has_errors_apart ? kErrorsApart : 0));
  append_text_of(payload, terms.size);
  append_frame(out, {.kind = FrameKind::kBegin, .program = program, .payload = payload});
}

std::string words_text(const ProgramWords& words) {
  std::string out;
  for (const std::string& word : words.environment) out.append(word).push_back('\0');
  out.push_back('\0');
  for (const std::string& word : words.command) out.append(word).push_back('\0');
  return out;
}

std::optional<uint32_t> number_in(const LineFrame& frame) {
  if (frame.payload.size() != 4) return std::nullopt;
  return little(frame.payload);
}

std::optional<TerminalSize> size_in(const LineFrame& frame) {
  if (frame.payload.size() != 4) return std::nullopt;
  return TerminalSize{little16(frame.payload), little16(frame.payload.substr(2))};
}

std::optional<BeginTerms> begin_in(const LineFrame& frame) {
  if (frame.payload.size() != 5) return std::nullopt;
  const auto bits = static_cast<uint8_t>(frame.payload[0]);
  return BeginTerms{(bits & kOnTerminal) != 0,
                    (bits & kErrorsApart) != 0,
                    {little16(frame.payload.substr(1)), little16(frame.payload.substr(3))}};
}

std::optional<ProgramWords> words_in(std::string_view text) {
  ProgramWords words;
  for (;;) {
    auto word = next_word(text);
    if (!word) return std::nullopt;
    if (word->empty()) break;
    if (word->find('=') == std::string::npos || word->front() == '=') return std::nullopt;
    words.environment.push_back(std::move(*word));
  }
  while (!text.empty()) {
    auto word = next_word(text);
    if (!word) return std::nullopt;
    words.command.push_back(std::move(*word));
  }
  if (words.command.empty()) return std::nullopt;
  return words;
}

void FrameReader::add(std::string_view bytes) {
  if (is_broken_) return;
  bytes_.erase(0, read_);
  read_ = 0;
  bytes_ += bytes;
}

std::optional<LineFrame> FrameReader::next() {
  const std::string_view rest = std::string_view{bytes_}.substr(read_);
  if (is_broken_ || rest.size() < kHeaderBytes) return std::nullopt;
  const auto kind = static_cast<uint8_t>(rest[0]);
  const auto stream = static_cast<uint8_t>(rest[1]);
  const size_t size = little16(rest.substr(2));
  is_broken_ = !is_kind(kind) || stream >= kStreams || size > kMaxPayloadBytes;
  if (is_broken_ || rest.size() < kHeaderBytes + size) return std::nullopt;
  read_ += kHeaderBytes + size;
  return LineFrame{static_cast<FrameKind>(kind), static_cast<Stream>(stream), little(rest.substr(4, 4)),
                   rest.substr(kHeaderBytes, size)};
}

bool FrameReader::has_next() const {
  const std::string_view rest = std::string_view{bytes_}.substr(read_);
  if (is_broken_ || rest.size() < kHeaderBytes) return false;
  const size_t size = little16(rest.substr(2));
  return size > kMaxPayloadBytes || rest.size() >= kHeaderBytes + size;
}

std::optional<size_t> HelloFinder::end_in(std::string_view bytes) {
  static const std::string kHello = hello_frame();
  const std::string all = before_.append(bytes);
  const size_t at = all.find(kHello);
  if (at != std::string::npos) {
    const size_t end = at + kHello.size();
    before_.clear();
    return bytes.size() - (all.size() - end);
  }
  before_ = all.substr(all.size() - std::min(all.size(), kHello.size() - 1));
  return std::nullopt;
}

}  // namespace softspine::testbeds
