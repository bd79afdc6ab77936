// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/top_terminal.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace softspine::tools {

using control::TerminalSize;

namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr int kRead[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

bool put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      static_cast<void>(poll(&ready, 1, -1));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Orange and blue of the 256: people who take red for green tell them apart, on dark and on light.
const char* style_of(Tone tone, bool has_colours) {
  switch (tone) {
    case Tone::kPlain: return "";
    case Tone::kHead: return "\x1b[7m";
    case Tone::kHurts: return has_colours ? "\x1b[1;38;5;208m" : "\x1b[1m";
    case Tone::kWarns: return has_colours ? "\x1b[38;5;33m" : "";
    case Tone::kNotice: return "\x1b[1m";
  }
  return "";
}

}  // namespace

bool is_screen() {
  const char* term = std::getenv("TERM");
  const std::string_view kind = term == nullptr ? "" : term;
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && !kind.empty() && kind != "dumb";
}

TopTerminal::TopTerminal(bool has_colours) : has_colours_(has_colours) {
  sigset_t read;
  sigemptyset(&read);
  for (const int signal : kRead) sigaddset(&read, signal);
  sigprocmask(SIG_BLOCK, &read, &mask_before_);
  signals_ = dataplane::OwnedFd{signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK)};
  tcgetattr(STDIN_FILENO, &before_);
  enter();
}

TopTerminal::~TopTerminal() {
  leave();
  while (next_signal() != 0) {  // one more Ctrl-C is no reason to die now
  }
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

// Signals of keys stay: they are read.
bool TopTerminal::enter() {
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  return put(kEnter);
}

void TopTerminal::leave() {
  put(kLeave);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

TerminalSize TopTerminal::size() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

bool TopTerminal::draw(const std::vector<ScreenLine>& lines) {
  return put(drawn(lines, size(), has_colours_));
}

std::optional<std::string> TopTerminal::typed() {
  std::array<char, 256> keys{};
  const ssize_t n = read(STDIN_FILENO, keys.data(), keys.size());
  if (n > 0) return std::string{keys.data(), static_cast<size_t>(n)};
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return "";
  return std::nullopt;
}

int TopTerminal::next_signal() {
  signalfd_siginfo came{};
  return read(signals_.get(), &came, sizeof came) == sizeof came ? static_cast<int>(came.ssi_signo) : 0;
}

void TopTerminal::suspend() {
  leave();
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // it stops here
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  tcgetattr(STDIN_FILENO, &before_);  // the shell may have changed it
  enter();
}

std::string drawn(const std::vector<ScreenLine>& lines, TerminalSize size, bool has_colours) {
  std::string out;
  for (size_t i = 0; i < size.rows; ++i) {
    const ScreenLine line = i < lines.size() ? lines[i] : ScreenLine{};
    // Blanks to the end of the line in place of an erasing sequence: nothing flickers.
    out += fmt::format("\x1b[{};1H{}{:<{}}\x1b[0m", i + 1, style_of(line.tone, has_colours), line.text, size.columns);
  }
  return out;
}

}  // namespace softspine::tools
