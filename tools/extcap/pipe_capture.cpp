// SPDX-License-Identifier: Apache-2.0
#include "tools/extcap/pipe_capture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "control/server/client.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::tools {

using control::Client;
using control::Json;
using dataplane::OwnedFd;
using Done = std::expected<void, std::string>;

namespace {

constexpr int kLookEveryMs = 20;    // whether the pipe has a reader
constexpr int kFlushEveryMs = 200;  // how old the reader's last frame is at most, and a bit
constexpr std::chrono::milliseconds kStopPatience{3'000};

OwnedFd stopping_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, each);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return OwnedFd{signalfd(-1, &set, SFD_CLOEXEC)};
}

bool has_come(const OwnedFd& signals, int wait_ms) {
  pollfd waiting{.fd = signals.get(), .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, wait_ms) > 0;
}

// Our own end of the pipe, which shows when the reader leaves. None: we are to stop before there is a reader.
std::expected<OwnedFd, std::string> open_with_reader(const std::string& path, const OwnedFd& signals) {
  for (;;) {
    OwnedFd pipe{::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
    if (pipe) return pipe;
    if (errno != ENXIO) return std::unexpected(path + ": " + std::strerror(errno));
    if (has_come(signals, kLookEveryMs)) return OwnedFd{};
  }
}

Json request_of(const PipeCapture& wanted, const std::string& name) {
  Json ports = Json::array();
  if (!wanted.of.port.empty()) {
    ports.push_back(wanted.of.port);
  } else if (wanted.ports != "*") {
    std::istringstream words{wanted.ports};
    for (std::string word; words >> word;) ports.push_back(word);
  }
  Json out{{"path", wanted.pipe},
           {"name", name},
           {"ports", std::move(ports)},
           {"direction", wanted.direction},
           {"filter", joined_filter(wanted)},
           {"for_reader", true}};
  if (wanted.snaplen == 0) {
    out["full"] = true;
  } else {
    out["snaplen"] = wanted.snaplen;
  }
  return out;
}

enum class Next { kGoesOn, kStop, kOver };

// Waits for a signal, the reader's leaving, an answer, or the time of the next question.
class Watch {
 public:
  Watch(Client& fabric, const OwnedFd& pipe, const OwnedFd& signals, const std::string& name)
      : fabric_(fabric),
        name_(name),
        waiting_{{{.fd = signals.get(), .events = POLLIN, .revents = 0},
                  {.fd = pipe.get(), .events = 0, .revents = 0},
                  {.fd = fabric.descriptor(), .events = POLLIN, .revents = 0}}} {}

  Next wait() {
    const int ready = ::poll(waiting_.data(), waiting_.size(), kFlushEveryMs);
    if (ready < 0) return Next::kStop;
    if (ready == 0) return ask();
    if ((waiting_[0].revents & POLLIN) != 0 || (waiting_[1].revents & POLLERR) != 0) return Next::kStop;
    return waiting_[2].revents != 0 ? take() : Next::kGoesOn;
  }

 private:
  Next ask() {
    if (is_asked_) return Next::kGoesOn;  // a fabric that waits for a slow reader answers later
    is_asked_ = true;
    return fabric_.ask("capture list", {{"format", "json"}}) ? Next::kGoesOn : Next::kOver;
  }
  Next take() {
    auto answer = fabric_.take();
    if (!answer) return Next::kOver;  // the fabric has ended
    if (!*answer) return Next::kGoesOn;
    is_asked_ = false;
    const control::Result& list = **answer;
    if (!list) return Next::kStop;
    return list->is_object() && list->contains(name_) ? Next::kGoesOn : Next::kOver;
  }

  Client& fabric_;
  const std::string& name_;
  std::array<pollfd, 3> waiting_;
  bool is_asked_ = false;
};

}  // namespace

std::string joined_filter(const PipeCapture& wanted) {
  if (wanted.filter.empty()) return wanted.other_filter;
  if (wanted.other_filter.empty()) return wanted.filter;
  return "(" + wanted.filter + ") and (" + wanted.other_filter + ")";
}

Done capture_into_pipe(const PipeCapture& wanted) {
  const OwnedFd signals = stopping_signals();
  auto fabric = Client::connect_to_fabric(wanted.of.fabric);
  if (!fabric) return std::unexpected(fabric.error());
  const auto pipe = open_with_reader(wanted.pipe, signals);
  if (!pipe) return std::unexpected(pipe.error());
  if (!*pipe) return {};
  const std::string name = "wireshark-" + std::to_string(getpid());
  if (auto started = fabric->call("capture start", request_of(wanted, name)); !started)
    return std::unexpected(started.error());
  Watch watch{*fabric, *pipe, signals, name};
  Next next = Next::kGoesOn;
  while (next == Next::kGoesOn) next = watch.wait();
  // It may have ended by itself meanwhile, for want of a reader.
  if (next == Next::kStop) static_cast<void>(fabric->call("capture stop", {{"name", name}}, {}, kStopPatience));
  return {};
}

}  // namespace softspine::tools
