// SPDX-License-Identifier: Apache-2.0
// The line between this process and one guest, and the socket on which programs in the guest are asked for
// (line_frames.hpp): whoever connects has one program, and GuestLine passes frames on between all of them and the
// guest's agent. A thread of its own does that; the fabric sees none of it. It waits for the guest to boot: what comes
// before is held. An agent that is started again knows none of the programs that were: they are lost, and new ones
// begin.
//
// The guest may send anything, a user, too, and the reader of a program may be slow. So memory is bounded: a connection
// is read only while no frame of it waits for the line, where each has its turn, a frame at a time; and who sends more
// than the windows allow, or no frames, loses the connection. A guest that sends no frames loses all.
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

  // `host`: the guest's name, for messages. The socket is for this user alone, and is removed in the end. One at which
  // another run listens is an error.
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
    std::string out;        // to be sent to it
    StreamWindow window{};  // of its stdin
    bool is_known = false;  // to the guest
    bool is_over = false;   // its last frame is in `out`
    bool is_gone = false;
  };
  using Clients = std::map<uint32_t, Client>;  // by the number of their program
  enum class Agent { kAwaited, kGreeted, kReady };

  GuestLine(std::string host, std::filesystem::path socket);
  std::expected<void, Error> listen();
  void start();
  void serve();
  bool wait(std::vector<pollfd>& polled);
  void accept_client();
  void read_line();
  void take_bytes(std::string_view bytes);
  void begin_anew();
  void take_from_guest(const LineFrame& frame);
  void take_before_ready(const LineFrame& frame);
  void take_for_user(const LineFrame& frame, Client& client);
  void read_client(Client& client) const;
  void take_turns();
  bool take_turn(uint32_t number, Client& client);
  void write_line();
  static bool write_out(const dataplane::OwnedFd& to, std::string& out, size_t most_bytes);
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
  HelloFinder hello_;
  std::string out_;                       // to the guest
  StreamWindow line_window_{kLineBytes};  // of what is on its way there
  Clients clients_;
  uint32_t next_number_ = 1;
  uint32_t last_turn_ = 0;  // of take_turns()
  Agent agent_ = Agent::kAwaited;
  bool listener_rests_ = false;
  bool line_is_gone_ = false;
  std::string why_ended_;
  std::atomic<bool> has_ended_ = false;
  std::jthread thread_;
};

}  // namespace softspine::testbeds
