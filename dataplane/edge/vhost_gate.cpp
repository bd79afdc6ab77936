// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/vhost_gate.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "dataplane/edge/vhost_link.hpp"
#include "dataplane/edge/vhost_memory.hpp"
#include "dataplane/edge/vhost_message.hpp"

namespace softspine::dataplane {

namespace {

constexpr int kWaitingPeers = 8;
constexpr int kRetryMs = 100;
constexpr uint32_t kSetMemTable = 5;
// Descriptors of DPDK for one peer: its connection, eight regions of memory, four of two rings; and some to spare.
constexpr size_t kDescriptorsOfAPeer = 16;

std::unexpected<EdgeError> failed(const std::string& path, const char* call) {
  return std::unexpected(EdgeError{path, std::string{call} + ": " + std::strerror(errno)});
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

OwnedFd connected_to(const std::string& path) {
  OwnedFd fd{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_un address = address_of(path);
  if (fd && connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return OwnedFd{};
  return fd;
}

// Removes the socket that a killed process left behind; anything else that lies there stays.
std::expected<void, EdgeError> clear_stale_socket(const std::string& path) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) return std::unexpected(EdgeError{path, "exists and is not a socket"});
  if (connected_to(path)) return std::unexpected(EdgeError{path, "a running process listens here"});
  if (unlink(path.c_str()) != 0) return failed(path, "unlink");
  return {};
}

// Nobody can connect before listen(), so the mode is right from the first moment.
std::expected<OwnedFd, EdgeError> listen_at(const std::string& path) {
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
    return std::unexpected(EdgeError{path, "a socket's path has 1 to 107 bytes"});
  }
  if (auto cleared = clear_stale_socket(path); !cleared) return std::unexpected(std::move(cleared.error()));
  OwnedFd fd{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const sockaddr_un address = address_of(path);
  if (!fd) return failed(path, "socket");
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed(path, "bind");
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) return failed(path, "chmod");
  if (listen(fd.get(), kWaitingPeers) != 0) return failed(path, "listen");
  return fd;
}

// One peer's conversation: requests go one way, answers the other, each one message at a time. Questions about the link
// are answered here.
struct Conversation {
  int guest;
  int backend;
  VhostMessage request;
  VhostMessage answer;
  VhostMessage own;  // an answer that is not the backend's
  VhostLink link;

  // The event on a socket that has to come before anything can go on.
  int16_t guest_events() const {
    if (answer.whole() || own.whole()) return POLLOUT;
    return request.whole() ? int16_t{0} : POLLIN;
  }
  int16_t backend_events() const {
    return static_cast<int16_t>((request.whole() ? POLLOUT : 0) | (answer.whole() || own.whole() ? 0 : POLLIN));
  }

  VhostMessage::Step move_answer() {
    if (own.whole()) return own.send(guest);
    if (!answer.whole()) {
      const auto step = answer.gather(backend);
      if (step != VhostMessage::Step::kWhole) return step;
      VhostLink::amend(answer);
    }
    return answer.send(guest);
  }
  VhostMessage::Step move_request(const VhostLink::State& state) {
    if (!request.whole()) {
      const auto step = request.gather(guest);
      if (step != VhostMessage::Step::kWhole) return step;
      if (!may_pass()) return VhostMessage::Step::kOffends;
      if (link.take(request, state, own)) return VhostMessage::Step::kSent;
    }
    return request.send(backend);
  }
  bool may_pass() {
    const uint32_t asks = request.header().request;
    if (asks == kSetMemTable) return is_mappable_table(request.payload(), request.fds());
    return !is_of_a_refused_feature(asks) && request.fds().size() <= most_descriptors(asks);
  }
};

bool ends(VhostMessage::Step step) {
  return step == VhostMessage::Step::kClosed || step == VhostMessage::Step::kOffends;
}

}  // namespace

std::expected<std::unique_ptr<VhostGate>, EdgeError> VhostGate::open(const std::string& path,
                                                                     const std::string& backend, uint32_t speed_mbps) {
  auto listener = listen_at(path);
  if (!listener) return std::unexpected(std::move(listener.error()));
  OwnedFd wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) return failed(path, "eventfd");
  return std::unique_ptr<VhostGate>{new VhostGate{path, backend, speed_mbps, std::move(*listener), std::move(wake)}};
}

VhostGate::VhostGate(std::string path, std::string backend, uint32_t speed_mbps, OwnedFd listener, OwnedFd wake)
    : path_(std::move(path)),
      backend_(std::move(backend)),
      speed_mbps_(speed_mbps),
      listener_(std::move(listener)),
      wake_(std::move(wake)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it: signals are for others
  thread_ = std::thread{[this] { serve(); }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

VhostGate::~VhostGate() {
  closes_.store(true, std::memory_order_release);
  ring();
  thread_.join();
  unlink(path_.c_str());
}

void VhostGate::set_link(bool up) noexcept {
  link_is_up_.store(up, std::memory_order_release);
  ring();
}

std::string VhostGate::trouble() {
  if (told_ || !lacks_descriptors_.load(std::memory_order_relaxed)) return "";
  told_ = true;
  return "a guest may not get in: this process has too few descriptors left (ulimit -n)";
}

// DPDK, too, takes some for each peer, and reports nothing when there are none.
void VhostGate::check_descriptors() noexcept {
  std::array<OwnedFd, kDescriptorsOfAPeer> trial;
  for (OwnedFd& each : trial) {
    each = OwnedFd{fcntl(wake_.get(), F_DUPFD_CLOEXEC, 0)};
    if (!each) lacks_descriptors_.store(true, std::memory_order_relaxed);
  }
}

void VhostGate::ring() const noexcept {
  eventfd_write(wake_.get(), 1);
}

// After the bell has rung.
bool VhostGate::is_to_close() noexcept {
  eventfd_t times = 0;
  eventfd_read(wake_.get(), &times);
  return closes_.load(std::memory_order_acquire);
}

void VhostGate::serve() noexcept {
  OwnedFd peer;
  // A conversation that ends because the gate closes has taken the ring; no other comes.
  while (!closes_.load(std::memory_order_acquire) && wait_for_peer(peer)) relay(std::move(peer));
}

// False when the gate closes.
bool VhostGate::wait_for_peer(OwnedFd& peer) noexcept {
  for (;;) {
    std::array<pollfd, 2> events{{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
    if (poll(events.data(), events.size(), -1) < 0 && errno != EINTR) return false;
    if (events[0].revents != 0 && is_to_close()) return false;
    peer = OwnedFd{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (peer) return true;
    if (errno == EAGAIN) continue;
    check_descriptors();
    // Out of descriptors or the like: the peer stays in the queue and would wake us at once, for ever.
    if (poll(events.data(), 1, kRetryMs) > 0 && is_to_close()) return false;
  }
}

void VhostGate::relay(OwnedFd peer) noexcept {
  const OwnedFd backend = connected_to(backend_);
  check_descriptors();
  if (!backend) return;
  connections_.fetch_add(1, std::memory_order_relaxed);
  Conversation talk{.guest = peer.get(), .backend = backend.get(), .request = {}, .answer = {}, .own = {}, .link = {}};
  for (;;) {
    std::array<pollfd, 4> events{{{wake_.get(), POLLIN, 0},
                                  {talk.guest, talk.guest_events(), 0},
                                  {talk.backend, talk.backend_events(), 0},
                                  {talk.link.waits_on(), POLLOUT, 0}}};
    if (poll(events.data(), events.size(), -1) < 0) continue;
    if (events[0].revents != 0) {
      if (is_to_close()) return;
      talk.link.changed();
    }
    if (events[3].revents != 0) talk.link.notify();
    if (ends(talk.move_answer())) return;
    if (talk.answer.whole() || talk.own.whole()) continue;
    const auto step = talk.move_request({link_is_up_.load(std::memory_order_acquire), speed_mbps_});
    if (talk.request.lost_fds()) {
      lacks_descriptors_.store(true, std::memory_order_relaxed);
    } else if (step == VhostMessage::Step::kOffends) {
      offenders_.fetch_add(1, std::memory_order_relaxed);
    }
    if (ends(step)) return;
  }
}

}  // namespace softspine::dataplane
