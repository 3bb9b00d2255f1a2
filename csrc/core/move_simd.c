/* Long copies of bytes by this machine's registers. */
#include "isa.h"
#include "move.h"

#if FC_ISA_NUM == 4
enum { WIDE = 64 };
#elif FC_ISA_NUM == 3
enum { WIDE = 32 };
#else
enum { WIDE = 16 };
#endif

typedef char vector __attribute__((vector_size(WIDE)));

#ifdef FC_ISA
void fc_move_long_v2(void *to, const void *from, size_t bytes);
void fc_move_long_v3(void *to, const void *from, size_t bytes);
void fc_move_long_v4(void *to, const void *from, size_t bytes);
int fc_isa_level(void);

#if FC_ISA_NUM == 2
void fc_move_long(void *to, const void *from, size_t bytes)
{
    const int level = fc_isa_level();
    (level >= 4 ? fc_move_long_v4 : level == 3 ? fc_move_long_v3 : fc_move_long_v2)(to, from, bytes);
}
#endif
#endif

void FC_ISA_NAME(fc_move_long)(void *to, const void *from, size_t bytes)
{
    enum { STEP = 4 * WIDE };
    const size_t head = -(uintptr_t)to % WIDE, whole = (bytes - head) / STEP * STEP;
    char *const z = (char *)to + head;
    const char *const x = (const char *)from + head;
    memcpy(to, from, WIDE);
    for (size_t at = 0; at < whole; at += STEP) {
        vector a, b, c, d;
        memcpy(&a, x + at, WIDE);
        memcpy(&b, x + at + WIDE, WIDE);
        memcpy(&c, x + at + 2 * WIDE, WIDE);
        memcpy(&d, x + at + 3 * WIDE, WIDE);
        *(vector *)(void *)(z + at) = a;
        *(vector *)(void *)(z + at + WIDE) = b;
        *(vector *)(void *)(z + at + 2 * WIDE) = c;
        *(vector *)(void *)(z + at + 3 * WIDE) = d;
        __asm__ volatile("" ::: "memory"); /* else the compiler calls memcpy */
    }
    memcpy(z + whole, x + whole, bytes - head - whole);
}
