// SPDX-License-Identifier: Apache-2.0
// softspine-extcap: Wireshark and tshark start it to list running fabrics and their ports, and to capture them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "control/capture/frame_filter.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/exit_status.hpp"
#include "tools/command/program_version.hpp"
#include "tools/command/standard_output.hpp"
#include "tools/extcap/pipe_capture.hpp"
#include "tools/extcap/sentences.hpp"

namespace softspine::tools {
namespace {

struct Arguments {
  bool interfaces = false;
  bool link_types = false;
  bool options = false;
  bool capture = false;
  std::string interface;
  PipeCapture wanted;
};

// What Wireshark hands over, and the options of sentences.cpp.
void add_options(CLI::App& app, Arguments& out) {
  app.allow_extras();  // what later releases of Wireshark add
  app.add_flag("--extcap-interfaces", out.interfaces, "list running fabrics and their ports");
  app.add_flag("--extcap-dlts", out.link_types, "list an interface's link types");
  app.add_flag("--extcap-config", out.options, "list an interface's options");
  app.add_flag("--capture", out.capture, "capture into --fifo until SIGTERM, or until its reader leaves");
  app.add_option("--extcap-interface", out.interface, "softspine:FABRIC or softspine:FABRIC:NODE:PORT");
  app.add_option("--extcap-capture-filter", out.wanted.other_filter, "a filter; without --capture it is checked");
  app.add_option("--fifo", out.wanted.pipe, "a named pipe");
  app.add_option("--ports", out.wanted.ports, "of a fabric: names or patterns, between blanks");
  app.add_option("--direction", out.wanted.direction, "sent, received or both");
  app.add_option("--filter", out.wanted.filter, "frames that match, in tcpdump's words");
  app.add_option("--snaplen", out.wanted.snaplen, "bytes kept of a frame; 0: whole frames")
      ->check(CLI::Range(0, 65'535));
}

ExitStatus refuse(const std::string& why) {
  complain("softspine-extcap: {}\n", why);
  return ExitStatus::kWrongInput;
}

ExitStatus answer(Arguments& arguments) {
  if (arguments.interfaces) {
    fmt::print("{}", interface_sentences(running_fabrics()));
    return ExitStatus::kDone;
  }
  const auto of = interface_name(arguments.interface);
  if (!of) return refuse("--extcap-interface names no fabric: '" + arguments.interface + "'");
  arguments.wanted.of = *of;
  if (arguments.capture) {
    const auto done = capture_into_pipe(arguments.wanted);
    return done ? ExitStatus::kDone : refuse(done.error());
  }
  if (arguments.link_types) {
    fmt::print("{}", link_type_sentences());
  } else if (arguments.options) {
    fmt::print("{}", option_sentences(*of));
  } else if (const auto filter = control::FrameFilter::compile(joined_filter(arguments.wanted)); !filter) {
    fmt::print("{}\n", filter.error());  // so Wireshark learns that it is wrong
  }
  return ExitStatus::kDone;
}

ExitStatus status_of(int argc, char** argv) {
  CLI::App app{"Shows running fabrics of softspine to Wireshark, which starts this program by itself."};
  app.set_version_flag("--version", program_version("softspine-extcap"));
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitStatus::kDone : ExitStatus::kWrongInput;
  }
  return answer(arguments);
}

}  // namespace
}  // namespace softspine::tools

int main(int argc, char** argv) {
  using namespace softspine::tools;
  occupy_standard_streams();
  try {
    const ExitStatus status = status_of(argc, argv);
    return static_cast<int>(close_standard_output().empty() ? status : ExitStatus::kUnexpected);
  } catch (const std::exception& error) {
    complain("softspine-extcap: {}\n", error.what());
    return static_cast<int>(ExitStatus::kUnexpected);
  }
}
