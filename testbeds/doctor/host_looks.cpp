// SPDX-License-Identifier: Apache-2.0
// Looks at the needs of namespaces, verbs hosts and guests.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "testbeds/doctor/looks.hpp"
#include "testbeds/process/keeper_program.hpp"
#include "testbeds/verbs_device/verbs_libraries_here.hpp"

namespace softspine::testbeds {

namespace {

constexpr UseSet kGuests = uses(Use::kUml, Use::kQemu);

void look_at_namespaces(const Examination& it, Findings& out) {
  Finding finding{.what = "namespaces", .fact = "one can be made", .mend = {}};
  if (const std::string obstacle = it.machine.calls().why_no_namespace(); !obstacle.empty()) {
    finding.state = State::kMissing;
    finding.fact = obstacle;
    finding.mend = "sudo, or unshare -r " + run_command(it.asked);
  }
  out.push_back(finding);
}

// Programs that namespaces/enter and its sourced scripts call.
void look_at_programs(const Examination& it, Findings& out) {
  std::vector<std::string> missing;
  for (const char* program : {"bash", "ip", "unshare", "mount", "setsid", "hostname", "mkfifo", "realpath"}) {
    if (!it.machine.calls().has_program(program)) missing.emplace_back(program);
  }
  if (missing.empty())
    return out.push_back({"programs", State::kOk, "ip, unshare and what else sets up a namespace", ""});
  out.push_back({"programs", State::kMissing, fmt::format("not in PATH: {}", fmt::join(missing, ", ")),
                 "as root: apt-get install bash iproute2 util-linux mount hostname coreutils"});
}

void look_at_keeper(const Examination& it, Findings& out) {
  const std::string program = keeper_program().string();
  if (it.machine.calls().has_program(program)) return out.push_back({"softspine-keeper", State::kOk, program, ""});
  out.push_back({"softspine-keeper", State::kMissing, program + " cannot be started",
                 "build it, or name it in SOFTSPINE_KEEPER"});
}

// A program's dynamic linker would go on to the machine's own library, and find no device of ours.
void look_at_verbs_library(const Examination& it, Findings& out) {
  for (const auto& file : {verbs_library_folder() / "libibverbs.so.1", names_library()}) {
    if (it.machine.has(file.relative_path())) continue;
    return out.push_back(
        {"verbs library", State::kMissing, file.string() + " is not there", "install softspine again"});
  }
  out.push_back({"verbs library", State::kOk, verbs_library_folder().string(), ""});
}

// The device copies payload from and to the programs that use it.
void look_at_foreign_memory(const Examination& it, Findings& out) {
  Finding finding{.what = "programs' memory", .fact = "can be read and written by those they name", .mend = {}};
  if (const std::string obstacle = it.machine.calls().why_no_foreign_memory(); !obstacle.empty()) {
    const std::string scope = it.machine.line_in("proc/sys/kernel/yama/ptrace_scope").value_or("");
    finding.state = State::kMissing;
    finding.fact = "process_vm_readv: " + obstacle;
    finding.mend = "a container that is started with --cap-add SYS_PTRACE";
    if (scope == "2" || scope == "3") {
      finding.fact += fmt::format(", by kernel.yama.ptrace_scope {}", scope);
      finding.mend =
          scope == "2" ? "as root: sysctl kernel.yama.ptrace_scope=1" : "boot without kernel.yama.ptrace_scope=3";
    }
  }
  out.push_back(finding);
}

void look_at_module(const Examination& it, Findings& out, const char* module, const char* trace) {
  if (it.machine.has_module(module) || it.machine.has(trace))
    return out.push_back({module, State::kOk, "the kernel has it", ""});
  out.push_back({module, State::kMissing, "the kernel has no such module",
                 "boot a kernel that has it, such as Debian's: as root: apt-get install linux-image-amd64"});
}

void look_at_bonding(const Examination& it, Findings& out) {
  look_at_module(it, out, "bonding", "sys/class/net/bonding_masters");
}

void look_at_vlans(const Examination& it, Findings& out) {
  look_at_module(it, out, "8021q", "proc/net/vlan");
}

// A part that is made on first use.
Finding part_found(const std::string& what, const PartHere& part, const std::string& unmade, const std::string& maker,
                   const char* package_group) {
  if (!part) return {what, State::kMissing, part.error(), install_command(package_group)};
  if (part->empty()) return {what, State::kShort, unmade, maker};
  return {what, State::kOk, *part, ""};
}

void look_at_uml(const Examination& it, Findings& out) {
  if (!it.guests.obstacle.empty())
    return out.push_back(
        {"user-mode Linux", State::kShort, "cannot run here: " + it.guests.obstacle + "; QEMU takes its place", ""});
  out.push_back(part_found("user-mode Linux", it.guests.kernel,
                           "its kernel is not built yet: the first run does, in minutes", uml_kernel_script().string(),
                           "guests"));
}

void look_at_root(const Examination& it, Findings& out) {
  Finding finding =
      part_found("guests' root folder", it.guests.root, "is made by the first run, in seconds", "", "guests");
  if (finding.state == State::kShort) finding.state = State::kOk;
  out.push_back(finding);
}

void look_at_qemu(const Examination& it, Findings& out) {
  Finding finding = part_found("QEMU", it.machine.calls().qemu(),
                               "is there; the first run packs what it boots, in seconds", "", "qemu");
  if (finding.state == State::kShort) finding.state = State::kOk;
  out.push_back(finding);
}

void look_at_kvm(const Examination& it, Findings& out) {
  const std::string obstacle = it.machine.why_not_open("dev/kvm");
  if (obstacle.empty()) return out.push_back({"KVM", State::kOk, "/dev/kvm can be opened", ""});
  out.push_back({"KVM", State::kShort, "/dev/kvm: " + obstacle + ": QEMU has a tenth of the speed or less",
                 it.machine.has("dev/kvm") ? "as root: usermod -aG kvm USER"
                                           : "as root: modprobe kvm_intel || modprobe kvm_amd"});
}

constexpr Look kHostLooks[] = {
    {"namespaces", uses(Use::kNamespace), look_at_namespaces},
    {"programs", uses(Use::kNamespace), look_at_programs},
    {"bonding", uses(Use::kNamespace), look_at_bonding, [](const Asked& it) { return it.bonds; }},
    {"8021q", uses(Use::kNamespace), look_at_vlans, [](const Asked& it) { return it.vlans; }},
    {"softspine-keeper", kGuests | uses(Use::kNamespace, Use::kVerbs), look_at_keeper},
    {"verbs library", uses(Use::kVerbs), look_at_verbs_library},
    {"programs' memory", uses(Use::kVerbs), look_at_foreign_memory},
    {"user-mode Linux", uses(Use::kUml), look_at_uml},
    {"guests' root folder", kGuests, look_at_root},
    {"QEMU", uses(Use::kQemu), look_at_qemu},
    {"KVM", uses(Use::kQemu), look_at_kvm},
};

}  // namespace

std::span<const Look> host_looks() {
  return kHostLooks;
}

}  // namespace softspine::testbeds
