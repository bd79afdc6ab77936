// SPDX-License-Identifier: Apache-2.0
// The terminal of a full-screen program: keys at once, the other screen, no cursor; as it was before on every way out
// but SIGKILL. Signals are read, so that nothing happens between two lines of a picture: Ctrl-C, Ctrl-Z, a new size.
// Plain ANSI sequences (ECMA-48 and xterm's ?1049), which every terminal of today has.
#pragma once

#include <signal.h>
#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "control/telemetry/live_table.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "tools/softspine/top/pressure_table.hpp"

namespace softspine::tools {

// Whether stdin and stdout are one that can be drawn on.
bool is_screen();

class TopTerminal {
 public:
  explicit TopTerminal(bool has_colours);
  ~TopTerminal();
  TopTerminal(const TopTerminal&) = delete;
  TopTerminal& operator=(const TopTerminal&) = delete;

  control::TerminalSize size() const;
  // False: the terminal is gone.
  bool draw(const std::vector<ScreenLine>& lines);
  // What was typed, if there is something; nothing: the terminal is gone.
  std::optional<std::string> typed();
  int signals() const { return signals_.get(); }
  // The next signal that has come; 0: none.
  int next_signal();
  // Stops the process as Ctrl-Z does; returns when it is continued.
  void suspend();

 private:
  bool enter();
  void leave();

  bool has_colours_;
  termios before_{};
  sigset_t mask_before_{};
  dataplane::OwnedFd signals_;
};

// The text that draws lines from the top of a terminal of that size.
std::string drawn(const std::vector<ScreenLine>& lines, control::TerminalSize size, bool has_colours);

}  // namespace softspine::tools
