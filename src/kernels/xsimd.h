/// xsimd as the kernels know it, whichever version is installed: 8.1 on Debian 12, 13 on Debian 13.
#pragma once

#include <xsimd/xsimd.hpp>

namespace leveret::kernels::generic {

/// The bits of a register as a register of type To, of the same size. Version 8.1 asks for the
/// type of the register, later ones for that of its lanes.
template <class To, class From>
inline To bits_cast(const From& v) {
#if XSIMD_VERSION_MAJOR > 8
  return xsimd::bitwise_cast<typename To::value_type>(v);
#else
  return xsimd::bitwise_cast<To>(v);
#endif
}

}  // namespace leveret::kernels::generic
