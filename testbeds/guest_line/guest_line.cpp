// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guest_line/guest_line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

constexpr size_t kFullLineBytes = 262'144;
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
  out->thread_ = std::jthread{[line = out.get()] { line->serve(); }};
  return out;
}

GuestLine::~GuestLine() {
  const uint64_t one = 1;
  if (stop_) static_cast<void>(write(stop_.get(), &one, sizeof one));
  if (thread_.joinable()) thread_.join();
  if (listener_) unlink(socket_.c_str());
}

// What a run that was killed has left at this place goes; anything else stays.
std::expected<void, Error> GuestLine::listen() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.native().size() >= sizeof address.sun_path) {
    return std::unexpected(Error{socket_.string(), "is too long for a socket's path (107 bytes)"});
  }
  socket_.native().copy(address.sun_path, sizeof address.sun_path - 1);
  std::error_code error;
  if (fs::symlink_status(socket_, error).type() == fs::file_type::socket) fs::remove(socket_, error);
  fs::create_directories(socket_.parent_path(), error);
  listener_ = OwnedFd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets' interface
  const auto* const place = reinterpret_cast<const sockaddr*>(&address);
  const bool is_listening = listener_ && fchmod(listener_.get(), 0600) == 0 &&
                            bind(listener_.get(), place, sizeof address) == 0 &&
                            ::listen(listener_.get(), SOMAXCONN) == 0;
  if (is_listening) return {};
  const auto why = failed(socket_);
  listener_ = OwnedFd{};
  return why;
}

void GuestLine::serve() {
  std::vector<pollfd> polled;
  while (wait(polled)) {
    if ((polled[0].revents & POLLIN) != 0) break;
    if (!line_is_gone_) read_line();
    for (auto& [number, client] : clients_) read_client(number, client);
    if (!line_is_gone_) write_line();
    if (line_is_gone_ && !has_ended_) lose_all(host_ + " has ended");
    if ((polled[2].revents & POLLIN) != 0) accept_client();
    for (auto& [number, client] : clients_) write_out(client.socket, client.out, client.out.size(), client.is_gone);
    remove_gone();
  }
  lose_all("the fabric has ended");
  for (auto& [number, client] : clients_) write_out(client.socket, client.out, client.out.size(), client.is_gone);
}

// stop, line, listener, then the clients. False: no wait is possible.
bool GuestLine::wait(std::vector<pollfd>& polled) const {
  const bool may_come = clients_.size() < kMaxPrograms;
  const bool may_be_sent = !out_.empty() && line_window_.room() > 0;
  polled.assign({{stop_.get(), POLLIN, 0},
                 {line_is_gone_ ? -1 : line_.get(), static_cast<short>(POLLIN | (may_be_sent ? POLLOUT : 0)), 0},
                 {may_come ? listener_.get() : -1, POLLIN, 0}});
  for (const auto& [number, client] : clients_) {
    const bool is_read = has_room() && !client.is_over;
    const auto events = static_cast<short>((is_read ? POLLIN : 0) | (client.out.empty() ? 0 : POLLOUT));
    polled.push_back({events == 0 ? -1 : client.socket.get(), events, 0});
  }
  return poll(polled.data(), polled.size(), -1) >= 0 || errno == EINTR;
}

bool GuestLine::has_room() const {
  return (is_greeted_ || line_is_gone_) && out_.size() < kFullLineBytes;
}

void GuestLine::accept_client() {
  OwnedFd socket{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
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
  reader_.add({bytes, static_cast<size_t>(got)});
  while (const auto frame = reader_.next()) take_from_guest(*frame);
  if (!reader_.is_broken()) return;
  lose_all(host_ + " has sent what is no frame on its line");
  line_is_gone_ = true;
}

void GuestLine::take_from_guest(const LineFrame& frame) {
  if (!is_greeted_) {
    is_greeted_ = frame.kind == FrameKind::kHello && frame.payload == kHelloText;
    if (!is_greeted_) lose_all(host_ + " has another softspine-agent");
    line_is_gone_ = line_is_gone_ || !is_greeted_;
    return;
  }
  if (frame.program == 0 && frame.kind == FrameKind::kTaken) {
    static_cast<void>(line_window_.take_back(number_in(frame).value_or(0)));
    return;
  }
  const auto found = clients_.find(frame.program);
  if (found == clients_.end() || found->second.is_over || !is_for_user(frame)) return;
  Client& client = found->second;
  if (client.out.size() > kMaxWaitingBytes) {
    append_frame(out_, {.kind = FrameKind::kHangUp, .program = frame.program});
    return lose(client, host_ + " sends more than was asked for");
  }
  LineFrame passed = frame;
  passed.program = 0;
  append_frame(client.out, passed);
  client.is_over = frame.kind == FrameKind::kEnded;
}

void GuestLine::read_client(uint32_t number, Client& client) {
  if (!has_room() || client.is_over) return;
  char bytes[kMaxPayloadBytes];
  const ssize_t got = recv(client.socket.get(), bytes, sizeof bytes, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) client.reader.add({bytes, static_cast<size_t>(got)});
  while (const auto frame = client.reader.next()) pass_to_guest(number, client, *frame);
  client.is_gone = client.is_gone || got <= 0 || client.reader.is_broken();
}

void GuestLine::pass_to_guest(uint32_t number, Client& client, LineFrame frame) {
  client.is_gone = client.is_gone || !is_for_guest(frame);
  if (client.is_gone) return;
  frame.program = number;
  append_frame(out_, frame);
}

void GuestLine::write_line() {
  const size_t before = out_.size();
  write_out(line_, out_, line_window_.room(), line_is_gone_);
  line_window_.send(before - out_.size());
}

void GuestLine::write_out(const OwnedFd& to, std::string& out, size_t most_bytes, bool& is_gone) {
  while (!out.empty() && most_bytes > 0 && !is_gone) {
    const ssize_t sent = send(to.get(), out.data(), std::min(out.size(), most_bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    is_gone = sent <= 0;
    const auto bytes = static_cast<size_t>(std::max<ssize_t>(sent, 0));
    out.erase(0, bytes);
    most_bytes -= bytes;
  }
}

// The guest kills the program of a user who is gone. One that is over has ended by itself, or with the line.
void GuestLine::remove_gone() {
  for (auto it = clients_.begin(); it != clients_.end();) {
    const auto& [number, client] = *it;
    const bool is_removed = client.is_gone || (client.is_over && client.out.empty());
    if (is_removed && !client.is_over && !line_is_gone_) {
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
