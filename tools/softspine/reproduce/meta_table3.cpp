// SPDX-License-Identifier: Apache-2.0
// Meta, SIGCOMM 2024, Table 3: sixteen senders to one receiver, with senders that write at once and with a receiver
// that clears them to send.
#include <fmt/format.h>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kFromRtsw = 0;
constexpr size_t kFromCtsw = 1;
constexpr size_t kNic = 2;
constexpr size_t kOpen = 0;
constexpr size_t kReceiver = 1;
constexpr double kTable3Milliseconds = 3;  // of the run

std::string fabric_text(std::string_view name, uint64_t seed) {
  return fmt::format(
      "name: meta-table3-{}\n"
      "run: {{clock: virtual, duration: {}ms, seed: {}}}\n"
      "fabric: {{kind: ai-zone, racks: 17, servers_per_rack: 1, nics_per_server: 1, ctsws: 16,\n"
      "  host_link: {{rate: 400Gbps, length: 3m}}, fabric_link: {{rate: 400Gbps, length: 40m}}}}\n"
      "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {}}}}}}}\n",
      name, kTable3Milliseconds, seed, seed);
}

std::vector<Plan> table3_plans(TrialSize, uint64_t seed) {
  std::string open = fabric_text("open", seed);
  open +=
      "workload:\n"
      "  - {name: incast, pattern: incast, from: [z1-h2-nic1..z1-h17-nic1], to: z1-h1-nic1, message: 1MiB,\n"
      "     messages: 10000, transport: rc, window: 16384}\n";
  std::string receiver = fabric_text("receiver", seed) + "collectives:\n";
  for (uint32_t sender = 2; sender <= 17; ++sender) {
    receiver += fmt::format(
        "  - {{name: from-h{}, op: send_recv, protocol: simple, size: 64MiB, ranks: [z1-h{}-nic1, z1-h1-nic1],\n"
        "     admission: receiver}}\n",
        sender, sender);
  }
  return {{"open", std::move(open)}, {"receiver", std::move(receiver)}};
}

void table3_read(const control::Json& report, size_t plan, Grid& out) {
  const double per_second = 1'000 / kTable3Milliseconds;
  out.at(kFromRtsw, plan) = number_of(report, {"switches", "z1-rtsw1", "pfc_tx_packets"}) * per_second / 1'000;
  out.at(kFromCtsw, plan) = sum_over(report, "switches", "z1-ctsw", "pfc_tx_packets") * per_second / 1'000;
  double paused = 0;
  for (uint32_t sender = 2; sender <= 17; ++sender) {
    paused += number_of(report, {"hosts", fmt::format("z1-h{}-nic1", sender), "paused_ps"});
  }
  out.at(kNic, plan) = paused / 16 / (kTable3Milliseconds * 1e9) * 100;
}

bool open_pauses_all(const Figures& found, const Grid&) {
  return found.mean.at(kFromRtsw, kOpen) > 0 && found.mean.at(kFromCtsw, kOpen) > 0 && found.mean.at(kNic, kOpen) > 0;
}

bool receiver_pauses_none(const Figures& found, const Grid&) {
  return found.most.at(kFromRtsw, kReceiver) == 0 && found.most.at(kFromCtsw, kReceiver) == 0 &&
         found.most.at(kNic, kReceiver) == 0;
}

bool rtsw_pauses_more(const Figures& found, const Grid&) {
  return found.mean.at(kFromRtsw, kOpen) > found.mean.at(kFromCtsw, kOpen);
}

}  // namespace

Experiment meta_table3() {
  return {.name = "meta-table3",
          .paper = "Meta, SIGCOMM 2024",
          .figure = "Table 3",
          .shows = "incast of 16: open senders, and admission by the receiver",
          .unit = "1,000 PFC frames/s; %",
          .how_read = "read in the table",
          .published = {.rows = {"RTSW to CTSW", "CTSW to RTSW", "NICs paused, %"},
                        .columns = {"open", "receiver"},
                        .values = {350, 0, 183, 0, 10, 0}},
          .seeds = 5,
          .takes = "30 s",
          .plans = table3_plans,
          .read = table3_read,
          .claims = {{"open senders: pauses from the receiver's RTSW, from CTSWs, and at the senders' NICs",
                      open_pauses_all, ""},
                     {"admission by the receiver: no pause anywhere", receiver_pauses_none, ""},
                     {"open senders: the RTSW pauses more often than CTSWs do", rtsw_pauses_more,
                      "we count all CTSWs together, and whose counters the paper's rate is of it does not say"}},
          .assumed = {"An open sender is a queue pair that writes as fast as its NIC lets it; a program above it that "
                      "keeps NCCL's buffers (admission: open of a collective) would be less than that.",
                      "Admission by the receiver is NCCL's clear-to-send with its own numbers: 8 slots of 128 KiB a "
                      "sender, 16 MiB to the receiver from all.",
                      "Senders are in racks of their own, 16 CTSWs; the paper says neither.",
                      "Buffers are those of the profile lossless, and no CTSW is deep.",
                      "The run lasts 3 ms, not 5 minutes: rates are of these."}};
}

}  // namespace softspine::tools
