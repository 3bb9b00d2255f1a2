/* FC_ASAN, FC_TSAN: 1 in a build under that sanitizer. gcc defines a macro of its own for each, clang answers a question. */
#ifndef FC_SANITIZED_H
#define FC_SANITIZED_H

#if defined(__has_feature)
#define FC_HAS_FEATURE(x) __has_feature(x)
#else
#define FC_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || FC_HAS_FEATURE(address_sanitizer)
#define FC_ASAN 1
#else
#define FC_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || FC_HAS_FEATURE(thread_sanitizer)
#define FC_TSAN 1
#else
#define FC_TSAN 0
#endif

/* Bytes inside of a block that nobody may touch, and that somebody may again. */
#if FC_ASAN
#include <sanitizer/asan_interface.h>
#define FC_CLOSE(start, bytes) __asan_poison_memory_region(start, bytes)
#define FC_OPEN(start, bytes) __asan_unpoison_memory_region(start, bytes)
#else
#define FC_CLOSE(start, bytes) ((void)0)
#define FC_OPEN(start, bytes) ((void)0)
#endif

#endif
