/* Names of files that are compiled once per ISA level.
 *
 * The build gives such a file -DFC_ISA=v2, v3 or v4 (x86-64-v2/3/4); every symbol it exports is spelled FC_ISA_NAME(symbol), so the
 * copies live side by side and fc_isa_level() chooses among them. Without -DFC_ISA the plain name remains.
 * FC_ISA_NUM is 2, 3 or 4 for #if; FC_HAS_FMA says whether fma() is one instruction (v3 and up), part of the promise. */
#ifndef FC_ISA_H
#define FC_ISA_H

#define FC_ISA_PASTE_(a, b) a##_##b
#define FC_ISA_PASTE(a, b) FC_ISA_PASTE_(a, b)

#ifdef FC_ISA
#define FC_ISA_NAME(symbol) FC_ISA_PASTE(symbol, FC_ISA)
#else
#define FC_ISA_NAME(symbol) symbol
#endif

#ifdef __FMA__
#define FC_HAS_FMA 1
#else
#define FC_HAS_FMA 0
#endif

#if defined(__AVX512F__)
#define FC_ISA_NUM 4
#elif defined(__AVX2__)
#define FC_ISA_NUM 3
#else
#define FC_ISA_NUM 2
#endif

#define FC_NOINLINE __attribute__((noinline, noclone))

#endif
