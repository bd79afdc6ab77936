// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "testbeds/guests/tsc.hpp"

namespace softspine::testbeds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

HostSetup dual_homed() {
  return {
      .name = "h1",
      .nics = {{"/run/a", "02:00:00:00:00:01", {"10.0.0.1/24", "2001:db8::1/64"}, {"10.0.0.254", "2001:db8::fe"}, 4200},
               {"/run/b", "02:00:00:00:00:02", {"10.0.1.1/24"}, {}, 1500}},
      .run = "true"};
}

TEST(GuestFolder, QuotesWhatAShellWouldExpand) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a $b `c` \"d\""), "'a $b `c` \"d\"'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

TEST(GuestFolder, WritesTheSettingsOfEveryNic) {
  EXPECT_EQ(
      settings_text(dual_homed(), 2596.1416),
      "NAME='h1'\nCPU_MHZ='2596.142'\nBOND_MODE=''\nNICS='2'\n"
      "NIC0_DEVICE='eth0'\nNIC0_MAC='02:00:00:00:00:01'\nNIC0_MTU='4200'\nNIC0_ADDRESSES='10.0.0.1/24 2001:db8::1/64'\n"
      "NIC0_GATEWAYS='10.0.0.254 2001:db8::fe'\n"
      "NIC1_DEVICE='eth1'\nNIC1_MAC='02:00:00:00:00:02'\nNIC1_MTU='1500'\nNIC1_ADDRESSES='10.0.1.1/"
      "24'\nNIC1_GATEWAYS=''\n");
}

TEST(GuestFolder, SaysWhereOthersUseTheNetworkToo) {
  HostSetup setup{.name = "h1", .nics = {{.mac = "02:00:00:00:00:01", .device = "fabric0"}}, .run = "true"};
  setup.joins = true;
  setup.routes = {"10.0.2.0/24", "fd00:0:0:2::/64"};
  const std::string text = settings_text(setup, 1000);
  EXPECT_NE(text.find("JOINS='yes'\nROUTES='10.0.2.0/24 fd00:0:0:2::/64'\n"), std::string::npos) << text;
  EXPECT_NE(text.find("NIC0_DEVICE='fabric0'\n"), std::string::npos) << text;
}

TEST(GuestFolder, ExportsTheEnvironmentUnexpanded) {
  auto spec = dual_homed();
  spec.env = {{"A", "$HOME"}, {"B", "it's"}};
  EXPECT_EQ(env_text(spec), "export A='$HOME'\nexport B='it'\\''s'\n");
}

TEST(GuestFolder, NamesFurtherNicsOfAGuestByTheirNumber) {
  EXPECT_EQ(hosts_text(std::array{dual_homed()}), "127.0.0.1 localhost\n10.0.0.1 h1\n2001:db8::1 h1\n10.0.1.1 h1-1\n");
}

TEST(GuestFolder, ReadsCountersByDeviceAndName) {
  const auto counters = parse_counters("rxe0 out_of_seq_request 7\neth0 rx_bytes 18446744073709551615\n");
  ASSERT_TRUE(counters);
  EXPECT_THAT(*counters, ElementsAre(Pair("eth0 rx_bytes", 18446744073709551615U), Pair("rxe0 out_of_seq_request", 7)));
  EXPECT_THAT(*parse_counters(""), IsEmpty());
}

TEST(GuestFolder, TellsTheLineOfACounterItCannotRead) {
  for (const auto* bad : {"rxe0 a 1\nrxe0 b -1\n", "rxe0 a 1\nnonsense\n", "rxe0 a 1\nrxe0 b 18446744073709551616\n"}) {
    const auto counters = parse_counters(bad);
    ASSERT_FALSE(counters) << bad;
    EXPECT_EQ(counters.error().path, "counters:2");
  }
}

TEST(GuestFolder, FindsTheLastLinesOfAConsoleThatHoldAnything) {
  EXPECT_THAT(last_lines("", 3), IsEmpty());
  EXPECT_THAT(last_lines("\n \r\n\n", 3), IsEmpty());
  EXPECT_THAT(last_lines("one\ntwo\r\n\nthree", 3), ElementsAre("one", "two", "three"));
  EXPECT_THAT(last_lines("one\ntwo\nthree\n\n", 2), ElementsAre("two", "three"));
}

TEST(GuestFolder, EndsAConsoleWhereItsKernelSaysWhyItPanics) {
  EXPECT_THAT(
      last_lines("one\nfatal\nKernel panic - not syncing: why\nCall Trace:\n [<604ad98d>] ? _printk+0x0/0x94\n", 2),
      ElementsAre("fatal", "Kernel panic - not syncing: why"));
}

TEST(GuestFolder, LetsNoControlSequenceOfAConsoleThrough) {
  EXPECT_THAT(last_lines("\033[2Jcleared\007\n\xff\xfe\n", 3), ElementsAre("[2Jcleared"));
}

TEST(GuestFolder, MeasuresTheTimeStampCounterAsAPlausibleClock) {
  EXPECT_GT(tsc_mhz(), 500);
  EXPECT_LT(tsc_mhz(), 10000);
  EXPECT_EQ(tsc_mhz(), tsc_mhz());
}

}  // namespace
}  // namespace softspine::testbeds
