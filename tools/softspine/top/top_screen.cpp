// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/top_screen.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "tools/softspine/top/top_keys.hpp"

namespace softspine::tools {

using control::FabricPressure;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr milliseconds kLongestWait{500};  // the seconds without an answer are counted on
constexpr std::chrono::seconds kPatience{2};

bool has_colours() {
  const char* no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

}  // namespace

std::string TopScreen::run() {
  const size_t ports = watch_.map().ports.size();
  looks_.before.ports.resize(ports);
  looks_.now.ports.resize(ports);
  last_look_ = next_ask_ = steady_clock::now();
  TopTerminal terminal{has_colours()};
  while (draw(terminal) && turn(terminal)) {
  }
  return ending_;
}

// Until something has changed. False: the end.
bool TopScreen::turn(TopTerminal& terminal) {
  ask_if_due();
  if (!ending_.empty()) return false;
  std::array<pollfd, 3> ready{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                               {.fd = terminal.signals(), .events = POLLIN, .revents = 0},
                               {.fd = watch_.descriptor(), .events = POLLIN, .revents = 0}}};
  if (poll(ready.data(), ready.size(), static_cast<int>(patience().count())) < 0) return errno == EINTR;
  if (ready[1].revents != 0 && !obey_signals(terminal)) return false;
  if (ready[0].revents != 0 && !obey_keys(terminal)) return false;
  if (ready[2].revents != 0) take_answer();
  return ending_.empty();
}

milliseconds TopScreen::patience() const {
  if (is_asked_ || settings_.is_frozen) return kLongestWait;
  const auto left = std::chrono::ceil<milliseconds>(next_ask_ - steady_clock::now());
  return std::clamp(left, milliseconds{0}, kLongestWait);
}

void TopScreen::ask_if_due() {
  const auto now = steady_clock::now();
  if (is_asked_ || settings_.is_frozen || now < next_ask_) return;
  if (const auto asked = watch_.ask(); !asked) return end(asked.error());
  is_asked_ = true;
  next_ask_ = now + std::chrono::ceil<steady_clock::duration>(every_);
}

void TopScreen::take_answer() {
  auto answer = watch_.take();
  if (!answer) return end(answer.error());
  if (!*answer) return;
  is_asked_ = false;
  FabricWatch::Look& look = **answer;
  refusal_ = look ? "" : look.error();
  if (look) take_look(std::move(*look));
}

void TopScreen::take_look(FabricPressure look) {
  last_look_ = steady_clock::now();
  stands_still_ = look.at_ps == looks_.now.at_ps;
  if (settings_.is_frozen || stands_still_) return;
  looks_.before = std::exchange(looks_.now, std::move(look));
}

bool TopScreen::obey_signals(TopTerminal& terminal) {
  while (const int signal = terminal.next_signal()) {
    if (signal == SIGTSTP) {
      terminal.suspend();
    } else if (signal != SIGCONT && signal != SIGWINCH) {
      return false;
    }
  }
  return true;
}

bool TopScreen::obey_keys(TopTerminal& terminal) {
  const auto typed = terminal.typed();
  if (!typed || !press(*typed, terminal.size().rows, settings_)) return false;
  settings_.first = std::min(settings_.first, rows_ - std::min<size_t>(rows_, 1));
  return true;
}

bool TopScreen::draw(TopTerminal& terminal) {
  const TopPicture picture = top_picture(watch_.map(), looks_, settings_, notice(), terminal.size());
  if (!settings_.shows_help) rows_ = picture.rows;
  return terminal.draw(picture.lines);
}

std::string TopScreen::notice() const {
  const auto silent = steady_clock::now() - last_look_;
  if (!settings_.is_frozen && silent > std::max<std::chrono::nanoseconds>(kPatience, 2 * every_)) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(silent).count();
    return fmt::format("no answer for {} s{}{}", seconds, refusal_.empty() ? "" : ": ", refusal_);
  }
  return stands_still_ && !settings_.is_frozen ? "emulated time stands still" : "";
}

void TopScreen::end(const std::string& why) {
  ending_ = fmt::format("{}: {}; the last answer was of {:.3f} ms", watch_.map().testbed, why,
                        static_cast<double>(looks_.now.at_ps) * 1e-9);
}

}  // namespace softspine::tools
