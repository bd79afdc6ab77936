// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guest_line/guest_line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "control/server/listening_socket.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

constexpr size_t kFullLineBytes = kLineBytes;  // and the frame that fills it
constexpr size_t kHeadOfPolled = 3;            // before the clients
constexpr int kRestMs = 100;                   // of a listener for which this process has no descriptor left
// Of a program whose user does not read: the windows of stdout and stderr, and the answers to one of stdin, if all
// frames hold a single byte; and its end.
constexpr size_t kMaxWaitingBytes = kWindowBytes * (2 * (kHeaderBytes + 1) + kHeaderBytes + 4) + 4'096;

std::unexpected<Error> failed(const fs::path& path) {
  return std::unexpected(Error{path.string(), std::strerror(errno)});
}

bool is_of_this_user(const OwnedFd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

// Which frames a program's user may send to the guest, and the guest to it.
bool is_for_guest(const LineFrame& frame) {
  switch (frame.kind) {
    case FrameKind::kWords:
    case FrameKind::kBegin:
    case FrameKind::kEnd:
    case FrameKind::kSignal:
    case FrameKind::kSize:
    case FrameKind::kResume: return true;
    case FrameKind::kData: return frame.stream == Stream::kInput;
    case FrameKind::kTaken: return frame.stream != Stream::kInput;
    default: return false;
  }
}

bool is_for_user(const LineFrame& frame) {
  switch (frame.kind) {
    case FrameKind::kAnswer:
    case FrameKind::kStopped:
    case FrameKind::kEnded: return true;
    case FrameKind::kData: return frame.stream != Stream::kInput;
    case FrameKind::kTaken: return frame.stream == Stream::kInput;
    default: return false;
  }
}

}  // namespace

GuestLine::GuestLine(std::string host, fs::path socket) : host_(std::move(host)), socket_(std::move(socket)) {}

std::expected<std::unique_ptr<GuestLine>, Error> GuestLine::open(std::string host, fs::path socket) {
  std::unique_ptr<GuestLine> out{new GuestLine{std::move(host), std::move(socket)}};
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failed(out->socket_);
  out->line_ = OwnedFd{ends[0]};
  out->guest_end_ = OwnedFd{ends[1]};
  out->stop_ = OwnedFd{eventfd(0, EFD_CLOEXEC)};
  if (!out->stop_ || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return failed(out->socket_);
  if (auto listening = out->listen(); !listening) return std::unexpected(std::move(listening.error()));
  out->start();
  return out;
}

GuestLine::~GuestLine() {
  const uint64_t one = 1;
  if (stop_) static_cast<void>(write(stop_.get(), &one, sizeof one));
  if (thread_.joinable()) thread_.join();
  if (listener_) unlink(socket_.c_str());
}

std::expected<void, Error> GuestLine::listen() {
  std::error_code none;
  fs::create_directories(socket_.parent_path(), none);
  auto listening = control::listen_at(socket_);
  if (!listening) return std::unexpected(Error{socket_.string(), std::move(listening.error())});
  listener_ = std::move(*listening);
  return {};
}

void GuestLine::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it: signals are for others
  thread_ = std::jthread{[this] { serve(); }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void GuestLine::serve() {
  std::vector<pollfd> polled;
  while (wait(polled)) {
    if ((polled[0].revents & POLLIN) != 0) break;
    if (!line_is_gone_) read_line();
    for (auto& [number, client] : clients_) read_client(client);
    if (!line_is_gone_) take_turns();
    if (!line_is_gone_) write_line();
    if (line_is_gone_ && !has_ended_) lose_all(host_ + " has ended");
    if ((polled[2].revents & POLLIN) != 0) accept_client();
    for (auto& [number, client] : clients_) {
      if (!write_out(client.socket, client.out, client.out.size())) client.is_gone = true;
    }
    remove_gone();
  }
  lose_all("the fabric has ended");
  for (auto& [number, client] : clients_) write_out(client.socket, client.out, client.out.size());
}

// stop, line, listener, then the clients. False: no wait is possible.
bool GuestLine::wait(std::vector<pollfd>& polled) {
  const bool may_come = clients_.size() < kMaxPrograms && !listener_rests_;
  const bool may_be_sent = !out_.empty() && line_window_.room() > 0;
  polled.assign({{stop_.get(), POLLIN, 0},
                 {line_is_gone_ ? -1 : line_.get(), static_cast<short>(POLLIN | (may_be_sent ? POLLOUT : 0)), 0},
                 {may_come ? listener_.get() : -1, POLLIN, 0}});
  bool is_turn_due = false;
  for (const auto& [number, client] : clients_) {
    const bool has_next = client.reader.has_next();
    const bool is_read = agent_ == Agent::kReady && !has_next && !client.is_over;
    is_turn_due = is_turn_due || (has_next && !client.is_over);
    // Without any event, too, poll() reports that its other end is closed.
    polled.push_back(
        {client.socket.get(), static_cast<short>((is_read ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT)), 0});
  }
  const int most_ms = is_turn_due && has_room() ? 0 : (listener_rests_ ? kRestMs : -1);
  listener_rests_ = false;
  if (poll(polled.data(), polled.size(), most_ms) < 0) return errno == EINTR;
  size_t at = kHeadOfPolled;
  for (auto& [number, client] : clients_) client.is_gone = (polled[at++].revents & (POLLHUP | POLLERR)) != 0;
  return true;
}

bool GuestLine::has_room() const {
  return agent_ == Agent::kReady && !line_is_gone_ && out_.size() < kFullLineBytes;
}

// A connection that cannot be taken stays where it is: without a rest, poll() would return for it at once.
void GuestLine::accept_client() {
  OwnedFd socket{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  listener_rests_ = !socket && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
  if (!socket || !is_of_this_user(socket)) return;
  while (next_number_ == 0 || clients_.contains(next_number_)) ++next_number_;
  Client& client = clients_[next_number_++];
  client.socket = std::move(socket);
  if (line_is_gone_) lose(client, why_ended_);
}

void GuestLine::read_line() {
  char bytes[kMaxPayloadBytes];
  const ssize_t got = recv(line_.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  line_is_gone_ = got <= 0;
  if (got <= 0) return;
  std::string_view rest{bytes, static_cast<size_t>(got)};
  while (const auto end = hello_.end_in(rest)) {
    // Not `hello` itself, if it is in here whole.
    take_bytes(rest.substr(0, *end - std::min(*end, hello_frame().size())));
    if (line_is_gone_) return;
    begin_anew();
    rest.remove_prefix(*end);
  }
  take_bytes(rest);
}

void GuestLine::take_bytes(std::string_view bytes) {
  reader_.add(bytes);
  while (const auto frame = reader_.next()) take_from_guest(*frame);
  if (!reader_.is_broken()) return;
  lose_all(host_ + " has sent what is no frame on its line");
  line_is_gone_ = true;
}

// Its agent has been started. The bytes that are on the line are for nobody; it reads from our `hello` on.
void GuestLine::begin_anew() {
  for (auto& [number, client] : clients_) {
    if (client.is_known) lose(client, host_ + ": its softspine-agent has been started again");
  }
  reader_ = {};
  out_ = hello_frame();
  line_window_ = StreamWindow{kLineBytes};
  agent_ = Agent::kGreeted;
}

void GuestLine::take_from_guest(const LineFrame& frame) {
  if (agent_ != Agent::kReady) return take_before_ready(frame);
  if (frame.program == 0 && frame.kind == FrameKind::kTaken) {
    static_cast<void>(line_window_.take_back(number_in(frame).value_or(0)));
    return;
  }
  const auto found = clients_.find(frame.program);
  if (found != clients_.end() && !found->second.is_over && is_for_user(frame)) take_for_user(frame, found->second);
}

void GuestLine::take_before_ready(const LineFrame& frame) {
  if (agent_ == Agent::kAwaited) {
    lose_all(host_ + " has another softspine-agent");
    line_is_gone_ = true;
  } else if (frame.program == 0 && frame.kind == FrameKind::kTaken) {
    line_window_ = StreamWindow{kLineBytes};
    agent_ = Agent::kReady;
  }
}

void GuestLine::take_for_user(const LineFrame& frame, Client& client) {
  if (client.out.size() > kMaxWaitingBytes) {
    append_frame(out_, {.kind = FrameKind::kHangUp, .program = frame.program});
    return lose(client, host_ + " sends more than was asked for");
  }
  if (frame.kind == FrameKind::kTaken) static_cast<void>(client.window.take_back(number_in(frame).value_or(0)));
  LineFrame passed = frame;
  passed.program = 0;
  append_frame(client.out, passed);
  client.is_over = frame.kind == FrameKind::kEnded;
}

void GuestLine::read_client(Client& client) const {
  if (agent_ != Agent::kReady || client.is_over || client.is_gone || client.reader.has_next()) return;
  char bytes[kMaxPayloadBytes];
  const ssize_t got = recv(client.socket.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) client.reader.add({bytes, static_cast<size_t>(got)});
  client.is_gone = got <= 0;
}

// From the one behind the last that had its turn, until the line is full or none has a frame.
void GuestLine::take_turns() {
  for (size_t without = 0; without < clients_.size() && has_room();) {
    auto it = clients_.upper_bound(last_turn_);
    if (it == clients_.end()) it = clients_.begin();
    last_turn_ = it->first;
    without = take_turn(it->first, it->second) ? 0 : without + 1;
  }
}

// True if it had a frame.
bool GuestLine::take_turn(uint32_t number, Client& client) {
  if (client.is_over || client.is_gone) return false;
  auto frame = client.reader.next();
  client.is_gone = client.reader.is_broken() || (frame && !is_for_guest(*frame));
  if (!frame || client.is_gone) return false;
  if (frame->kind == FrameKind::kData) {
    client.is_gone = frame->payload.size() > client.window.room();
    if (client.is_gone) return false;
    client.window.send(frame->payload.size());
  }
  frame->program = number;
  client.is_known = true;
  append_frame(out_, *frame);
  return true;
}

// If that fails, reading finds the line's end, behind what is left in it.
void GuestLine::write_line() {
  const size_t before = out_.size();
  const bool is_open = write_out(line_, out_, line_window_.room());
  line_window_.send(before - out_.size());
  if (!is_open) out_.clear();
}

// False if nobody will read it.
bool GuestLine::write_out(const OwnedFd& to, std::string& out, size_t most_bytes) {
  while (!out.empty() && most_bytes > 0) {
    const ssize_t sent = send(to.get(), out.data(), std::min(out.size(), most_bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return sent < 0 && (errno == EAGAIN || errno == EINTR);
    out.erase(0, static_cast<size_t>(sent));
    most_bytes -= static_cast<size_t>(sent);
  }
  return true;
}

// The guest kills the program of a user who is gone. One that is over has ended by itself, or with the line.
void GuestLine::remove_gone() {
  for (auto it = clients_.begin(); it != clients_.end();) {
    const auto& [number, client] = *it;
    const bool is_removed = client.is_gone || (client.is_over && client.out.empty());
    if (is_removed && client.is_known && !client.is_over && !line_is_gone_) {
      append_frame(out_, {.kind = FrameKind::kHangUp, .program = number});
    }
    it = is_removed ? clients_.erase(it) : std::next(it);
  }
}

void GuestLine::lose(Client& client, std::string_view why) const {
  if (client.is_over) return;
  append_frame(client.out, {.kind = FrameKind::kLost, .payload = why});
  client.is_over = true;
}

void GuestLine::lose_all(std::string_view why) {
  for (auto& [number, client] : clients_) lose(client, why);
  if (!has_ended_) why_ended_ = why;
  has_ended_ = true;
}

}  // namespace softspine::testbeds
