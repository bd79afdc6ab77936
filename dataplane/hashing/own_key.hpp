// SPDX-License-Identifier: Apache-2.0
// The key of a model of hosts that forward: what its class (LinuxKey, OvsKey) has, for KeyLayout and EcmpHash.
//
//   bytes_of(is_ipv6)                 of the key
//   parts_of(config, is_ipv6)         in the order of HashField, each at its place in the key
//   variant_of(config)                what the next two must know of the configuration
//   has_ports(view, variant)          whether the packet's ports are hashed
//   finish(parts, view, variant, key) completes a key into which the parts have been copied
//   inside_of(config)                 what is hashed in the place of each packet; null: the packet itself
//
// A class is given to its model in its header: `template <> inline constexpr const OwnKey* kOwnKey<HashModel::kLinux>`;
// hash_function.hpp includes all of these headers.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/key_part.hpp"

namespace softspine::dataplane {

struct OwnKey {
  using ViewOf = HeaderView (*)(const HeaderView& view) noexcept;

  uint32_t (*bytes_of)(bool is_ipv6);
  std::vector<KeyPart> (*parts_of)(const HashConfig& config, bool is_ipv6);
  uint8_t (*variant_of)(const HashConfig& config);
  bool (*has_ports)(const HeaderView& view, uint8_t variant) noexcept;
  void (*finish)(const std::vector<KeyPart>& parts, const HeaderView& view, uint8_t variant, uint8_t* key) noexcept;
  ViewOf (*inside_of)(const HashConfig& config);
};

template <typename Key>
inline constexpr OwnKey kKeyOf{Key::bytes_of,  Key::parts_of, Key::variant_of,
                               Key::has_ports, Key::finish,   Key::inside_of};

// A model of chips has none.
template <HashModel M>
inline constexpr const OwnKey* kOwnKey = nullptr;

// The same of any model.
const OwnKey* own_key_of(HashModel model);

}  // namespace softspine::dataplane
