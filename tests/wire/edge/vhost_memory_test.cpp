// SPDX-License-Identifier: Apache-2.0
// What peers say of their memory, and how many descriptors of ours that costs: none, once they are gone.
#include "dataplane/edge/vhost_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <random>

#include "dataplane/dpdk/vhost_device.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/wire/edge/child.hpp"
#include "tests/wire/edge/vhost_client.hpp"
#include "tests/wire/edge/wall_fabric.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kTebi = uint64_t{1} << 40;

OwnedFd memory(uint64_t bytes, unsigned seals = 0) {
  OwnedFd fd{memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

struct Region {
  uint64_t size = kPage;
  uint64_t mmap_offset = 0;
};

std::vector<uint32_t> table(uint32_t count, const std::vector<Region>& regions) {
  std::vector<uint32_t> words(2 + regions.size() * 8);
  words[0] = count;
  for (size_t i = 0; i < regions.size(); ++i) {
    const std::array<uint64_t, 4> row{i << 32, regions[i].size, i << 32, regions[i].mmap_offset};
    std::memcpy(&words[2 + i * 8], row.data(), sizeof row);
  }
  return words;
}

std::span<const uint8_t> bytes_of(const std::vector<uint32_t>& words) {
  return {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4};
}

// Of so many regions, each in a file of its own.
bool passes(uint32_t count, const std::vector<Region>& regions, std::vector<OwnedFd> files) {
  return is_mappable_table(bytes_of(table(count, regions)), files);
}
bool passes(const Region& region, OwnedFd file) {
  std::vector<OwnedFd> files;
  files.push_back(std::move(file));
  return passes(1, {region}, std::move(files));
}

TEST(VhostMemory, PassesIfTheFileHasIt) {
  EXPECT_TRUE(passes({}, memory(kPage)));
  EXPECT_TRUE(passes({.size = kPage, .mmap_offset = kPage}, memory(2 * kPage)));
  EXPECT_TRUE(passes({.size = 3 * kPage}, memory(3 * kPage, F_SEAL_SHRINK)));
  for (uint32_t n = 1; n <= 9; ++n) {
    std::vector<OwnedFd> files;
    for (uint32_t i = 0; i < n; ++i) files.push_back(memory(kPage));
    EXPECT_EQ(passes(n, std::vector<Region>(n), std::move(files)), n <= 8) << n;
  }
}

TEST(VhostMemory, IsRefusedIfTheFileIsShorterByOneByte) {
  EXPECT_FALSE(passes({.size = kPage}, memory(kPage - 1)));
  EXPECT_FALSE(passes({.size = kPage, .mmap_offset = 1}, memory(kPage)));
  EXPECT_FALSE(passes({.size = UINT64_MAX - kPage + 1, .mmap_offset = kPage}, memory(kPage))) << "0, modulo 2^64";
  EXPECT_FALSE(passes({.size = 0}, memory(kPage)));
}

TEST(VhostMemory, IsRefusedIfItIsNoSharedMemory) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_FALSE(passes({}, OwnedFd{ends[0]}));
  EXPECT_FALSE(passes({}, OwnedFd{ends[1]}));
  EXPECT_FALSE(passes({}, OwnedFd{open("/dev/zero", O_RDWR | O_CLOEXEC)}));
  EXPECT_FALSE(passes({}, OwnedFd{open("/proc/self/exe", O_RDONLY | O_CLOEXEC)})) << "nobody may write there";
  EXPECT_FALSE(passes({}, memory(kPage, F_SEAL_WRITE)));
  EXPECT_FALSE(passes({}, OwnedFd{}));
}

TEST(VhostMemory, IsRefusedIfTheAddressSpaceHasNoRoomForAllOfIt) {
  std::vector<OwnedFd> files;
  for (int i = 0; i < 8; ++i) files.push_back(memory(20 * kTebi));
  EXPECT_FALSE(passes(8, std::vector<Region>(8, Region{.size = 20 * kTebi}), std::move(files))) << "128 TiB are there";
}

TEST(VhostMemory, IsRefusedIfTableAndDescriptorsAreNotAsMany) {
  EXPECT_FALSE(is_mappable_table(bytes_of({1}), {}));
  EXPECT_FALSE(passes(0, {}, {}));
  EXPECT_FALSE(passes(1, {Region{}}, {}));
  std::vector<OwnedFd> one;
  one.push_back(memory(kPage));
  EXPECT_FALSE(is_mappable_table(bytes_of(table(2, {{}, {}})), one));
  EXPECT_FALSE(is_mappable_table(bytes_of(table(1, {})), one)) << "cut";
}

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) ++count;
  return count;
}

class VhostDescriptors : public testing::Test {
 protected:
  static void SetUpTestSuite() { start_eal({.memory_mib = 512}); }
  void SetUp() override {
    auto device = open_vhost_device(path(), fabric_.pool);
    ASSERT_TRUE(device) << device.error().message;
    edge_ = &fabric_.add(std::make_unique<DeviceEdge>("guest", std::move(*device), fabric_.pool, DeviceEdge::Config{}));
    probe_ = &fabric_.add(std::make_unique<Probe>(fabric_.pool));
    fabric_.connect(*edge_, *probe_);
  }
  void TearDown() override { fabric_.engine.drain(); }

  std::string path() const { return folder_.path() / "guest"; }
  uint64_t statistic(const char* name) const { return edge_->statistics()[name]; }
  // One peer says this, leaves, and has been served.
  void visit(uint32_t request, const std::vector<uint32_t>& payload, const std::vector<int>& descriptors) {
    const uint64_t before = statistic("vhost_connections");
    {
      const OwnedFd peer = connect_to(path());
      ASSERT_TRUE(peer);
      send_request(peer, request, 1, payload, descriptors);
    }
    ASSERT_TRUE(fabric_.run_until([&] { return statistic("vhost_connections") > before; }));
  }
  // Of what has been opened for peers nothing is left.
  bool comes_back_to(size_t descriptors) {
    return fabric_.run_until([&] { return open_descriptors() <= descriptors; });
  }
  // A guest as it should be comes up; its end is waited for.
  bool serves_a_guest() {
    Child guest{{VHOST_PEER, path()}};
    const bool up = fabric_.run_until([&] { return edge_->device().up(); });
    guest.kill();
    return up && fabric_.run_until([&] { return !edge_->device().up(); });
  }

  testbeds::ScratchFolder folder_;
  WallFabric fabric_{"vhost_descriptors"};
  DeviceEdge* edge_ = nullptr;
  Probe* probe_ = nullptr;
};

TEST_F(VhostDescriptors, AreNotLeftWithTablesThatCannotBeMapped) {
  ASSERT_TRUE(serves_a_guest());
  const size_t before = open_descriptors();
  const OwnedFd small = memory(kPage);
  for (int i = 0; i < 50; ++i) visit(5, table(2, {{}, {.size = kTebi}}), {small.get(), small.get()});
  EXPECT_TRUE(comes_back_to(before + 1)) << open_descriptors() << " from " << before;
  EXPECT_EQ(statistic("vhost_offenders"), 50U);
  EXPECT_TRUE(serves_a_guest());
}

TEST_F(VhostDescriptors, AreNotLeftWithAnyRequest) {
  ASSERT_TRUE(serves_a_guest());
  const size_t before = open_descriptors();
  const OwnedFd good = memory(kPage);
  std::mt19937 random{41};
  for (uint32_t request = 0; request <= 45; ++request) {
    for (const size_t count : {0, 1, 2, 8}) {
      const std::vector<int> descriptors(count, good.get());
      std::vector<uint32_t> payload(random() % 12);
      for (uint32_t& word : payload) word = random() % 3 == 0 ? static_cast<uint32_t>(random()) : random() % 4;
      visit(request, request == 5 ? table(static_cast<uint32_t>(count), std::vector<Region>(count)) : payload,
            descriptors);
      ASSERT_TRUE(comes_back_to(before + 1)) << "request " << request << " with " << count << " descriptors";
    }
  }
  EXPECT_TRUE(serves_a_guest());
}

TEST_F(VhostDescriptors, AreMissedWhereTheyAreFew) {
  edge_->look_outside(fabric_.engine.now());
  EXPECT_TRUE(edge_->faults().empty());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const OwnedFd peer{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const rlimit few{open_descriptors() + 4, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path().copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(peer.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(fabric_.run_until([&] {
    edge_->look_outside(fabric_.engine.now());
    return !edge_->faults().empty();
  }));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_EQ(edge_->faults().size(), 1U);
  EXPECT_NE(edge_->faults()[0].error.message.find("ulimit -n"), std::string::npos);
}

}  // namespace
}  // namespace softspine::dataplane
