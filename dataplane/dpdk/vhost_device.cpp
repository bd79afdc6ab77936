// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dpdk/vhost_device.hpp"

#include <rte_vhost.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "dataplane/edge/bus_error_guard.hpp"
#include "dataplane/edge/vhost_gate.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint64_t bit(int n) {
  return uint64_t{1} << n;
}

// virtio 1.1, sections 5.1.3 and 6
constexpr uint64_t kRefusedFeatures = bit(0) /* CSUM */ | bit(1) /* GUEST_CSUM */ | bit(6) /* GSO */ |
                                      (uint64_t{0xFF} << 7) /* GUEST_TSO4 … HOST_UFO */ | bit(17) /* CTRL_VQ */ |
                                      bit(18) /* CTRL_RX */ | bit(21) /* GUEST_ANNOUNCE */ | bit(22) /* MQ */ |
                                      bit(26) /* LOG_ALL */ | bit(34) /* RING_PACKED */;
constexpr uint64_t kRefusedProtocol =
    bit(VHOST_USER_PROTOCOL_F_MQ) | bit(VHOST_USER_PROTOCOL_F_LOG_SHMFD) | bit(VHOST_USER_PROTOCOL_F_CRYPTO_SESSION) |
    bit(VHOST_USER_PROTOCOL_F_PAGEFAULT) | bit(VHOST_USER_PROTOCOL_F_SLAVE_SEND_FD) |
    bit(VHOST_USER_PROTOCOL_F_HOST_NOTIFIER) | bit(VHOST_USER_PROTOCOL_F_INFLIGHT_SHMFD);

// The folder and the socket in it where DPDK listens, for the gate alone. Gone with its owner.
class BackendSocket {
 public:
  static std::expected<std::shared_ptr<BackendSocket>, EdgeError> make(const std::string& beside) {
    auto socket = std::make_shared<BackendSocket>(beside + ".d");
    struct stat found{};
    const bool made = mkdir(socket->folder_.c_str(), S_IRWXU) == 0;
    const bool ours = made || (lstat(socket->folder_.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                               found.st_uid == geteuid() && (found.st_mode & (S_IRWXG | S_IRWXO)) == 0);
    if (!ours) return std::unexpected(EdgeError{socket->folder_, std::string{"mkdir: "} + std::strerror(errno)});
    unlink(socket->path().c_str());  // a process that was killed left it; nobody else can get here
    if (socket->path().size() >= kMaxPath) {
      return std::unexpected(EdgeError{beside, "too long for a vhost-user socket: at most 100 bytes"});
    }
    return socket;
  }
  explicit BackendSocket(std::string folder) : folder_(std::move(folder)) {}
  ~BackendSocket() {
    unlink(path().c_str());
    rmdir(folder_.c_str());
  }
  BackendSocket(const BackendSocket&) = delete;
  BackendSocket& operator=(const BackendSocket&) = delete;
  std::string path() const { return folder_ + "/vhost"; }

 private:
  static constexpr size_t kMaxPath = 108;  // sockaddr_un
  std::string folder_;
};

struct Companion {
  std::shared_ptr<BackendSocket> backend;
  std::unique_ptr<VhostGate> gate;  // ends first, and with it the guest's connection
};

std::optional<std::string> refuse_features(const std::string& path) {
  uint64_t protocol = 0;
  if (rte_vhost_driver_disable_features(path.c_str(), kRefusedFeatures) != 0)
    return "rte_vhost_driver_disable_features failed";
  if (rte_vhost_driver_get_protocol_features(path.c_str(), &protocol) != 0 ||
      rte_vhost_driver_set_protocol_features(path.c_str(), protocol & ~kRefusedProtocol) != 0) {
    return "rte_vhost_driver_set_protocol_features failed";
  }
  return std::nullopt;
}

void ignore_broken_pipes() {
  struct sigaction now{};
  if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

std::expected<std::unique_ptr<Device>, EdgeError> open_vhost_device(const std::string& socket_path, PacketPool& pool,
                                                                    uint32_t speed_mbps) {
  static std::atomic<uint32_t> serial{0};
  if (socket_path.find(',') != std::string::npos) {
    return std::unexpected(EdgeError{socket_path, "DPDK takes no comma in a socket's path"});
  }
  ignore_broken_pipes();
  install_bus_error_guard();
  auto backend = BackendSocket::make(socket_path);
  if (!backend) return std::unexpected(std::move(backend.error()));
  const std::string backend_path = (*backend)->path();
  auto device = Device::open(
      {.devargs = "net_vhost" + std::to_string(serial.fetch_add(1)) + ",iface=" + backend_path + ",queues=1",
       .before_start = [&backend_path] { return refuse_features(backend_path); }},
      pool);
  if (!device) return std::unexpected(EdgeError{socket_path, std::move(device.error().message)});
  auto gate = VhostGate::open(socket_path, backend_path, speed_mbps);
  if (!gate) return std::unexpected(std::move(gate.error()));
  VhostGate& kept = **gate;
  (*device)->keep(
      std::make_shared<Companion>(std::move(*backend), std::move(*gate)),
      [&kept](auto& out) {
        out["vhost_connections"] = kept.connections();
        out["vhost_offenders"] = kept.offenders();
      },
      [&kept] { return kept.trouble(); });
  (*device)->tell_link_by([&kept](bool up) { kept.set_link(up); });
  return device;
}

}  // namespace softspine::dataplane
