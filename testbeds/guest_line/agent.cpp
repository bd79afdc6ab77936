// SPDX-License-Identifier: Apache-2.0
// softspine-agent LINE [ROOT]: runs programs in a guest for whoever is at the other end of its line (line_frames.hpp),
// until the guest ends. LINE is a serial line, or the number of a descriptor; ROOT the programs' root folder, if it is
// not the agent's. The first process of a guest starts it (testbeds/guests/root/init).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testbeds/guest_line/agent_program.hpp"
#include "testbeds/guest_line/line_frames.hpp"
#include "testbeds/process/attended_program.hpp"
#include "testbeds/process/wait_status.hpp"

namespace {

using namespace softspine::testbeds;
using softspine::dataplane::OwnedFd;

constexpr size_t kFullLineBytes = 65'536;
constexpr int kPauseMs = 50;

class Agent {
 public:
  Agent(OwnedFd line, const char* root)
      : line_(std::move(line)), root_(root), children_(signals_of_children()), out_(hello_frame()) {}

  // Until the line's other end is gone, or sends nonsense.
  void serve() {
    while (!has_ended_ && !reader_.is_broken()) {
      wait();
      read_line();
      while (const auto frame = reader_.next()) take(*frame);
      reap();
      pump();
      write_line();
    }
  }

 private:
  static OwnedFd signals_of_children() {
    const sigset_t set = signal_set_of({SIGCHLD});
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return OwnedFd{signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
  }

  static bool is_socket(const OwnedFd& file) {
    struct stat found{};
    return fstat(file.get(), &found) == 0 && S_ISSOCK(found.st_mode);
  }

  bool has_room() const { return out_.size() < kFullLineBytes; }

  void wait() {
    std::vector<pollfd> polled{{line_.get(), static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT)), 0},
                               {children_.get(), POLLIN, 0}};
    for (const auto& [number, program] : programs_) program.add_polled(polled, has_room());
    poll(polled.data(), polled.size(), -1);
  }

  void read_line() {
    char bytes[kMaxPayloadBytes];
    const ssize_t got = read(line_.get(), bytes, sizeof bytes);
    if (got > 0) take_bytes({bytes, static_cast<size_t>(got)});
    if (got < 0 && errno != EAGAIN && errno != EINTR) has_ended_ = true;
    if (got != 0) return;
    // A port of virtio has no other end until somebody there has opened it.
    if (is_socket_) has_ended_ = true;
    if (!is_socket_) poll(nullptr, 0, kPauseMs);
  }

  // What comes before the answer to our `hello` was for an agent before us.
  void take_bytes(std::string_view bytes) {
    if (!is_greeted_) {
      const auto end = hello_.end_in(bytes);
      if (!end) return;
      is_greeted_ = true;
      bytes.remove_prefix(*end);
      append_number(out_, FrameKind::kTaken, Stream::kInput, 0, 0);
    }
    if (bytes.empty()) return;
    reader_.add(bytes);
    append_number(out_, FrameKind::kTaken, Stream::kInput, 0, static_cast<uint32_t>(bytes.size()));
  }

  void write_line() {
    while (!out_.empty()) {
      const ssize_t written = write(line_.get(), out_.data(), out_.size());
      if (written <= 0) return;
      out_.erase(0, static_cast<size_t>(written));
    }
  }

  void take(const LineFrame& frame) {
    if (frame.kind == FrameKind::kWords) return add_words(frame);
    if (frame.kind == FrameKind::kBegin) return begin(frame);
    if (frame.kind == FrameKind::kHangUp) words_.erase(frame.program);
    const auto found = programs_.find(frame.program);
    if (found == programs_.end()) return;  // it has just ended
    AgentProgram& program = found->second;
    const auto number = number_in(frame);
    switch (frame.kind) {
      case FrameKind::kData: return program.add_input(frame.payload);
      case FrameKind::kEnd: return program.end_input();
      case FrameKind::kTaken: return program.take_back(frame.stream, number.value_or(0));
      case FrameKind::kSignal: answer(frame.program); return program.send_signal(static_cast<int>(number.value_or(0)));
      case FrameKind::kSize:
        if (const auto size = size_in(frame)) program.resize(*size);
        return;
      case FrameKind::kResume: return program.resume();
      case FrameKind::kHangUp:
        program.hang_up();
        programs_.erase(found);
        return;
      default: return;
    }
  }

  void add_words(const LineFrame& frame) {
    std::string& words = words_[frame.program];
    if (words.size() <= kMaxWordsBytes) words += frame.payload;
  }

  void begin(const LineFrame& frame) {
    const std::string text = std::exchange(words_[frame.program], {});
    words_.erase(frame.program);
    if (programs_.contains(frame.program)) return;  // one is enough
    answer(frame.program);
    const auto terms = begin_in(frame);
    const auto words = text.size() > kMaxWordsBytes ? std::nullopt : words_in(text);
    if (!terms || !words) return refuse(frame.program, "a command that is too long, or is none");
    auto program = AgentProgram::begin(*words, *terms, root_);
    if (!program) return refuse(frame.program, program.error());
    programs_.emplace(frame.program, std::move(*program));
  }

  void answer(uint32_t number) { append_frame(out_, {.kind = FrameKind::kAnswer, .program = number}); }

  void refuse(uint32_t number, const std::string& why) {
    const std::string text = "softspine: " + why + "\n";
    append_frame(out_, {.kind = FrameKind::kData, .stream = Stream::kErrors, .program = number, .payload = text});
    append_number(out_, FrameKind::kEnded, Stream::kInput, number, 126);
  }

  void reap() {
    signalfd_siginfo come{};
    while (read(children_.get(), &come, sizeof come) > 0) {
    }
    int how = 0;
    for (pid_t child = 0; (child = waitpid(-1, &how, WNOHANG | WUNTRACED)) > 0;) {
      const auto found =
          std::ranges::find_if(programs_, [child](const auto& each) { return each.second.process() == child; });
      if (found == programs_.end()) continue;
      if (WIFSTOPPED(how)) {
        append_frame(out_, {.kind = FrameKind::kStopped, .program = found->first});
      } else {
        found->second.set_status(exit_status_of(how));
      }
    }
  }

  // Each in turn, from the one behind the last that has filled the line.
  void pump() {
    std::vector<uint32_t> turns;
    for (auto it = programs_.upper_bound(last_turn_); it != programs_.end(); ++it) turns.push_back(it->first);
    for (auto it = programs_.begin(); it != programs_.upper_bound(last_turn_); ++it) turns.push_back(it->first);
    for (const uint32_t number : turns) pump(number, programs_.find(number)->second);
  }

  void pump(uint32_t number, AgentProgram& program) {
    const bool had_room = has_room();
    program.pump(number, had_room, out_);
    if (had_room && !has_room()) last_turn_ = number;
    const auto status = program.final_status();
    if (!status) return;
    append_number(out_, FrameKind::kEnded, Stream::kInput, number, static_cast<uint32_t>(*status));
    programs_.erase(number);
  }

  OwnedFd line_;
  const char* root_;  // null: the agent's own
  OwnedFd children_;
  const bool is_socket_ = is_socket(line_);
  bool has_ended_ = false;
  bool is_greeted_ = false;
  HelloFinder hello_;
  FrameReader reader_;
  std::string out_;
  uint32_t last_turn_ = 0;                 // of pump()
  std::map<uint32_t, std::string> words_;  // of programs that have not begun
  std::map<uint32_t, AgentProgram> programs_;
};

std::optional<int> number_of(std::string_view text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return std::atoi(std::string{text}.c_str());
}

OwnedFd open_line(const char* name) {
  if (const auto number = number_of(name)) return OwnedFd{*number};
  OwnedFd line{open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  termios settings{};
  if (line && tcgetattr(line.get(), &settings) == 0) {
    cfmakeraw(&settings);
    tcsetattr(line.get(), TCSAFLUSH, &settings);
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: softspine-agent LINE [ROOT]\n");
    return 2;
  }
  OwnedFd line = open_line(argv[1]);
  if (!line || fcntl(line.get(), F_SETFL, O_RDWR | O_NONBLOCK) != 0) {
    std::fprintf(stderr, "softspine-agent: %s: %s\n", argv[1], std::strerror(errno));
    return 1;
  }
  signal(SIGPIPE, SIG_IGN);
  Agent{std::move(line), argc == 3 ? argv[2] : nullptr}.serve();
  return 0;
}
