// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/offload_features.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

constexpr uint32_t kBitsOfABlock = 32;

// One of the kernel's structures that end in an array of unknown length.
template <typename Head>
class Request {
 public:
  Request(uint32_t command, size_t bytes_behind) : words_((sizeof(Head) + bytes_behind) / sizeof(uint64_t) + 1) {
    head()->cmd = command;
  }
  Head* head() { return reinterpret_cast<Head*>(words_.data()); }

 private:
  std::vector<uint64_t> words_;
};

class Ethtool {
 public:
  explicit Ethtool(const std::string& interface)
      : interface_(interface), socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

  // Nothing where the kernel has no such names.
  FeatureNames names() const {
    Request<ethtool_sset_info> size(ETHTOOL_GSSET_INFO, sizeof(uint32_t));
    size.head()->sset_mask = 1ULL << ETH_SS_FEATURES;
    if (!ask(size.head()) || size.head()->sset_mask == 0) return {};
    uint32_t count = 0;
    std::memcpy(&count, size.head()->data, sizeof count);
    Request<ethtool_gstrings> strings(ETHTOOL_GSTRINGS, size_t{count} * ETH_GSTRING_LEN);
    strings.head()->string_set = ETH_SS_FEATURES;
    strings.head()->len = count;
    if (!ask(strings.head())) return {};
    FeatureNames names;
    for (uint32_t i = 0; i < std::min(count, strings.head()->len); ++i) {
      const char* name = reinterpret_cast<const char*>(strings.head()->data) + size_t{i} * ETH_GSTRING_LEN;
      names.emplace_back(name, strnlen(name, ETH_GSTRING_LEN));
    }
    return names;
  }

  // By feature: whether it is wanted (and so on, unless others forbid it), and whether it is on.
  struct State {
    bool wanted = false;
    bool active = false;
  };
  std::expected<std::vector<State>, Error> states(size_t features) const {
    const auto blocks = static_cast<uint32_t>((features + kBitsOfABlock - 1) / kBitsOfABlock);
    Request<ethtool_gfeatures> request(ETHTOOL_GFEATURES, blocks * sizeof(ethtool_get_features_block));
    request.head()->size = blocks;
    if (!ask(request.head()))
      return std::unexpected(Error{interface_, std::string("ethtool: ") + std::strerror(errno)});
    std::vector<State> states(features);
    for (size_t i = 0; i < features; ++i) {
      const ethtool_get_features_block& block = request.head()->features[i / kBitsOfABlock];
      const uint32_t bit = 1U << i % kBitsOfABlock;
      states[i] = {(block.requested & bit) != 0, (block.active & bit) != 0};
    }
    return states;
  }

  bool set(const std::vector<size_t>& chosen, size_t features, bool on) const {
    const auto blocks = static_cast<uint32_t>((features + kBitsOfABlock - 1) / kBitsOfABlock);
    Request<ethtool_sfeatures> request(ETHTOOL_SFEATURES, blocks * sizeof(ethtool_set_features_block));
    request.head()->size = blocks;
    for (const size_t i : chosen) {
      ethtool_set_features_block& block = request.head()->features[i / kBitsOfABlock];
      block.valid |= 1U << i % kBitsOfABlock;
      if (on) block.requested |= 1U << i % kBitsOfABlock;
    }
    return ask(request.head());
  }

 private:
  bool ask(void* request) const {
    ifreq envelope{};
    interface_.copy(envelope.ifr_name, IFNAMSIZ - 1);
    envelope.ifr_data = static_cast<char*>(request);
    return ioctl(socket_.get(), SIOCETHTOOL, &envelope) >= 0;
  }

  std::string interface_;
  OwnedFd socket_;
};

}  // namespace

std::expected<FeatureNames, Error> switch_off_features(const std::string& interface,
                                                       const std::function<bool(std::string_view)>& unwanted) {
  const Ethtool ethtool(interface);
  const FeatureNames names = ethtool.names();
  const auto before = ethtool.states(names.size());
  if (!before) return std::unexpected(before.error());
  std::vector<size_t> chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    if ((*before)[i].wanted && unwanted(names[i])) chosen.push_back(i);
  }
  const std::string refusal = chosen.empty() || ethtool.set(chosen, names.size(), false) ? "" : std::strerror(errno);
  const auto after = ethtool.states(names.size());
  if (!after) return std::unexpected(after.error());
  FeatureNames still_on;
  for (size_t i = 0; i < names.size(); ++i) {
    if ((*after)[i].active && unwanted(names[i])) still_on.push_back(names[i]);
  }
  if (!still_on.empty()) {
    return std::unexpected(Error{interface, fmt::format("{}{}{} cannot be switched off", refusal,
                                                        refusal.empty() ? "" : ": ", fmt::join(still_on, ", "))});
  }
  FeatureNames switched;
  for (const size_t i : chosen) switched.push_back(names[i]);
  return switched;
}

void switch_on_features(const std::string& interface, const FeatureNames& features) {
  if (features.empty()) return;
  const Ethtool ethtool(interface);
  const FeatureNames names = ethtool.names();
  std::vector<size_t> chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(features, names[i]) != features.end()) chosen.push_back(i);
  }
  ethtool.set(chosen, names.size(), true);
}

// "tx-generic-segmentation" cuts before the driver: what leaves the interface is whole frames.
bool leaves_work_to_the_receiver(std::string_view feature) {
  if (feature.starts_with("tx-checksum-") || feature == "tx-gso-list") return true;
  return feature.starts_with("tx-") && feature.ends_with("-segmentation") && feature != "tx-generic-segmentation";
}

bool merges_received_frames(std::string_view feature) {
  return feature == "rx-lro" || feature == "rx-udp-gro-forwarding" || feature.starts_with("rx-gro");
}

}  // namespace softspine::testbeds
