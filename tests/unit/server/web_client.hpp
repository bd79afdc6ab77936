// SPDX-License-Identifier: Apache-2.0
// HTTP and WebSockets by hand, over a client without manners.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/unit/server/raw_client.hpp"

namespace softspine::tests {

struct WebAnswer {
  int status = 0;
  std::string head;
  std::string body;
};

class WebClient : public RawClient {
 public:
  explicit WebClient(uint16_t port) : RawClient(port) {}

  // The next answer; its status is 0 when the server has closed the connection.
  WebAnswer answer(bool has_body = true) {
    WebAnswer out;
    for (std::string next = line(); next != "\r" && !next.empty(); next = line()) out.head += next + "\n";
    if (out.head.size() > 12) out.status = std::stoi(out.head.substr(9, 3));
    if (!has_body || out.status == 100 || out.status == 101) return out;
    if (out.head.find("Transfer-Encoding: chunked") != std::string::npos) {
      for (size_t size = std::stoul(line(), nullptr, 16);; size = std::stoul(line(), nullptr, 16)) {
        out.body += bytes(size);
        line();
        if (size == 0) return out;
      }
    }
    if (const std::string length = field(out.head, "Content-Length"); !length.empty())
      out.body = bytes(std::stoul(length));
    return out;
  }
  WebAnswer get(const std::string& target, const std::string& more = "") {
    send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
    return answer();
  }
  WebAnswer post(const std::string& target, const std::string& body, const std::string& more = "") {
    send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + more + "\r\n" + body);
    return answer();
  }
  WebAnswer open_events(const std::string& more = "") {
    return get("/events",
               "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                   more);
  }
  // A frame from the client: masked, by zeros.
  void send_frame(uint8_t opcode, std::string_view payload) {
    std::string frame{static_cast<char>(0x80 | opcode), static_cast<char>(0x80 | payload.size())};
    send(frame + std::string(4, '\0') + std::string(payload));
  }
  struct Frame {
    uint8_t opcode = 0;  // 0: there is none
    std::string payload;
  };
  Frame frame() {
    const std::string head = bytes(2);
    if (head.size() < 2) return {};
    uint64_t size = static_cast<uint8_t>(head[1]) & 0x7f;
    if (size >= 126) {
      size_t length_bytes = size == 126 ? 2 : 8;
      size = 0;
      for (const char c : bytes(length_bytes)) size = size << 8 | static_cast<uint8_t>(c);
    }
    return {static_cast<uint8_t>(head[0] & 0x0f), bytes(size)};
  }

  static std::string field(const std::string& head, const std::string& name) {
    const size_t at = head.find("\n" + name + ": ");
    if (at == std::string::npos) return {};
    const size_t begin = at + name.size() + 3;
    return head.substr(begin, head.find('\r', begin) - begin);
  }
};

}  // namespace softspine::tests
