/* Takes back what typed.h defined, and T. */
#undef N
#undef M
#undef K
#undef T
