/* The public interface of libleveret, in plain C99: what stands here is kept, nothing else is
 * promised. So far it tells its version; scoring from other languages will be added. */
#ifndef LEVERET_LEVERET_H
#define LEVERET_LEVERET_H

#define LEVERET_VERSION_MAJOR 0
#define LEVERET_VERSION_MINOR 1
#define LEVERET_VERSION_PATCH 0
/* The version of this header. */
#define LEVERET_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define LEVERET_API __attribute__((visibility("default")))
#else
#define LEVERET_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that the program runs with, such as "0.1.0"; lives for ever. Any
 * thread may ask. */
LEVERET_API const char* leveret_version(void);

#ifdef __cplusplus
}
#endif

#endif
