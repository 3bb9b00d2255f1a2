#include "denormal.h"

#include "../include/facula.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#define FLUSH 0x8040u /* results and operands */
int fc_flushes(void) { return (_mm_getcsr() & FLUSH) == FLUSH; }
unsigned fc_flush(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH);
    return before;
}
void fc_unflush(unsigned before) { _mm_setcsr(before); }
int fc_set_flush_denormal(int on)
{
    _mm_setcsr(on ? _mm_getcsr() | FLUSH : _mm_getcsr() & ~FLUSH);
    return 1;
}
#else
int fc_flushes(void) { return 0; }
unsigned fc_flush(void) { return 0; }
void fc_unflush(unsigned before) { (void)before; }
int fc_set_flush_denormal(int on) { return !on; }
#endif
