// SPDX-License-Identifier: Apache-2.0
// NCCL's topology files: which NIC a GPU has, how fast its NVLinks are, and what is refused, with its line.
#include "control/collectives/nccl_topology.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

std::string gpu(const std::string& bus, const std::string& inside = "") {
  return "<pci busid=\"" + bus + "\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\">" + inside +
         "</pci>\n";
}
std::string nic(const std::string& bus, const std::string& inside = "") {
  return "<pci busid=\"" + bus + "\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">" + inside +
         "</pci>\n";
}
std::string bridge(const std::string& bus, const std::string& inside) {
  return "<pci busid=\"" + bus + "\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">\n" + inside +
         "</pci>\n";
}
std::string cpu(const std::string& inside) {
  return "<cpu numaid=\"0\" arch=\"x86_64\">\n" + inside + "</cpu>\n";
}
std::string gpu_element(uint32_t dev, uint32_t sm, const std::string& inside = "") {
  return "<gpu dev=\"" + std::to_string(dev) + "\" sm=\"" + std::to_string(sm) + "\">" + inside + "</gpu>";
}
std::string nvlink(uint32_t count, const std::string& tclass = "0x068000") {
  return "<nvlink target=\"x\" count=\"" + std::to_string(count) + "\" tclass=\"" + tclass + "\"/>";
}

ServerTopology read_well(const std::string& inside) {
  const auto read = read_nccl_topology("<system version=\"1\">\n" + inside + "</system>\n", "t.xml");
  if (read) return *read;
  for (const Error& error : read.error()) ADD_FAILURE() << to_string(error);
  return {};
}
std::string complaint(const std::string& inside) {
  const auto read = read_nccl_topology("<system version=\"1\">\n" + inside + "</system>\n", "t.xml");
  if (read) return "";
  return to_string(read.error().front());
}
std::string nics_of(const ServerTopology& topology) {
  std::string out;
  for (const ServerGpu& each : topology.gpus) out += std::to_string(each.nic) + std::string(word_for(each.path)) + " ";
  return out;
}

// Azure's ND A100 v4: numbers go by bus ids, not by the file's order, and each two GPUs share a switch with two NICs.
TEST(NcclTopology, NumbersByBusIdsAndGivesEachGpuANicBehindItsSwitch) {
  const ServerTopology topology = read_well(cpu(bridge("ffff:ff:01.0", gpu("0003:00:00.0") + nic("0103:00:00.0") +
                                                                           gpu("0004:00:00.0") + nic("0104:00:00.0"))) +
                                            cpu(bridge("ffff:ff:02.0", gpu("0001:00:00.0") + nic("0101:00:00.0") +
                                                                           gpu("0002:00:00.0") + nic("0102:00:00.0"))));
  EXPECT_EQ(nics_of(topology), "0PIX 1PIX 2PIX 3PIX ");
  EXPECT_EQ(topology.gpus[0].bus, "0001:00:00.0");
  EXPECT_EQ(topology.nics[2].bus, "0103:00:00.0");
  EXPECT_EQ(topology.nics[0].pcie, dataplane::Rate::gbps(384));
  EXPECT_FALSE(topology.gpu_nvlink);
}

// Of four NICs at one cpu, GPU 1 takes NIC 2, and GPU 2 NIC 1: NCCL reverses the bits.
TEST(NcclTopology, SpreadsGpusOverNicsAtOneDistanceAsNcclDoes) {
  std::string inside;
  for (const char* const number : {"1", "2", "3", "4"}) {
    inside += bridge(std::string("ffff:0") + number, gpu(std::string("000") + number));
    inside += bridge(std::string("ffff:1") + number, nic(std::string("010") + number));
  }
  EXPECT_EQ(nics_of(read_well(cpu(inside))), "0PHB 2PHB 1PHB 3PHB ");
}

// No power of two: in turns.
TEST(NcclTopology, SpreadsGpusOverThreeNicsInTurns) {
  std::string inside;
  for (const char* const number : {"1", "2", "3"}) {
    inside += bridge(std::string("ffff:0") + number, gpu(std::string("000") + number));
    inside += bridge(std::string("ffff:1") + number, nic(std::string("010") + number));
  }
  EXPECT_EQ(nics_of(read_well(cpu(inside))), "0PHB 1PHB 2PHB ");
}

TEST(NcclTopology, TakesEachNetAtACpuForANic) {
  const ServerTopology topology =
      read_well(cpu(gpu("0001") + gpu("0002") + "<nic><net name=\"a\" dev=\"0\"/><net name=\"b\" dev=\"1\"/></nic>\n"));
  ASSERT_EQ(topology.nics.size(), 2u);
  EXPECT_EQ(topology.nics[1].name, "b");
  EXPECT_EQ(nics_of(topology), "0PHB 1PHB ");
}

TEST(NcclTopology, KnowsPathsOverSeveralSwitchesAndFromCpuToCpu) {
  EXPECT_EQ(nics_of(read_well(cpu(bridge("a", bridge("b", gpu("0001")) + nic("0101"))))), "0PXB ");
  EXPECT_EQ(nics_of(read_well(cpu(gpu("0001")) + cpu(nic("0101")))), "0SYS ");
}

TEST(NcclTopology, TakesNumbersSpeedsAndNvlinksOfADump) {
  const std::string inside =
      cpu(bridge("a", gpu("0001", gpu_element(1, 90, nvlink(10) + nvlink(8))) +
                          nic("0101", "<nic><net name=\"mlx5_1\" dev=\"1\" speed=\"400000\"/></nic>")) +
          bridge("b", gpu("0002", gpu_element(0, 90, nvlink(18))) +
                          nic("0102", "<nic><net name=\"mlx5_0\" dev=\"0\" speed=\"400000\"/></nic>")));
  const ServerTopology topology = read_well(inside);
  EXPECT_EQ(nics_of(topology), "0PIX 1PIX ");
  EXPECT_EQ(topology.gpus[0].bus, "0002");
  EXPECT_EQ(topology.nics[1].name, "mlx5_1");
  EXPECT_EQ(topology.nics[1].rate, dataplane::Rate::gbps(400));
  EXPECT_EQ(topology.gpu_nvlink, dataplane::Rate::mbps(18 * 164'800));
}

struct Refused {
  std::string inside;
  std::string why;
};

TEST(NcclTopology, RefusesWhatBuiltInHostsAreNotWithTheLine) {
  const Refused cases[]{
      {cpu(bridge("a", gpu("0001") + gpu("0002") + nic("0101"))) + cpu(nic("0102")),
       "t.xml:5:2: GPU 1 has NIC 0, as GPU 0 has: here each GPU has a NIC of its own"},
      {cpu(gpu("0001", gpu_element(0, 80, nvlink(12, "0x030200"))) + nic("0101")),
       "t.xml:3:95: goes from GPU to GPU, or to a cpu: built-in hosts have NVLinks to NVSwitches (tclass 0x068000), "
       "by "
       "which each GPU reaches all others of its server at one rate"},
      {cpu(gpu("0001")), "t.xml:1:2: has no NIC: neither a pci of class 0x0200 or 0x0207, nor a net"},
      {cpu(nic("0101")), "t.xml:1:2: has no GPU: no pci of class 0x0300 or 0x0302"},
      {cpu("<xmi/>"), "t.xml:3:2: <xmi> is not known in <cpu>"},
      {cpu(gpu("0001") + gpu("0001")), "t.xml:4:2: busid '0001' stands here twice"},
      {cpu("<pci busid=\"a\" class=\"0x012345\"/>"),
       "t.xml:3:2: class '0x012345' is neither a GPU, a NIC, a PCIe switch nor an NVSwitch"},
      {cpu("<pci busid=\"a\"/>"), "t.xml:3:2: needs class"},
      {cpu("<pci class=\"0x030200\"/>"), "t.xml:3:2: needs busid"},
      {cpu("<pci busid=\"a\" class=\"GPU\"/>"),
       "t.xml:3:2: class is a PCI class such as 0x030200, and here stands 'GPU'"},
      {cpu("<pci busid=\"a\" class=\"0x030200\" link_speed=\"9 GT/s\" link_width=\"16\"/>"),
       "t.xml:3:2: link_speed is 2.5, 5, 8, 16, 32 or 64 GT/s, and here stands '9 GT/s'"},
      {cpu(gpu("0001", gpu_element(1, 80)) + nic("0101")), "t.xml:3:2: dev of the 1 GPUs must be 0 to 0, each once"},
      {cpu(gpu("0001", gpu_element(0, 80, nvlink(12))) + gpu("0002", gpu_element(1, 80, nvlink(6))) + nic("0101") +
           nic("0102")),
       "t.xml:4:2: has 6 NVLinks of sm 80, and GPU 0 has 12 of sm 80: here all GPUs of a server are alike"},
      {cpu(gpu("0001", gpu_element(0, 80, nvlink(6))) + gpu("0002", gpu_element(1, 90, nvlink(6))) + nic("0101") +
           nic("0102")),
       "t.xml:4:2: has 6 NVLinks of sm 90, and GPU 0 has 6 of sm 80: here all GPUs of a server are alike"},
      {cpu(gpu("0001", gpu_element(0, 50, nvlink(4))) + nic("0101")),
       "t.xml:3:2: sm 50 has no NVLinks whose rate is known: 60 and above have"},
      {cpu(nic("0101", "<nic><net dev=\"0\"/><net dev=\"1\"/></nic>")),
       "t.xml:3:100: is a second net of one NIC: a built-in host is a NIC with one"}};
  for (const Refused& each : cases) EXPECT_EQ(complaint(each.inside), each.why);
  EXPECT_EQ(to_string(read_nccl_topology("<graphs version=\"1\"/>", "g.xml").error().front()),
            "g.xml:1:2: is a graph file of NCCL's (NCCL_GRAPH_DUMP_FILE), and a topology is asked for: <system>");
  EXPECT_NE(complaint("<cpu>"), "");
}

TEST(NcclTopology, HasMaxima) {
  std::string deep = gpu("0001");
  for (uint32_t i = 0; i < 31; ++i) deep = bridge(std::to_string(i), deep);
  EXPECT_EQ(complaint(cpu(deep)), "t.xml:33:2: is deeper than 32 levels");
  std::string wide;
  for (uint32_t i = 0; i < 4096; ++i) wide += bridge(std::to_string(i), "");
  EXPECT_NE(complaint(cpu(wide)).find("is one too many: there are 4096 devices at most"), std::string::npos);
  std::string wrong;
  for (uint32_t i = 0; i < 60; ++i) wrong += "<xmi/>\n";
  EXPECT_EQ(read_nccl_topology("<system>" + wrong + "</system>", "t.xml").error().size(), 50u);
}

// GPU 1 is found first, and stands behind GPU 3.
TEST(NcclTopology, ComplainsInTheOrderOfTheFile) {
  const auto shared = [](const std::string& bus, uint32_t first_gpu) {
    return bridge(bus, gpu(bus + "1", gpu_element(first_gpu, 80)) + gpu(bus + "2", gpu_element(first_gpu + 1, 80)) +
                           nic(bus + "3"));
  };
  const std::string text = "<system>\n" + cpu(shared("a", 2) + shared("b", 0)) + "</system>\n";
  const auto read = read_nccl_topology(text, "t.xml");
  ASSERT_FALSE(read);
  ASSERT_EQ(read.error().size(), 2u);
  EXPECT_EQ(read.error()[0].line, 5);
  EXPECT_EQ(read.error()[1].line, 10);
}

TEST(NcclTopology, SaysWhatItDoesNotRegard) {
  const ServerTopology topology = read_well(cpu(bridge("a", "<pcilink target=\"b\"/>\n" + gpu("0001") + nic("0101"))));
  ASSERT_EQ(topology.notes.size(), 1u);
  EXPECT_EQ(to_string(topology.notes[0]), "t.xml:4:2: pcilink changes nothing here");
}

std::string nic_of_speed(const std::string& bus, const std::string& speed, uint32_t lanes) {
  return "<pci busid=\"" + bus + "\" class=\"0x020000\" link_speed=\"" + speed + "\" link_width=\"" +
         std::to_string(lanes) + "\"/>\n";
}

// The near NIC is slower: NCCL would give the GPU the other one.
TEST(NcclTopology, SaysThatNicsAreUnlike) {
  const std::string two = bridge("a", gpu("0001") + nic_of_speed("0101", "8.0 GT/s PCIe", 8)) +
                          bridge("b", gpu("0002") + nic_of_speed("0102", "64.0 GT/s PCIe", 16));
  const ServerTopology topology = read_well(cpu(two));
  EXPECT_EQ(nics_of(topology), "0PIX 1PIX ");
  EXPECT_EQ(topology.nics[0].pcie, dataplane::Rate::gbps(48));
  EXPECT_EQ(topology.nics[1].pcie, dataplane::Rate::gbps(768));
  ASSERT_EQ(topology.notes.size(), 1u);
  EXPECT_EQ(to_string(topology.notes[0]),
            "t.xml:9:2: is not as fast as NIC 0: NCCL prefers the NIC with the fastest path, here each GPU has the "
            "nearest");
}

TEST(NcclTopology, TakesWhatLinuxDoesNotKnowForNotSaid) {
  const ServerTopology topology = read_well(cpu(gpu("0001") + nic_of_speed("0101", "Unknown speed", 16)));
  EXPECT_TRUE(topology.nics[0].pcie.is_zero());
  EXPECT_TRUE(topology.notes.empty());
}

}  // namespace
}  // namespace softspine::control
