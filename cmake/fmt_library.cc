// Debian has fmt as a shared library and as headers, which would compile all of it into each file that
// uses it. A static program gets it from here, compiled once. What fmt/format.h declares as
// `extern template` is made below.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
#if FMT_VERSION >= 100000
template void vformat_to(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
