// SPDX-License-Identifier: Apache-2.0
// The line between this process and one guest, and the socket on which programs in the guest are asked for
// (line_frames.hpp): whoever connects has one program, and GuestLine passes frames on between all of them and the
// guest's agent. A thread of its own does that; the fabric sees none of it. It waits for the guest to boot: what comes
// before is held.
//
// The guest may send anything, and the reader of a program may be slow. So memory is bounded: a connection is read only
// while little waits for the line, and a guest that sends more than the windows allow, or no frames, loses the
// connection, or all.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/guest_line/line_frames.hpp"
#include "testbeds/process/outside_error.hpp"

struct pollfd;

namespace softspine::testbeds {

class GuestLine {
 public:
  static constexpr size_t kMaxPrograms = 64;  // at once; who comes then waits

  // `host`: the guest's name, for messages. The socket is for this user alone, and is removed in the end.
  static std::expected<std::unique_ptr<GuestLine>, Error> open(std::string host, std::filesystem::path socket);
  // All programs are lost, if there are any.
  ~GuestLine();
  GuestLine(const GuestLine&) = delete;
  GuestLine& operator=(const GuestLine&) = delete;

  // The guest's end, which its machine inherits. To be closed here once it has: only then its end is seen.
  int guest_end() const { return guest_end_.get(); }
  void close_guest_end() { guest_end_ = {}; }

  const std::filesystem::path& socket() const { return socket_; }
  // The guest has ended, or has sent what it may not. Any thread.
  bool has_ended() const { return has_ended_; }

 private:
  struct Client {
    dataplane::OwnedFd socket;
    FrameReader reader;
    std::string out;       // to be sent to it
    bool is_over = false;  // its last frame is in `out`
    bool is_gone = false;
  };
  using Clients = std::map<uint32_t, Client>;  // by the number of their program

  GuestLine(std::string host, std::filesystem::path socket);
  std::expected<void, Error> listen();
  void serve();
  bool wait(std::vector<pollfd>& polled) const;
  void accept_client();
  void read_line();
  void take_from_guest(const LineFrame& frame);
  void read_client(uint32_t number, Client& client);
  void pass_to_guest(uint32_t number, Client& client, LineFrame frame);
  void write_line();
  static void write_out(const dataplane::OwnedFd& to, std::string& out, size_t most_bytes, bool& is_gone);
  void remove_gone();
  void lose(Client& client, std::string_view why) const;
  void lose_all(std::string_view why);
  bool has_room() const;

  std::string host_;
  std::filesystem::path socket_;
  dataplane::OwnedFd line_;  // from here on until thread_: of the thread's alone
  dataplane::OwnedFd guest_end_;
  dataplane::OwnedFd listener_;
  dataplane::OwnedFd stop_;
  FrameReader reader_;
  std::string out_;                       // to the guest
  StreamWindow line_window_{kLineBytes};  // of what is on its way there
  Clients clients_;
  uint32_t next_number_ = 1;
  bool is_greeted_ = false;
  bool line_is_gone_ = false;
  std::string why_ended_;
  std::atomic<bool> has_ended_ = false;
  std::jthread thread_;
};

}  // namespace softspine::testbeds
