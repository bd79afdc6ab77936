// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guest_line/agent_program.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "testbeds/process/attended_program.hpp"
#include "testbeds/process/wait_status.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

// More than a pipe holds: what a process in the background goes on writing is not waited for.
constexpr size_t kMaxDrainedBytes = 1U << 20;
constexpr char kEndOfTerminal = 4;  // Ctrl-D

// The two ends of its streams: ours do not block, its own stand at 0, 1 and 2 in the end.
struct StreamEnds {
  OwnedFd our_input;
  OwnedFd our_output;
  OwnedFd our_errors;
  OwnedFd its_input;
  OwnedFd its_output;
  OwnedFd its_errors;
};

bool set_nonblocking(const OwnedFd& file) {
  return fcntl(file.get(), F_SETFL, fcntl(file.get(), F_GETFL) | O_NONBLOCK) == 0;
}

bool make_pipe(OwnedFd& read_end, OwnedFd& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  read_end = OwnedFd{ends[0]};
  write_end = OwnedFd{ends[1]};
  return true;
}

OwnedFd copy_of(const OwnedFd& file) {
  return OwnedFd{fcntl(file.get(), F_DUPFD_CLOEXEC, 3)};
}

void set_size(int terminal, TerminalSize size) {
  winsize text{};
  text.ws_row = size.rows;
  text.ws_col = size.columns;
  ioctl(terminal, TIOCSWINSZ, &text);
}

bool open_terminal(const BeginTerms& terms, StreamEnds& out) {
  out.our_output = OwnedFd{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  char name[64];
  if (!out.our_output || grantpt(out.our_output.get()) != 0 || unlockpt(out.our_output.get()) != 0) return false;
  if (ptsname_r(out.our_output.get(), name, sizeof name) != 0) return false;
  set_size(out.our_output.get(), terms.size);
  out.our_input = copy_of(out.our_output);
  out.its_input = OwnedFd{open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  out.its_output = copy_of(out.its_input);
  if (!terms.has_errors_apart) out.its_errors = copy_of(out.its_input);
  return static_cast<bool>(out.its_input);
}

bool open_streams(const BeginTerms& terms, StreamEnds& out) {
  const bool is_open = terms.has_terminal
                           ? open_terminal(terms, out)
                           : make_pipe(out.its_input, out.our_input) && make_pipe(out.our_output, out.its_output);
  if (!is_open) return false;
  if (!out.its_errors && !make_pipe(out.our_errors, out.its_errors)) return false;
  return set_nonblocking(out.our_input) && set_nonblocking(out.our_output) &&
         (!out.our_errors || set_nonblocking(out.our_errors));
}

// With an attendant in front of it, whose terminal it is.
int run_attended(const std::vector<std::string>& command) {
  ioctl(STDIN_FILENO, TIOCSCTTY, 0);
  const Attendant attendant;
  const pid_t child = fork();
  if (child < 0) return 126;
  if (child > 0) return attendant.attend(child);
  attendant.become_child();
  return become_program(command);
}

// Memory may run out for it, as for any program; not for the agent (root/init).
void be_as_mortal_as_others() {
  const OwnedFd score{open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)};
  if (score) static_cast<void>(write(score.get(), "0", 1));
}

// A folder of the same path there is its own, if there is one.
bool enter_root(const char* root) {
  char folder[PATH_MAX];
  const bool has_folder = getcwd(folder, sizeof folder) != nullptr;
  if (chroot(root) != 0 || chdir("/") != 0) return false;
  return !has_folder || chdir(folder) == 0 || errno == ENOENT;
}

// It ends with the agent: an agent that is started again knows nothing of it.
[[noreturn]] void be_program(const ProgramWords& words, const BeginTerms& terms, const StreamEnds& ends,
                             const char* root, pid_t agent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != agent) _exit(kSignalStatus + SIGKILL);
  setsid();
  be_as_mortal_as_others();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  dup2(ends.its_input.get(), STDIN_FILENO);
  dup2(ends.its_output.get(), STDOUT_FILENO);
  dup2(ends.its_errors.get(), STDERR_FILENO);
  close_range(3, ~0U, 0);
  if (root != nullptr && !enter_root(root)) {
    std::fprintf(stderr, "softspine: %s: %s\n", root, std::strerror(errno));
    _exit(126);
  }
  for (const std::string& entry : words.environment) putenv(strdup(entry.c_str()));
  _exit(terms.has_terminal ? run_attended(words.command) : become_program(words.command));
}

}  // namespace

std::expected<AgentProgram, std::string> AgentProgram::begin(const ProgramWords& words, const BeginTerms& terms,
                                                             const char* root) {
  StreamEnds ends;
  if (!open_streams(terms, ends)) return std::unexpected(std::string("no streams: ") + std::strerror(errno));
  const pid_t agent = getpid();
  const pid_t process = fork();
  if (process < 0) return std::unexpected(std::string("fork: ") + std::strerror(errno));
  if (process == 0) be_program(words, terms, ends, root, agent);
  AgentProgram out;
  out.process_ = process;
  out.has_terminal_ = terms.has_terminal;
  out.input_ = std::move(ends.our_input);
  out.source(Stream::kOutput) = std::move(ends.our_output);
  out.source(Stream::kErrors) = std::move(ends.our_errors);
  return out;
}

// More than the window allows is from somebody who does not count.
void AgentProgram::add_input(std::string_view bytes) {
  to_input_ += bytes.substr(0, kWindowBytes - to_input_.size());
}

void AgentProgram::take_back(Stream stream, size_t bytes) {
  static_cast<void>(windows_[static_cast<size_t>(stream)].take_back(bytes));
}

// On a terminal its attendant passes it on.
void AgentProgram::send_signal(int number) const {
  if (status_) return;
  if (has_terminal_) {
    kill(process_, number);
  } else {
    signal_group(number);
  }
}

// Just forked, it has no process group of its own yet.
void AgentProgram::signal_group(int number) const {
  if (kill(-process_, number) != 0 && errno == ESRCH) kill(process_, number);
}

void AgentProgram::resize(TerminalSize size) const {
  if (has_terminal_ && input_) set_size(input_.get(), size);
}

void AgentProgram::resume() const {
  if (!status_) kill(process_, SIGCONT);
}

void AgentProgram::hang_up() {
  if (!status_) signal_group(SIGKILL);
  input_ = OwnedFd{};
  for (OwnedFd& source : sources_) source = OwnedFd{};
}

void AgentProgram::add_polled(std::vector<pollfd>& polled, bool line_has_room) const {
  if (input_ && !to_input_.empty()) polled.push_back({input_.get(), POLLOUT, 0});
  for (size_t i = 0; i < kStreams; ++i) {
    if (sources_[i] && line_has_room && windows_[i].room() > 0) polled.push_back({sources_[i].get(), POLLIN, 0});
  }
}

void AgentProgram::pump(uint32_t number, bool line_has_room, std::string& out) {
  if (input_) pump_input(number, out);
  for (const Stream stream : {Stream::kOutput, Stream::kErrors}) {
    if (line_has_room && source(stream)) pump_output(number, stream, out);
  }
}

void AgentProgram::pump_input(uint32_t number, std::string& out) {
  if (!to_input_.empty()) {
    const ssize_t written = write(input_.get(), to_input_.data(), to_input_.size());
    if (written > 0) {
      to_input_.erase(0, static_cast<size_t>(written));
      append_number(out, FrameKind::kTaken, Stream::kInput, number, static_cast<uint32_t>(written));
    } else if (errno != EAGAIN && errno != EINTR) {
      input_ = OwnedFd{};  // nobody reads it: not taken, so no more comes
      return;
    }
  }
  if (!to_input_.empty() || !std::exchange(input_ends_, false)) return;
  if (!has_terminal_) {
    input_ = OwnedFd{};
  } else {
    to_input_.push_back(kEndOfTerminal);
  }
}

void AgentProgram::pump_output(uint32_t number, Stream stream, std::string& out) {
  StreamWindow& window = windows_[static_cast<size_t>(stream)];
  char bytes[kMaxPayloadBytes];
  const size_t most = std::min(window.room(), sizeof bytes);
  if (most == 0) return;
  const ssize_t got = read(source(stream).get(), bytes, most);
  if (got > 0) {
    const auto size = static_cast<size_t>(got);
    window.send(size);
    append_frame(out, {.kind = FrameKind::kData, .stream = stream, .program = number, .payload = {bytes, size}});
    if (status_) drained_bytes_ += size;
    if (drained_bytes_ < kMaxDrainedBytes) return;
  } else if (got < 0 && (errno == EINTR || (errno == EAGAIN && !status_))) {
    return;
  }
  source(stream) = OwnedFd{};  // its end, or all of what an ended program has left in it
}

std::optional<int> AgentProgram::final_status() const {
  if (std::ranges::any_of(sources_, [](const OwnedFd& source) { return static_cast<bool>(source); })) {
    return std::nullopt;
  }
  return status_;
}

}  // namespace softspine::testbeds
