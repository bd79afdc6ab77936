// SPDX-License-Identifier: Apache-2.0
#include "control/load/guest_images.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <string_view>

namespace softspine::control {
namespace {

constexpr size_t kMaxSections = 4096;
constexpr size_t kMaxNameBytes = 1 << 20;

// What lies in the file at `offset`; empty: it ends before.
std::string bytes_at(std::ifstream& file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  return file.gcount() == static_cast<std::streamsize>(size) ? bytes : "";
}

template <typename T>
bool read_at(std::ifstream& file, uint64_t offset, T& out) {
  const std::string bytes = bytes_at(file, offset, sizeof(T));
  if (bytes.empty()) return false;
  std::memcpy(&out, bytes.data(), sizeof(T));
  return true;
}

bool is_elf_for_us(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64 &&
         header.e_shentsize == sizeof(Elf64_Shdr);
}

bool has_section(std::ifstream& file, const Elf64_Ehdr& header, std::string_view wanted) {
  const auto section_at = [&](size_t index, Elf64_Shdr& out) {
    return header.e_shoff < uint64_t{1} << 40 && read_at(file, header.e_shoff + index * sizeof(Elf64_Shdr), out);
  };
  Elf64_Shdr names{};
  if (header.e_shnum > kMaxSections || header.e_shstrndx >= header.e_shnum || !section_at(header.e_shstrndx, names))
    return false;
  if (names.sh_size > kMaxNameBytes || names.sh_offset >= uint64_t{1} << 40) return false;
  const std::string text = bytes_at(file, names.sh_offset, names.sh_size);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!section_at(i, section)) return false;
    if (section.sh_name < text.size() && std::string_view(text.c_str() + section.sh_name) == wanted) return true;
  }
  return false;
}

std::string obstacle_to_uml(std::ifstream& file) {
  Elf64_Ehdr header{};
  const bool is_uml = read_at(file, 0, header) && is_elf_for_us(header) && has_section(file, header, ".uml.setup.init");
  return is_uml ? "" : "is no user-mode Linux: a program of a kernel that was built with ARCH=um for x86-64";
}

std::string obstacle_to_qemu(std::ifstream& file) {
  constexpr uint16_t kWithXloadflags = 0x020c;
  uint16_t protocol = 0;
  uint16_t flags = 0;
  const bool is_x86 = bytes_at(file, 0x202, 4) == "HdrS" && read_at(file, 0x206, protocol);
  const bool has_64_bits = is_x86 && protocol >= kWithXloadflags && read_at(file, 0x236, flags) && (flags & 1) != 0;
  return has_64_bits ? "" : "is no bzImage for x86-64, as QEMU boots it (arch/x86/boot/bzImage, or a vmlinuz)";
}

}  // namespace

std::expected<GuestRoot, std::string> image_kind_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (bytes_at(file, 0, 4) == "hsqs") return GuestRoot::kSquashfs;
  if (bytes_at(file, 1080, 2) == "\x53\xef") return GuestRoot::kExt4;
  return std::unexpected("is neither a folder nor an ext4 or squashfs image");
}

std::string obstacle_to_kernel(const std::string& path, GuestKind kind) {
  std::ifstream file(path, std::ios::binary);
  return kind == GuestKind::kUml ? obstacle_to_uml(file) : obstacle_to_qemu(file);
}

}  // namespace softspine::control
