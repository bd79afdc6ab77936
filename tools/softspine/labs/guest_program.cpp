// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/guest_program.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "control/server/socket_address.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/guest_line/line_frames.hpp"
#include "testbeds/process/attended_program.hpp"
#include "testbeds/process/wait_status.hpp"
#include "tools/command/complain.hpp"

namespace softspine::tools {

using dataplane::OwnedFd;
using testbeds::FrameKind;
using testbeds::kSignalStatus;
using testbeds::LineFrame;
using testbeds::Stream;
using testbeds::StreamWindow;
using testbeds::TerminalSize;

namespace {

constexpr int kLostStatus = kSignalStatus + SIGKILL;
constexpr size_t kPieceBytes = 4'096;  // a pipe that has room has room for this
constexpr char kCtrlC = 3;
constexpr std::chrono::seconds kPatience{1};

// Ours, which hands all keys on while it is raw.
class RawTerminal {
 public:
  explicit RawTerminal(bool is_used) : is_used_(is_used && tcgetattr(STDIN_FILENO, &before_) == 0) {}
  ~RawTerminal() { leave(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  bool is_used() const { return is_used_; }
  bool is_raw() const { return is_raw_; }
  void enter() {
    termios raw = before_;
    cfmakeraw(&raw);
    if (is_used_ && !std::exchange(is_raw_, true)) tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  void leave() {
    if (std::exchange(is_raw_, false)) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  TerminalSize size() const {
    winsize size{};
    if (is_used_) ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    return {size.ws_row, size.ws_col};
  }

 private:
  termios before_{};
  bool is_used_;
  bool is_raw_ = false;
};

// Whether the guest still answers those who ask the program to end, by a signal or by Ctrl-C.
class Answers {
 public:
  // False if nothing has come since the first of them, for so long that this one need not be sent.
  bool may_ask() {
    const auto now = std::chrono::steady_clock::now();
    if (!asked_) asked_ = now;
    return now - *asked_ < kPatience;
  }
  void come() {
    has_come_ = true;
    asked_.reset();
  }
  bool has_come() const { return has_come_; }

 private:
  bool has_come_ = false;
  std::optional<std::chrono::steady_clock::time_point> asked_;
};

// Signals of this process as a descriptor.
class WaitingSignals {
 public:
  WaitingSignals() {
    sigset_t set = testbeds::signal_set_of(testbeds::kPassedOnSignals);
    sigaddset(&set, SIGWINCH);
    sigset_t blocked = set;
    sigaddset(&blocked, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
    file_ = OwnedFd{signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  }
  ~WaitingSignals() {
    const sigset_t pipes = testbeds::signal_set_of({SIGPIPE});
    constexpr timespec kNow{};
    while (sigtimedwait(&pipes, nullptr, &kNow) > 0) {  // the failed write() has done its part
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WaitingSignals(const WaitingSignals&) = delete;
  WaitingSignals& operator=(const WaitingSignals&) = delete;

  int file() const { return file_.get(); }
  std::optional<int> next() const {
    signalfd_siginfo info{};
    if (read(file_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t before_{};
  OwnedFd file_;
};

bool is_terminal(const ProgramStreams& streams) {
  return streams.may_be_terminal && testbeds::Foreground{}.is_ours() && isatty(streams.output) != 0;
}

class GuestProgram {
 public:
  GuestProgram(OwnedFd socket, const ProgramStreams& streams)
      : socket_(std::move(socket)), streams_(streams), terminal_(is_terminal(streams)) {}

  void begin(const testbeds::ProgramWords& words) {
    const std::string text = testbeds::words_text(words);
    testbeds::append_frames(out_, {.kind = FrameKind::kWords, .payload = text});
    testbeds::append_begin(out_, 0,
                           {.has_terminal = terminal_.is_used(),
                            .has_errors_apart = isatty(streams_.errors) == 0,
                            .size = terminal_.size()});
  }

  int run() {
    while (!status_ || has_pending()) {
      wait();
      take_signals();
      if (!status_) {
        read_input();
        read_socket();
        write_socket();
      }
      for (const Stream stream : {Stream::kOutput, Stream::kErrors}) write_pending(stream);
    }
    terminal_.leave();
    if (!lost_.empty()) complain("softspine: {}\n", lost_);
    return *status_;
  }

 private:
  struct Pending {
    std::string bytes;  // a window's at most
    bool is_ready = false;
  };

  bool has_pending() const {
    return std::ranges::any_of(pending_, [](const Pending& each) { return !each.bytes.empty(); });
  }
  int file_of(Stream stream) const { return stream == Stream::kOutput ? streams_.output : streams_.errors; }
  Pending& pending_of(Stream stream) { return pending_[static_cast<size_t>(stream)]; }
  // Keys are read also while the socket is full: Ctrl-C may be among them. The window bounds them.
  bool wants_input() const {
    if (input_is_over_ || window_.room() == 0) return false;
    return terminal_.is_used() ? terminal_.is_raw() : out_.empty();
  }

  void wait() {
    const auto file_if = [](bool is_wanted, int file) { return is_wanted ? file : -1; };
    const auto socket_events = static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT));
    std::array<pollfd, 5> polled{{{file_if(!status_, socket_.get()), socket_events, 0},
                                  {signals_.file(), POLLIN, 0},
                                  {file_if(!status_ && wants_input(), streams_.input), POLLIN, 0},
                                  {file_if(!pending_of(Stream::kOutput).bytes.empty(), streams_.output), POLLOUT, 0},
                                  {file_if(!pending_of(Stream::kErrors).bytes.empty(), streams_.errors), POLLOUT, 0}}};
    const bool is_ready = poll(polled.data(), polled.size(), -1) > 0;
    input_is_ready_ = is_ready && polled[2].revents != 0;
    pending_of(Stream::kOutput).is_ready = is_ready && polled[3].revents != 0;
    pending_of(Stream::kErrors).is_ready = is_ready && polled[4].revents != 0;
  }

  // Without a guest that answers, and when the program has ended, they are for us.
  void take_signals() {
    while (const auto number = signals_.next()) {
      if (*number == SIGWINCH) {
        testbeds::append_size(out_, 0, terminal_.size());
      } else if (!answers_.has_come() || status_) {
        leave_with(kSignalStatus + *number);
      } else if (may_ask(*number)) {
        testbeds::append_number(out_, FrameKind::kSignal, Stream::kInput, 0, static_cast<uint32_t>(*number));
      }
    }
  }

  bool may_ask(int number) {
    if (answers_.may_ask()) return true;
    leave_with(kSignalStatus + number, "the guest does not answer");
    return false;
  }

  void leave_with(int status, std::string why = "") {
    status_ = status;
    lost_ = std::move(why);
    pending_ = {};
  }

  void read_input() {
    if (!input_is_ready_) return;
    char bytes[testbeds::kMaxPayloadBytes];
    const ssize_t got = read(streams_.input, bytes, std::min(window_.room(), sizeof bytes));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    input_is_over_ = got <= 0;
    const std::string_view come{bytes, static_cast<size_t>(std::max<ssize_t>(got, 0))};
    if (terminal_.is_raw() && come.find(kCtrlC) != std::string_view::npos && !may_ask(SIGINT)) return;
    window_.send(come.size());
    if (got > 0) testbeds::append_frame(out_, {.kind = FrameKind::kData, .payload = come});
    if (got <= 0) testbeds::append_frame(out_, {.kind = FrameKind::kEnd});
  }

  void read_socket() {
    char bytes[testbeds::kMaxPayloadBytes];
    const ssize_t got = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got > 0) reader_.add({bytes, static_cast<size_t>(got)});
    for (auto frame = reader_.next(); frame && !status_; frame = reader_.next()) take(*frame);
    if (got <= 0 || reader_.is_broken()) lose("the fabric has ended");
  }

  void take(const LineFrame& frame) {
    if (frame.kind != FrameKind::kLost) take_answer();
    const uint32_t number = testbeds::number_in(frame).value_or(0);
    switch (frame.kind) {
      case FrameKind::kData: add_output(pending_of(frame.stream), frame.payload); break;
      case FrameKind::kTaken: static_cast<void>(window_.take_back(number)); break;
      case FrameKind::kStopped: stop_with_it(); break;
      case FrameKind::kEnded: status_ = static_cast<int>(number); break;
      case FrameKind::kLost: lose(std::string{frame.payload}); break;
      default: break;
    }
  }

  void take_answer() {
    if (!answers_.has_come()) terminal_.enter();
    answers_.come();
  }

  void add_output(Pending& pending, std::string_view bytes) {
    if (pending.bytes.size() + bytes.size() > testbeds::kWindowBytes) return lose("it sends more than was asked for");
    pending.bytes += bytes;
  }

  void lose(std::string why) {
    if (status_) return;
    status_ = kLostStatus;
    lost_ = std::move(why);
  }

  // As the terminal would have done it, until our own shell lets us go on.
  void stop_with_it() {
    if (!terminal_.is_used()) return;
    terminal_.leave();
    kill(0, SIGSTOP);
    terminal_.enter();
    testbeds::append_size(out_, 0, terminal_.size());
    testbeds::append_frame(out_, {.kind = FrameKind::kResume});
  }

  void write_socket() {
    while (!out_.empty()) {
      const ssize_t sent = send(socket_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent <= 0) return;  // if it has gone, reading says so, behind what is left in it
      out_.erase(0, static_cast<size_t>(sent));
    }
  }

  void write_pending(Stream stream) {
    Pending& pending = pending_of(stream);
    if (!std::exchange(pending.is_ready, false) || pending.bytes.empty()) return;
    ssize_t written = write(file_of(stream), pending.bytes.data(), std::min(pending.bytes.size(), kPieceBytes));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (written < 0 && stream == Stream::kOutput) return end_without_output(errno);
    // What stderr does not take is lost, and counts as taken: the program goes on.
    if (written < 0) written = static_cast<ssize_t>(pending.bytes.size());
    pending.bytes.erase(0, static_cast<size_t>(written));
    if (!status_) testbeds::append_number(out_, FrameKind::kTaken, stream, 0, static_cast<uint32_t>(written));
  }

  // As a program here ends that cannot write: by SIGPIPE, or with a complaint.
  void end_without_output(int why) {
    if (why == EPIPE) return leave_with(kSignalStatus + SIGPIPE);
    leave_with(1, std::string("stdout: ") + std::strerror(why));
  }

  OwnedFd socket_;
  ProgramStreams streams_;
  WaitingSignals signals_;
  RawTerminal terminal_;
  Answers answers_;
  testbeds::FrameReader reader_;
  std::string out_;
  StreamWindow window_;  // of stdin
  bool input_is_ready_ = false;
  bool input_is_over_ = false;
  std::array<Pending, testbeds::kStreams> pending_;
  std::optional<int> status_;
  std::string lost_;
};

OwnedFd connected(const std::string& path) {
  const sockaddr_un address = control::socket_address(path);
  OwnedFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets' interface
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return socket;
}

testbeds::ProgramWords words_of(const HostEntrance& entrance, const std::vector<std::string>& command) {
  testbeds::ProgramWords words{.environment = {}, .command = command};
  for (const auto& [name, value] : entrance.environment) words.environment.push_back(name + "=" + value);
  if (const char* const terminal = std::getenv("TERM")) words.environment.push_back(std::string("TERM=") + terminal);
  return words;
}

}  // namespace

std::expected<int, std::string> run_in_guest(const HostEntrance& entrance, const std::vector<std::string>& command,
                                             const ProgramStreams& streams) {
  OwnedFd socket = connected(entrance.line.native());
  if (!socket) return std::unexpected(entrance.host + " cannot be entered: " + std::strerror(errno));
  GuestProgram program{std::move(socket), streams};
  program.begin(words_of(entrance, command));
  return program.run();
}

}  // namespace softspine::tools
