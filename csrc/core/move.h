/*
 * memcpy of any length, where the C library would use `rep movsb` by vectors.
 *
 * glibc does so from a few KB on, and AMD's EPYC then writes to an address that is no multiple of 16 at a fifteenth of its speed:
 * 400 KB take 115 us instead of 8, and in one process of four, as its pages lie, 15.
 */
#ifndef FC_MOVE_H
#define FC_MOVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FC_MOVED_LONG 2048 /* bytes that repay asking for the machine's registers */

void fc_move_long(void *to, const void *from, size_t bytes);

static inline void fc_move_bytes(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    if (bytes >= FC_MOVED_LONG) {
        fc_move_long(to, from, bytes);
        return;
    }
#endif
    memcpy(to, from, bytes);
}

/*
 * What no cache holds until it is read again is better written past them: an ordinary store first reads the line that it is about to
 * overwrite. 4 * 10^7 bytes from memory, one thread of an EPYC 9004: -x 33 to 49 GB/s, x + y 27 to 38, memcpy (which glibc makes of
 * `rep movsb` there) 31 to 45. A third cache of 32 MB still keeps results of 20 MB: relu of 10^7 halves takes half as long without.
 *
 * fc_move_past writes so; after the last of several, before anybody else looks, fc_moved_past.
 */
#define FC_PAST_CACHES (21 << 20) /* bytes of a result, beside which its operands take as much again */

static inline void fc_move_past(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    const size_t head = -(uintptr_t)to % 16 < bytes ? -(uintptr_t)to % 16 : bytes, whole = (bytes - head) / 16 * 16;
    char *const z = (char *)to + head;
    const char *const x = (const char *)from + head;
    memcpy(to, from, head);
    for (size_t at = 0; at < whole; at += 16)
        _mm_stream_si128((__m128i *)(void *)(z + at), _mm_loadu_si128((const __m128i *)(const void *)(x + at)));
    memcpy(z + whole, x + whole, bytes - head - whole);
#else
    memcpy(to, from, bytes);
#endif
}

static inline void fc_moved_past(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
