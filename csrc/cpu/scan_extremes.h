/* cummax and cummin of one dtype: S, V, T, LOAD, ISNAN defined by scan.c. No guard on purpose. */
#define NAME PASTE(cummax, T)
#define BEATS GREATER
#include "scan_extreme.h"
#define NAME PASTE(cummin, T)
#define BEATS LESSER
#include "scan_extreme.h"
#undef S
#undef V
#undef T
#undef LOAD
