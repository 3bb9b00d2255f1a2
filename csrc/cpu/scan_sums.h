/* The accumulating scans of one dtype: S, A, LOAD, STORE, T defined by scan.c; the result is stored as S, of integers as int64. No guard on purpose. */
#ifdef INTEGERS
#define O int64_t
#else
#define O S
#endif
#define NAME PASTE(cumsum, T)
#define INIT 0
#define OP ADD
#include "scan_sum.h"
#define NAME PASTE(cumprod, T)
#define INIT 1
#define OP TIMES
#include "scan_sum.h"
#ifdef FLOATS
#define NAME PASTE(logcumsumexp, T)
#define INIT -INFINITY
#define OP (A)log_add_f64
#include "scan_sum.h"
#endif
#undef S
#undef O
#undef A
#undef LOAD
#undef STORE
#undef T
