// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/drawn_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tests/scenario/random/edge_files.hpp"
#include "tests/unit/traces/chakra_text.hpp"

namespace softspine::tests {
namespace {

struct DrawnFile {
  std::string_view kind;  // of name
  std::string_view name;
  std::string_view text;
};

constexpr std::array kFiles{
    DrawnFile{"include", "drawn-part.yaml", "profiles: {included: {queue_limit: 64KiB}}\n"},
    DrawnFile{"config_db", "drawn-config_db.json", R"({"DSCP_TO_TC_MAP": {"AZURE": {"0": "0", "3": "3", "4": "4"}},
      "TC_TO_QUEUE_MAP": {"AZURE": {"0": "0", "3": "3", "4": "4"}},
      "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE"}}})"},
    DrawnFile{"pg_profile_lookup", "drawn-pg_profile_lookup.ini",
              "# speed cable size xon xoff threshold xon_offset\n"
              " 100000   5m 1248 2288 165568 0 2288\n"
              " 100000  40m 1248 2288 177632 0 2288\n"
              " 400000  40m 1248 2288 400400 -1 2288\n"},
    DrawnFile{"switch_json", "drawn-switch.json",
              R"([{"SWITCH_TABLE:switch": {"ecmp_hash_seed": "10", "lag_hash_seed": "7", "ecmp_hash_offset": "4",
      "lag_hash_offset": "2"}, "OP": "SET"}])"},
    DrawnFile{"switch_config", "drawn-switch.conf",
              "config switch-hash global ecmp-hash SRC_IP DST_IP L4_SRC_PORT\n"
              "config switch-hash global lag-hash SRC_IP L4_SRC_PORT\n"},
    DrawnFile{"import", "drawn-hpcc.txt",
              "6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
              "3 5 100Gbps 1us 0\n4 5 400Gbps 2us 0\n"},
    DrawnFile{"flow_list", "drawn-flows.txt",
              "5\n0 3 3 100 50000 0.000205\n1 2 4 100 700 0.000201\n0 3 3 100 1 0.000205\n2 0 3 100 30001 0.00021\n"
              "3 1 0 100 4096 0.000203001002\n"},
    DrawnFile{"workload_text", "drawn-workload.txt",
              "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 all_gpus: 4\n2\n"
              "a -1 3000 ALLREDUCE 30000 2000 NONE 0 900 REDUCESCATTER 70000 100\n"
              "b -1 500 ALLGATHER 9000 1 ALLTOALL 700 1 ALLREDUCE 50000 100\n"},
    DrawnFile{"server_file", "drawn-server.xml", R"(<system version="1"><cpu numaid="0">
      <pci busid="0001" class="0x030200"><gpu dev="1" sm="80">
        <nvlink target="5" count="3" tclass="0x068000"/></gpu></pci>
      <pci busid="0101" class="0x020000"/></cpu><cpu numaid="1">
      <pci busid="0002" class="0x030200"><gpu dev="0" sm="80">
        <nvlink target="5" count="3" tclass="0x068000"/></gpu></pci>
      <pci busid="0102" class="0x020700"/></cpu></system>)"},
    DrawnFile{"sizes", "drawn-sizes.txt", "1 0\n300 37.5\n9000 99\n20000 100\n"},
    DrawnFile{"plan", "drawn-plan.xml", R"(<algo proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce">
      <gpu id="0" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
        <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1"/>
        <step s="1" type="rrcs" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/>
        <step s="2" type="r" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1"/></tb></gpu>
      <gpu id="1" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
        <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1"/>
        <step s="1" type="rrcs" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1"/>
        <step s="2" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/></tb></gpu></algo>)"},
    // Three ranks: two whose messages are taken as they come, a ring of needs between them, and work on two cpus.
    DrawnFile{
        "trace", "drawn.goal",
        "num_ranks 3\n"
        "rank 0 { a: recv 30000b from -1 tag -1 b: recv 30000b from -1 tag -1 cpu 1 c: calc 700 cpu 1 "
        "s: send 5000b to 1 tag 3 s requires a c irequires b recv 9b from 2 tag 8 }\n"
        "rank 1 { s: send 20000b to 0 tag 1 r: recv 5000b from 0 tag 3 t: send 1b to 2 tag 2 t requires r }\n"
        "rank 2 { s: send 0b to 0 tag 2 calc 2000 r: recv 1b from 1 tag 2 t: send 9b to 0 tag 8 t requires r }\n"},
    DrawnFile{"trace", "drawn.cm",
              "Nodes 3\nConnections 4\nTriggers 2\n0->2 id 1 start 2 size 30000 recv_done_trigger 9\n"
              "1->2 id 2 start 0 size 2 recv_done_trigger 9 send_done_trigger 3\n2->0 id 3 trigger 9 size 9000\n"
              "1->0 id 4 trigger 3 size 7\ntrigger id 9 barrier count 2\ntrigger id 3 oneshot\n"},
    // Two layers of three ranks: rank 2 waits for a flow that it does not receive, and two flows have a delay.
    DrawnFile{"trace", "drawn-simai.txt",
              "5\n0 0 1 30000 1 1 1 RING 0 3 1 1 100 0 1 -1 0 4 1 1 2 0\n"
              "1 1 2 5000 1 1 1 RING 0 3 1 1 100 1 0 1 -1 0 4 1 1 2 700\n"
              "2 2 0 9 1 1 1 RING 0 3 1 1 100 2 0 1 1 -1 0 4 1 1 2 0\n"
              "3 2 1 20000 1 1 1 PXN_INIT 0 3 1 1 100 0 1 -1 0 9 1 1 2 300\n"
              "4 0 2 1 1 1 1 RING 0 3 1 1 100 1 3 1 -1 0 9 1 1 2 0\n"},
};

// Three ranks: a collective of two of them, one of all, and a message.
std::string drawn_chakra(uint32_t rank) {
  std::string out = head() + compute(0, 2).str();
  if (rank != 1) out += collective(1, 6, 30'000, "pair").needs({0}).str();
  if (rank == 0) out += send(2, 2, 5'000, 4).needs({1}).str();
  if (rank == 2) out += receive(2, 0, 5'000, 4).str();
  return out + collective(3, 0, 60'000).needs({0}).str();
}

}  // namespace

std::filesystem::path folder_of_drawn() {
  static const std::filesystem::path folder = [] {
    auto out = std::filesystem::path(testing::TempDir()) / fmt::format("drawn-{}", getpid());
    std::filesystem::create_directories(out);
    for (const DrawnFile& each : kFiles) std::ofstream(out / each.name) << each.text;
    for (uint32_t rank = 0; rank < 3; ++rank)
      std::ofstream(out / fmt::format("drawn.{}.et", rank), std::ios::binary) << drawn_chakra(rank);
    return out;
  }();
  return folder;
}

std::string drawn_testbed_file() {
  return (folder_of_drawn() / "drawn.yaml").string();
}

void add_file_names(Names& names) {
  for (const DrawnFile& each : kFiles) names[std::string(each.kind)].emplace_back(each.name);
  names["sizes"].insert(names["sizes"].end(), {"googlerpc", "alistorage"});
  names["import_rule"] = {"4=tor", "5=aggregation"};
  names["edge_input"] = {testbeds::kEdgeInput};
  for (int i = 0; i < 4; ++i) names["edge_output"].push_back(fmt::format("{}{}.pcap", testbeds::kEdgeOutput, i));
}

}  // namespace softspine::tests
