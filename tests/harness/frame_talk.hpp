// SPDX-License-Identifier: Apache-2.0
// One end of a conversation of frames on a guest's line (testbeds/guest_line): a user of a program, or the guest. It
// waits for what it expects.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/server/socket_address.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/guest_line/line_frames.hpp"

namespace softspine::tests {

class FrameTalk {
 public:
  explicit FrameTalk(dataplane::OwnedFd socket) : socket_(std::move(socket)) {}
  // A user: of the line whose socket is there.
  explicit FrameTalk(const std::filesystem::path& path) : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const sockaddr_un address = control::socket_address(path);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  void put_bytes(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  void put(const testbeds::LineFrame& frame) const {
    std::string bytes;
    append_frame(bytes, frame);
    put_bytes(bytes);
  }
  void put_number(testbeds::FrameKind kind, uint32_t number, uint32_t program = 0,
                  testbeds::Stream stream = testbeds::Stream::kInput) const {
    std::string bytes;
    append_number(bytes, kind, stream, program, number);
    put_bytes(bytes);
  }
  void put_size(testbeds::TerminalSize size) const {
    std::string bytes;
    append_size(bytes, 0, size);
    put_bytes(bytes);
  }
  void begin(const std::vector<std::string>& command, const testbeds::BeginTerms& terms = {}) const {
    put({.kind = testbeds::FrameKind::kWords, .payload = testbeds::words_text({{"TERM=dumb"}, command})});
    std::string bytes;
    append_begin(bytes, 0, terms);
    put_bytes(bytes);
  }
  void type(std::string_view bytes) const { put({.kind = testbeds::FrameKind::kData, .payload = bytes}); }

  // The next frame as text: kind, stream, program, payload; "end" if no more comes.
  std::string next_text() {
    const auto frame = next();
    if (!frame) return "end";
    return std::to_string(static_cast<int>(frame->kind)) + " " + std::to_string(static_cast<int>(frame->stream)) + " " +
           std::to_string(frame->program) + " " + std::string{frame->payload};
  }
  // One of this kind; the data before it go into `output`. False if none comes.
  bool await(testbeds::FrameKind kind) {
    while (const auto frame = next()) {
      if (frame->kind == testbeds::FrameKind::kData) output += frame->payload;
      if (frame->kind == testbeds::FrameKind::kEnded) status = static_cast<int>(number_in(*frame).value_or(0));
      if (frame->kind == kind) return true;
    }
    return false;
  }
  bool await_text(const std::string& text) {
    while (output.find(text) == std::string::npos) {
      if (!await(testbeds::FrameKind::kData)) return false;
    }
    output.erase(0, output.find(text) + text.size());
    return true;
  }
  // A number that is the rest of a line.
  int await_number() {
    while (output.find('\n') == std::string::npos) {
      if (!await(testbeds::FrameKind::kData)) return -1;
    }
    return std::stoi(output);
  }
  // So many bytes, as they come; and whether more are there now.
  size_t take_bytes(size_t most) const {
    size_t taken = 0;
    char bytes[4096];
    while (taken < most) {
      const ssize_t got = recv(socket_.get(), bytes, std::min(most - taken, sizeof bytes), 0);
      if (got <= 0) break;
      taken += static_cast<size_t>(got);
    }
    return taken;
  }
  bool has_more() const {
    char byte = 0;
    return recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  }
  void leave() { socket_ = {}; }

  std::string output;
  int status = -1;

 private:
  std::optional<testbeds::LineFrame> next() {
    for (;;) {
      if (const auto frame = reader_.next()) return frame;
      char bytes[4096];
      const ssize_t got = recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) return std::nullopt;
      reader_.add({bytes, static_cast<size_t>(got)});
    }
  }

  dataplane::OwnedFd socket_;
  testbeds::FrameReader reader_;
};

}  // namespace softspine::tests
