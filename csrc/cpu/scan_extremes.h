/* cummax and cummin of one dtype: S, V, T, LOAD, ISNAN and what a line is compared by, INTEGER, SIGN, K, KEYED, KEY, are defined by scan.c. No guard on purpose. */
#define NAME PASTE(cummax, T)
#define BEATS GREATER
#define CHOOSE PASTE(at_least, SIGN)
#define LAST INT64_MAX
#include "scan_extreme.h"
#define NAME PASTE(cummin, T)
#define BEATS LESSER
#define CHOOSE PASTE(at_most, SIGN)
#define LAST INT64_MIN
#include "scan_extreme.h"
#undef S
#undef V
#undef T
#undef LOAD
