// SPDX-License-Identifier: Apache-2.0
// One program that softspine-agent runs in a guest: its process, its streams, and what is under way between them and
// the line. On a terminal it has an attendant between it and the agent, as a shell would be, so that Ctrl-Z stops it;
// else the agent is its parent, and its streams are pipes.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/guest_line/line_frames.hpp"

namespace softspine::testbeds {

class AgentProgram {
 public:
  // `root`: its root folder; null: ours. The error is a sentence for a person. What cannot be found or run is none: it
  // has a status.
  static std::expected<AgentProgram, std::string> begin(const ProgramWords& words, const BeginTerms& terms,
                                                        const char* root = nullptr);

  pid_t process() const { return process_; }

  // Frames for it.
  void add_input(std::string_view bytes);
  void end_input() { input_ends_ = true; }
  void take_back(Stream stream, size_t bytes);
  void send_signal(int number) const;
  void resize(TerminalSize size) const;
  void resume() const;
  // Kills it with all of its process group; a terminal's programs get SIGHUP.
  void hang_up();

  void set_status(int status) { status_ = status; }

  // What it waits for. Without `line_has_room` nothing is read.
  void add_polled(std::vector<pollfd>& polled, bool line_has_room) const;
  // Moves what can be moved, and appends frames of the program `number`.
  void pump(uint32_t number, bool line_has_room, std::string& out);
  // It has ended, and all that it wrote has been sent.
  std::optional<int> final_status() const;

 private:
  AgentProgram() = default;
  void signal_group(int number) const;
  void pump_input(uint32_t number, std::string& out);
  void pump_output(uint32_t number, Stream stream, std::string& out);
  dataplane::OwnedFd& source(Stream stream) { return sources_[static_cast<size_t>(stream)]; }

  pid_t process_ = -1;
  bool has_terminal_ = false;
  dataplane::OwnedFd input_;                          // to its stdin; of a terminal: the master
  std::array<dataplane::OwnedFd, kStreams> sources_;  // stdout and stderr; of a terminal: the master
  std::string to_input_;                              // kWindowBytes at most
  bool input_ends_ = false;                           // behind that
  std::array<StreamWindow, kStreams> windows_;        // of what we send
  std::optional<int> status_;                         // once its process has ended
  size_t drained_bytes_ = 0;                          // since then
};

}  // namespace softspine::testbeds
