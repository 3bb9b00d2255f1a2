/* Stamps the elementwise cells of one dtype (-DFC_DT) at one ISA level (-DFC_ISA) from ops.def. */
#include "../core/isa.h"
#include "../core/mathfn.h"
#include "../core/ops_map.h"
#include "map.h"

#define FC_PASTE_(a, b) a##b
#define FC_PASTE(a, b) FC_PASTE_(a, b)

/* --- the element type T, its real type R and its class, by FC_DT ---------------------------------------------- */
#define FC_CLASS_bool 0
#define FC_CLASS_u8 1
#define FC_CLASS_i8 1
#define FC_CLASS_i16 1
#define FC_CLASS_i32 1
#define FC_CLASS_i64 1
#define FC_CLASS_u16 1
#define FC_CLASS_u32 1
#define FC_CLASS_u64 1
#define FC_CLASS_f32 2
#define FC_CLASS_f64 2
#define FC_CLASS_c64 3
#define FC_CLASS_c128 3
#define FC_CLASS FC_PASTE(FC_CLASS_, FC_DT)

#define FC_TYPE_bool uint8_t
#define FC_TYPE_u8 uint8_t
#define FC_TYPE_i8 int8_t
#define FC_TYPE_i16 int16_t
#define FC_TYPE_i32 int32_t
#define FC_TYPE_i64 int64_t
#define FC_TYPE_u16 uint16_t
#define FC_TYPE_u32 uint32_t
#define FC_TYPE_u64 uint64_t
#define FC_TYPE_f32 f32
#define FC_TYPE_f64 f64
#define FC_TYPE_c64 c64
#define FC_TYPE_c128 c128
#define FC_REAL_c64 f32
#define FC_REAL_c128 f64

typedef FC_PASTE(FC_TYPE_, FC_DT) T;
#if FC_CLASS == 3
typedef FC_PASTE(FC_REAL_, FC_DT) R;
#else
typedef T R;
#endif

#if FC_CLASS == 0
#define FN(name) fc_##name##_u8 /* bool computes as u8 and stores != 0 */
#else
#define FN_(name, dt) fc_##name##_##dt
#define FN__(name, dt) FN_(name, dt)
#define FN(name) FN__(name, FC_DT)
#endif

#define K(c) ((T)(c))

#if FC_CLASS == 3
#define FC_SCALAR(s) FN(make)((R)(s).re, (R)(s).im)
#define MUL(a, b) FN(mul)(a, b)
#define FMA(a, b, c) FN(fma)(a, b, c)
#define MINUS(a) FN(make)(-FN(real)(a), 0 - FN(imag)(a)) /* of a real number, a real one */
#define DIV(a, b) FN(div)(a, b)
#elif FC_CLASS == 2
#define FC_SCALAR(s) ((T)(s).re)
#define MUL(a, b) ((a) * (b))
#define FMA(a, b, c) FN(fma)(a, b, c)
#define MINUS(a) (-(a))
#define DIV(a, b) ((a) / (b))
#else
#define FC_SCALAR(s) ((T)(s).i)
#if FC_CLASS == 0
#define MUL(a, b) (((a) != 0) & ((b) != 0)) /* no byte multiplies */
#else
#define MUL(a, b) ((a) * (b))
#endif
#define FMA(a, b, c) ((c) + MUL(a, b))
#define MINUS(a) (-(a))
#define DIV(a, b) ((a) / (b))
#endif

#if FC_CLASS == 0
#define NOT(a) (!(a))
#define STORE_T(v) ((v) != 0)
#define READ(p) ((T)((p) != 0)) /* memory may hold any byte: what is not 0 is true */
#else
#define READ(p) (p)
#define NOT(a) (~(a))
#define STORE_T(v) ((T)(v))
#endif

/* --- math names of bodies -------------------------------------------------------------------------------------- */
#include "map_names.h"

/* --- which rows this dtype has: TYPES by class, RESULT FLOAT only where it computes in floats -------------------- */
#define FC_YES(...) __VA_ARGS__
#define FC_NO(...)

#define TYPES_ALL FC_YES
#define TYPES_STORED FC_YES
#if FC_CLASS == 0
#define TYPES_NUMS FC_NO
#define TYPES_REALS FC_YES
#define TYPES_SPECIAL FC_YES
#define TYPES_REALNUMS FC_NO
#define TYPES_FLOATS FC_NO
#define TYPES_RFLOATS FC_NO
#define TYPES_INTS FC_YES
#define TYPES_INTEGERS FC_NO
#elif FC_CLASS == 1
#define TYPES_NUMS FC_YES
#define TYPES_REALS FC_YES
#define TYPES_SPECIAL FC_YES
#define TYPES_REALNUMS FC_YES
#define TYPES_FLOATS FC_NO
#define TYPES_RFLOATS FC_NO
#define TYPES_INTS FC_YES
#define TYPES_INTEGERS FC_YES
#elif FC_CLASS == 2
#define TYPES_NUMS FC_YES
#define TYPES_REALS FC_YES
#define TYPES_SPECIAL FC_YES
#define TYPES_REALNUMS FC_YES
#define TYPES_FLOATS FC_YES
#define TYPES_RFLOATS FC_YES
#define TYPES_INTS FC_NO
#define TYPES_INTEGERS FC_NO
#else
#define TYPES_NUMS FC_YES
#define TYPES_REALS FC_NO
#define TYPES_SPECIAL FC_NO
#define TYPES_REALNUMS FC_NO
#define TYPES_FLOATS FC_YES
#define TYPES_RFLOATS FC_NO
#define TYPES_INTS FC_NO
#define TYPES_INTEGERS FC_NO
#endif

#define RESULT_SAME FC_YES
#define RESULT_BOOL FC_YES
#define RESULT_REAL FC_YES
#if FC_CLASS >= 2
#define RESULT_FLOAT FC_YES
#else
#define RESULT_FLOAT FC_NO
#endif

#define OUT_SAME T
#define OUT_FLOAT T
#define OUT_REAL R
#define OUT_BOOL uint8_t
#define STORE_SAME(v) STORE_T(v)
#define STORE_FLOAT(v) ((T)(v))
#if FC_CLASS == 3
#define STORE_REAL(v) ((R)(v))
#else
#define STORE_REAL(v) STORE_T(v)
#endif
#define STORE_BOOL(v) ((uint8_t)((v) != 0))

#if FC_ISA_NUM == 4
#define FC_WITHOUT_RARE /* special_double.def: a v4 machine takes v3's, of the same bits */
#endif
#define FC_SINGLE_f32 1
#if FC_PASTE(FC_SINGLE_, FC_DT)
#define FC_WITHOUT_DOUBLE
#endif

#define S0
#define S1(a) const T a = FC_SCALAR(s[0]);
#define S2(a, b) const T a = FC_SCALAR(s[0]); const T b = FC_SCALAR(s[1]);
#define S3(a, b, c) S2(a, b) const T c = FC_SCALAR(s[2]);

/* ivdep: out may be an operand itself, never a shifted one (the core checks), so no iteration depends on another. */
#define FC_CELL(symbol, scalars, out_t, store, reads, body)                                                              \
    static void symbol(void *out_, const void *x_, const void *y_, const void *z_, const fc_scalar *s, int *fault_, int64_t n) \
    {                                                                                                                    \
        out_t *out = out_;                                                                                               \
        const T *xs = x_, *ys = y_, *zs = z_;                                                                            \
        int fault_now = 0, *const fault = &fault_now;                                                                    \
        (void)ys, (void)zs, (void)s, (void)fault;                                                                        \
        scalars                                                                                                          \
        _Pragma("GCC ivdep")                                                                                             \
        for (int64_t i = 0; i < n; ++i) {                                                                                \
            reads                                                                                                        \
            out[i] = store(body);                                                                                        \
        }                                                                                                                \
        *fault_ |= fault_now;                                                                                            \
    }

#define READ1 const T x = READ(xs[i]);
#define READ2 const T x = READ(xs[i]), y = READ(ys[i]);
#define READ3 const T x = READ(xs[i]), y = READ(ys[i]), z = READ(zs[i]);

#define FC_MAP1(name, sig, sc, types, result, body, doc) TYPES_##types(RESULT_##result(FC_CELL(cell_##name, sc, OUT_##result, STORE_##result, READ1, body)))
#define FC_MAP2(name, sig, sc, types, result, body, doc) TYPES_##types(RESULT_##result(FC_CELL(cell_##name, sc, OUT_##result, STORE_##result, READ2, body)))
#define FC_MAP3(name, sig, sc, types, result, body, doc) TYPES_##types(RESULT_##result(FC_CELL(cell_##name, sc, OUT_##result, STORE_##result, READ3, body)))
#include "../core/ops_skip.h"
#include "../ops.def"
#include "../core/ops_done.h"

#include "map_easy.h"

extern const fc_map_cell FC_ISA_NAME(FC_PASTE(fc_map_cells_, FC_DT))[FC_NCELLS];
const fc_map_cell FC_ISA_NAME(FC_PASTE(fc_map_cells_, FC_DT))[FC_NCELLS] = {
#define FC_MAP1(name, sig, sc, types, result, body, doc) TYPES_##types(RESULT_##result([FC_CELL_##name] = cell_##name,))
#define FC_MAP2(name, sig, sc, types, result, body, doc) TYPES_##types(RESULT_##result([FC_CELL_##name] = cell_##name,))
#define FC_MAP3(name, sig, sc, types, result, body, doc) TYPES_##types(RESULT_##result([FC_CELL_##name] = cell_##name,))
#include "../core/ops_skip.h"
#include "../ops.def"
#include "../core/ops_done.h"
    FC_EASY_CELLS
};

/* The same truth values, written as numbers into an output of the operands' dtype: x.gt_(y) */
#if FC_CLASS == 2
#define AS_NUMBER_SAME FC_NO
#define AS_NUMBER_FLOAT FC_NO
#define AS_NUMBER_REAL FC_NO
#define AS_NUMBER_BOOL FC_YES
#define STORE_NUMBER(v) ((T)((v) != 0))
#define FC_MAP1(name, sig, sc, types, result, body, doc) TYPES_##types(AS_NUMBER_##result(FC_CELL(number_##name, sc, T, STORE_NUMBER, READ1, body)))
#define FC_MAP2(name, sig, sc, types, result, body, doc) TYPES_##types(AS_NUMBER_##result(FC_CELL(number_##name, sc, T, STORE_NUMBER, READ2, body)))
#include "../core/ops_skip.h"
#include "../ops.def"
#include "../core/ops_done.h"

extern const fc_map_cell FC_ISA_NAME(FC_PASTE(fc_map_numbers_, FC_DT))[FC_NCELLS];
const fc_map_cell FC_ISA_NAME(FC_PASTE(fc_map_numbers_, FC_DT))[FC_NCELLS] = {
#define FC_MAP1(name, sig, sc, types, result, body, doc) TYPES_##types(AS_NUMBER_##result([FC_CELL_##name] = number_##name,))
#define FC_MAP2(name, sig, sc, types, result, body, doc) TYPES_##types(AS_NUMBER_##result([FC_CELL_##name] = number_##name,))
#include "../core/ops_skip.h"
#include "../ops.def"
#include "../core/ops_done.h"
};
#endif
