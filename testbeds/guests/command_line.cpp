// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace softspine::testbeds {
namespace {

// A whole kernel with its root folder in memory; what is enough for user-mode Linux may not be for it.
constexpr unsigned kMinQemuMib = 256;

void append(Command& command, std::initializer_list<std::string> words) {
  command.insert(command.end(), words.begin(), words.end());
}

void append_nic(Command& command, const NicSpec& nic, std::size_t index, bool kvm) {
  append(command, {"-chardev", fmt::format("socket,id=c{},path={}", index, nic.vhost_socket), "-netdev",
                   fmt::format("vhost-user,id=n{0},chardev=c{0}", index), "-device",
                   fmt::format("virtio-net-pci,netdev=n{},mac={}{}", index, nic.mac, kvm ? "" : ",vectors=0")});
}

void append_line(Command& command, int line, bool kvm) {
  append(command, {"-chardev", fmt::format("socket,id=line,fd={}", line), "-device",
                   fmt::format("virtio-serial-pci{}", kvm ? "" : ",vectors=0"), "-device",
                   "virtserialport,chardev=line,name=softspine"});
}

std::string shared_folder(const std::filesystem::path& path, std::string_view tag) {
  return fmt::format("local,path={},mount_tag={},security_model=none", path.string(), tag);
}

bool is_image(const RootLayer& root) {
  return root.kind == LayerKind::kExt4 || root.kind == LayerKind::kSquashfs;
}

// What the guest's init mounts (scripts/softspine-layers): a type, and from where. Of a folder: the type for folders of
// this machine, and what such a mount is given for it.
std::string layer_words(std::string_view name, std::string_view type, std::string_view from) {
  return fmt::format(" {0}_type={1} {0}_from={2}", name, type, from);
}

struct LayerPlaces {
  std::string_view folder_type;
  std::string root;
  std::string files;
  std::string_view device;
};

std::string layers_of(const GuestSpec& spec, const LayerPlaces& from) {
  std::string words;
  switch (spec.root.kind) {
    case LayerKind::kNone: break;
    case LayerKind::kFolder: words += layer_words("root", from.folder_type, from.root); break;
    case LayerKind::kExt4: words += layer_words("root", "ext4", from.device); break;
    case LayerKind::kSquashfs: words += layer_words("root", "squashfs", from.device); break;
  }
  if (!spec.files.empty()) words += layer_words("files", from.folder_type, from.files);
  return words;
}

void append_layers(Command& command, const GuestSpec& spec, const GuestPlaces& places) {
  const auto share = [&command](const std::filesystem::path& path, std::string_view tag) {
    append(command, {"-virtfs", shared_folder(path, tag) + ",readonly=on"});
  };
  if (spec.root.kind == LayerKind::kFolder) share(spec.root.path, "root");
  if (is_image(spec.root)) {
    append(command, {"-drive", fmt::format("file={},format=raw,if=virtio,readonly=on", spec.root.path.string())});
  }
  if (!spec.files.empty()) share(files_tree(places.files), "files");
}

}  // namespace

Command uml_command(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places,
                    std::optional<int> line) {
  Command command{installation.uml_kernel.string(), fmt::format("mem={}M", spec.memory_mib)};
  append(command, {"root=/dev/root", "rootfstype=hostfs", "rootflags=" + installation.root.string(), "ro", "init=/init",
                   "con0=null,fd:1", "con=null", "net.ifnames=0", "uml_dir=" + places.folder.string(), "umid=uml"});
  if (line) append(command, {fmt::format("ssl0=fd:{}", *line), "line=ttyS0"});
  // 1 is the virtio device type of a NIC.
  for (const auto& nic : spec.nics) command.push_back(fmt::format("virtio_uml.device={}:1", nic.vhost_socket));
  append(command, {"guest=" + places.folder.string(), "board=" + places.board.string()});
  if (is_image(spec.root)) command.push_back("ubd0r=" + spec.root.path.string());
  std::istringstream layers(
      layers_of(spec, {"hostfs", spec.root.path.string(), files_tree(places.files).string(), "/dev/ubda"}));
  for (std::string word; layers >> word;) command.push_back(word);
  return command;
}

Command qemu_command(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places,
                     std::optional<int> line) {
  const auto memory = fmt::format("{}M", spec.memory_mib);
  Command command{installation.qemu.string()};
  append(command,
         {"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio", "-smp",
          std::to_string(spec.cpus), "-m", memory, "-object",
          fmt::format("memory-backend-memfd,id=m,size={},share=on", memory), "-machine", "q35,memory-backend=m"});
  if (installation.kvm) {
    append(command, {"-accel", "kvm", "-cpu", "host,-arch-capabilities"});
  } else {
    append(command, {"-accel", "tcg", "-cpu", "max"});
  }
  append(command,
         {"-kernel", installation.qemu_kernel.string(), "-initrd", installation.qemu_initramfs.string(), "-append",
          fmt::format("console=ttyS0 panic=-1 net.ifnames=0 guest=9p{}{}", line ? " line=vport*p1" : "",
                      layers_of(spec, {"9p", "root", "files", "/dev/vda"})),
          "-virtfs", shared_folder(places.folder, "guest"), "-virtfs", shared_folder(places.board, "board")});
  append_layers(command, spec, places);
  if (line) append_line(command, *line, installation.kvm);
  for (std::size_t i = 0; i < spec.nics.size(); ++i) append_nic(command, spec.nics[i], i, installation.kvm);
  return command;
}

Sight sight_of(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places) {
  Sight sight{.read = {}, .write = {places.folder.string(), places.board.string()}};
  for (const NicSpec& nic : spec.nics) sight.write.push_back(nic.vhost_socket);
  if (spec.kind == GuestKind::kUml) {
    sight.read = {installation.uml_kernel.string(), installation.root.string()};
  } else {
    sight.read = {installation.qemu.string(), installation.qemu_kernel.string(), installation.qemu_initramfs.string()};
    if (installation.kvm) sight.write.emplace_back("/dev/kvm");
  }
  if (spec.root.kind != LayerKind::kNone) sight.read.push_back(spec.root.path.string());
  if (!spec.files.empty()) sight.read.push_back(files_tree(places.files).string());
  return sight;
}

GuestSpec as_it_can_run(GuestSpec spec, const Installation& installation) {
  if (spec.kind != GuestKind::kUml || installation.uml_obstacle.empty() || !spec.kernel.empty()) return spec;
  spec.kind = GuestKind::kQemu;
  spec.memory_mib = std::max(spec.memory_mib, kMinQemuMib);
  return spec;
}

std::string machine_of(GuestKind kind, const Installation& installation) {
  if (kind == GuestKind::kUml) return "user-mode Linux";
  return installation.kvm ? "QEMU with KVM" : "QEMU without KVM";
}

Command command_of(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places,
                   std::optional<int> line) {
  return spec.kind == GuestKind::kUml ? uml_command(spec, installation, places, line)
                                      : qemu_command(spec, installation, places, line);
}

}  // namespace softspine::testbeds
