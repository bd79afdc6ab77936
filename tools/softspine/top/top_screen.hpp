// SPDX-License-Identifier: Apache-2.0
// `softspine top` on a terminal: asks the fabric at an interval, draws, obeys keys and signals, until one of them or
// the fabric ends it. One thread, which waits for whichever comes first: a fabric that does not answer blocks no key.
#pragma once

#include <chrono>
#include <string>

#include "tools/softspine/top/fabric_watch.hpp"
#include "tools/softspine/top/top_terminal.hpp"
#include "tools/softspine/top/top_view.hpp"

namespace softspine::tools {

class TopScreen {
 public:
  TopScreen(FabricWatch& watch, TopSettings settings, std::chrono::nanoseconds every)
      : watch_(watch), settings_(std::move(settings)), every_(every) {}

  // Until the user or the fabric ends it; the terminal is then as it was. Returns a sentence about the fabric's end;
  // empty: the user's.
  std::string run();

 private:
  using Time = std::chrono::steady_clock::time_point;
  bool turn(TopTerminal& terminal);
  void ask_if_due();
  void take_answer();
  void take_look(control::FabricPressure look);
  bool obey_signals(TopTerminal& terminal);
  bool obey_keys(TopTerminal& terminal);
  bool draw(TopTerminal& terminal);
  std::chrono::milliseconds patience() const;
  std::string notice() const;
  void end(const std::string& why);

  FabricWatch& watch_;
  TopSettings settings_;
  std::chrono::nanoseconds every_;
  TopLooks looks_;
  size_t rows_ = 0;
  bool is_asked_ = false;
  bool stands_still_ = false;
  std::string refusal_;  // of the last answer
  Time next_ask_{};
  Time last_look_{};
  std::string ending_;
};

}  // namespace softspine::tools
