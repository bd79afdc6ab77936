// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/capture_options.hpp"

#include "tools/softspine/views/capture_requests.hpp"

namespace softspine::tools {

using dataplane::Duration;
using testbeds::CaptureRequest;

namespace {

uint64_t size_argument(const std::string& option, const std::string& text) {
  return static_cast<uint64_t>(quantity_argument(option, text, control::kBytesQuantity));
}

testbeds::Watched direction_argument(const std::string& option, const std::string& text) {
  const auto found = direction_of(text);
  if (!found) throw CLI::ValidationError(option, "sent, received or both");
  return *found;
}

// A size or a time, by its unit.
void set_rotation(const std::string& option, const std::string& text, control::Rotation& out) {
  out.bytes = 0;
  out.every = Duration{};
  const bool is_time = control::quantity_kind_of(text) == &control::kDurationQuantity;
  if (is_time) {
    out.every = Duration::ps(quantity_argument(option, text, control::kDurationQuantity));
  } else {
    out.bytes = size_argument(option, text);
  }
  if (!out.any()) throw CLI::ValidationError(option, "must be more than 0");
}

}  // namespace

void add_capture_options(CLI::App& command, CaptureRequest& out, const std::string& prefix, CLI::Option* needs) {
  const auto with = [needs](CLI::Option* option) {
    if (needs != nullptr) option->needs(needs);
    return option;
  };
  const auto text_option = [&](const std::string& name, auto&& take, const std::string& help) {
    return with(command.add_option_function<std::string>(
        prefix + name, [take, option = prefix + name](const std::string& text) { take(option, text); }, help));
  };
  with(command.add_option(prefix + "port", out.ports,
                          "only ports that match, e.g. 'tor1:*', or those of nodes, e.g. 'h1..h4', 'rail 1' "
                          "(repeatable): what they send, and of switches also "
                          "what they receive; else what every port sends"));
  text_option(
      "direction",
      [&out](const std::string& option, const std::string& text) { out.watched = direction_argument(option, text); },
      "only what ports send, or receive: sent, received or both");
  with(command.add_option(prefix + "filter", out.filter,
                          "only frames that match, in tcpdump's words, e.g. 'ether proto 0x8808' or 'udp port 4791'"));
  CLI::Option* snaplen = with(command.add_option("--snaplen", out.snaplen, "bytes kept of a captured frame"))
                             ->check(CLI::Range(1, 65'535))
                             ->capture_default_str();
  with(command.add_flag("--full", out.full,
                        "frames whole, with the payload's zeros that built-in hosts leave out: for readers that call "
                        "a frame without its end malformed"))
      ->excludes(snaplen);
  text_option(
      "limit",
      [&out](const std::string& option, const std::string& text) { out.max_bytes = size_argument(option, text); },
      "size of the capture at most, e.g. 1GiB");
  text_option(
      "duration",
      [&out](const std::string& option, const std::string& text) {
        out.lasts = Duration::ps(quantity_argument(option, text, control::kDurationQuantity));
      },
      "emulated time after which it takes nothing more, e.g. 5ms");
  CLI::Option* rotate = text_option(
      "rotate",
      [&out](const std::string& option, const std::string& text) { set_rotation(option, text, out.rotation); },
      "a new file whenever the last has this size, or spans this time, e.g. 100MiB or 10ms: OUT-00001.pcapng, …");
  with(command.add_option(prefix + "keep", out.rotation.keep, "of these files only the last so many"))
      ->check(CLI::Range(1, 1'000'000))
      ->needs(rotate);
}

}  // namespace softspine::tools
