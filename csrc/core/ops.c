/* The op table as data, and the named scalars of a call. */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "facula.h"
#include "atomic.h"
#include "ops.h"

#define FC_MASK_ALL 0x7fff
#define FC_MASK_STORED (FC_MASK_ALL | ((1u << FC_NDTYPES) - (1u << FC_F8E4M3FN)))
#define FC_MASK_COMPLEX (1 << FC_C64 | 1 << FC_C128)
#define FC_MASK_RFLOATS (1 << FC_F16 | 1 << FC_BF16 | 1 << FC_F32 | 1 << FC_F64)
#define FC_MASK_NUMS (FC_MASK_ALL & ~1)
#define FC_MASK_REALS (FC_MASK_ALL & ~FC_MASK_COMPLEX)
#define FC_MASK_SPECIAL (FC_MASK_REALS & ~(1 << FC_F16 | 1 << FC_BF16))
#define FC_MASK_REALNUMS (FC_MASK_REALS & ~1)
#define FC_MASK_FLOATS (FC_MASK_RFLOATS | FC_MASK_COMPLEX)
#define FC_MASK_INTS (FC_MASK_REALS & ~FC_MASK_RFLOATS)
#define FC_MASK_INTEGERS (FC_MASK_INTS & ~1)

#define FC_MASK_LAPACK (1 << FC_F32 | 1 << FC_F64 | FC_MASK_COMPLEX)

#define S0 0
#define S1(a) 1
#define S2(a, b) 2
#define S3(a, b, c) 3

#define FC_ROW(name, kind, row, sig, types, result, body, doc) \
    { #name, kind, sig, #types, #result, body, doc, row, FC_RESULT_##result, FC_MASK_##types },

const fc_op_row fc_ops[FC_NOPS] = {
#define FC_MAP1(name, sig, s, types, result, body, doc) FC_ROW(name, "map1", FC_ROW_MAP1, sig, types, result, #body, doc)
#define FC_MAP2(name, sig, s, types, result, body, doc) FC_ROW(name, "map2", FC_ROW_MAP2, sig, types, result, #body, doc)
#define FC_MAP3(name, sig, s, types, result, body, doc) FC_ROW(name, "map3", FC_ROW_MAP3, sig, types, result, #body, doc)
#define FC_FOLD(name, sig, types, result, doc) FC_ROW(name, "fold", FC_ROW_FOLD, sig, types, result, "", doc)
#define FC_SCAN(name, sig, types, result, doc) FC_ROW(name, "scan", FC_ROW_SCAN, sig, types, result, "", doc)
#define FC_DOT(name, sig, types, doc) FC_ROW(name, "dot", FC_ROW_DOT, sig, types, SAME, "", doc)
#define FC_GATHER(name, sig, types, doc) FC_ROW(name, "gather", FC_ROW_GATHER, sig, types, SAME, "", doc)
#define FC_VIEW(name, sig, doc) FC_ROW(name, "view", FC_ROW_VIEW, sig, ALL, SAME, "", doc)
#define FC_OWN(name, sig, types, result, doc) FC_ROW(name, "own", FC_ROW_OWN, sig, types, result, "", doc)
#define FC_RANDOM(name, kind, sig, types, doc) FC_ROW(name, "random", FC_ROW_RANDOM, sig, types, SAME, "", doc)
#define FC_PLACE(name, sig, types, doc) FC_ROW(name, "place", FC_ROW_PLACE, sig, types, SAME, "", doc)
#define FC_HOST(name, sig, types, result, doc) FC_ROW(name, "host", FC_ROW_HOST, sig, types, result, "", doc)
#define FC_TO(name, sig, doc) FC_ROW(name, "to", FC_ROW_TO, sig, ALL, SAME, "", doc)
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
};

enum {
    WHOLE_X = FC_TRAIT_WHOLE_X, WHOLE_Y = FC_TRAIT_WHOLE_Y, WHOLE_Z = FC_TRAIT_WHOLE_Z, LIGHT = FC_TRAIT_LIGHT, ROUNDED = FC_TRAIT_ROUNDED,
    INT64 = FC_TRAIT_INT64, STRICT = FC_TRAIT_STRICT, CHOOSES = FC_TRAIT_CHOOSES, AS_IT_LIES = FC_TRAIT_AS_IT_LIES, PLAIN = FC_TRAIT_PLAIN, LIKE_X = FC_TRAIT_LIKE_X, X_DECIDES = FC_TRAIT_X_DECIDES,
    OVER = FC_TRAIT_OVER, NUMBER_APART = FC_TRAIT_NUMBER_APART, PLAIN_OF_NUMBER = FC_TRAIT_PLAIN_OF_NUMBER, TURNED = FC_TRAIT_TURNED
};

const uint16_t fc_op_traits[FC_NOPS] = {
#define FC_TRAITS(name, traits) [FC_OP_##name] = traits,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
};

static const char *const fc_traits_text[FC_NOPS] = {
#define FC_TRAITS(name, traits) [FC_OP_##name] = #traits,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
};

static const char *const fc_aliases[] = {
#define FC_ALIAS(alias, name) #alias "=" #name,
#include "ops_skip.h"
#include "../ops.def"
#include "ops_done.h"
    NULL
};

int fc_op_count(void) { return FC_NOPS; }

/* columns: 0 name 1 kind 2 signature 3 types 4 result 5 body 6 doc; column 7: the alias "new=old" number `op`, or NULL; column 8: the words of its traits, or NULL */
const char *fc_op_text(int op, int column)
{
    if (column == 7)
        return op >= 0 && op < (int)(sizeof fc_aliases / sizeof *fc_aliases) ? fc_aliases[op] : NULL;
    if (op < 0 || op >= FC_NOPS)
        return NULL;
    const fc_op_row *r = &fc_ops[op];
    const char *const text[] = { r->name, r->kind, r->signature, r->types, r->result, r->body, r->doc, NULL, fc_traits_text[op] };
    return column >= 0 && column < (int)(sizeof text / sizeof *text) ? text[column] : NULL;
}

/* Both fields are set whatever the kind, so that a cell reads the one of its own type without asking. */
fc_scalar fc_scalar_of(int kind, int64_t i, double re, double im)
{
    fc_scalar s = { kind, i, re, im };
    if (kind <= FC_KINT) {
        s.re = i < 0 && re > 0 ? re : (double)i; /* from 2**63 on i has wrapped, and re is the number */
        s.im = 0;
    } else {
        s.i = re >= 9223372036854775808.0 || re < -9223372036854775808.0 || re != re ? INT64_MIN : (int64_t)re;
    }
    return s;
}

enum { FC_MAX_SCALARS = 4 };

static fc_scalar fc_defaults[FC_NOPS][FC_MAX_SCALARS];
static pthread_once_t fc_defaults_once = PTHREAD_ONCE_INIT;

/* The default of a Scalar stands in the signature and nowhere else. */
static void fc_read_defaults(void)
{
    for (int op = 0; op < FC_NOPS; ++op) {
        const char *p = fc_ops[op].signature;
        int k = 0;
        while ((p = strstr(p, "Scalar")) != NULL && k < FC_MAX_SCALARS) {
            p += strlen("Scalar");
            if (*p == '|')
                continue; /* Scalar|Tensor is an operand */
            const char *end = strchr(p, ','), *eq = strchr(p, '=');
            const int given = eq && (!end || eq < end) && strncmp(eq, "=None", 5) != 0;
            const double v = given ? strtod(eq + 1, NULL) : 0;
            const int whole = given && strcspn(eq, ".en") >= (size_t)(end ? end - eq : (ptrdiff_t)strlen(eq));
            fc_defaults[op][k++] = fc_scalar_of(whole ? FC_KINT : FC_KFLOAT, (int64_t)(fabs(v) < 1e18 ? v : 0), v, 0);
        }
    }
}

static FC_TLS struct { unsigned mask, taken; fc_scalar s[FC_MAX_SCALARS]; } fc_pending_tls;

void fc_attr(int k, int kind, int64_t i, double re, double im)
{
    if (k < 0 || k >= FC_MAX_SCALARS)
        return;
    fc_pending_tls.s[k] = fc_scalar_of(kind, i, re, im);
    fc_pending_tls.mask |= 1u << k;
}

int fc_attr_taken(void) { return (int)fc_pending_tls.taken; }
void fc_attr_again(int taken) { fc_pending_tls.mask = (unsigned)taken; }

static FC_TLS fc_scalar fc_current_tls[FC_MAX_SCALARS];

const fc_scalar *fc_op_scalars(int op)
{
    pthread_once(&fc_defaults_once, fc_read_defaults);
    fc_pending_tls.taken = fc_pending_tls.mask;
    if (!fc_pending_tls.mask)
        return fc_defaults[op];
    for (int k = 0; k < FC_MAX_SCALARS; ++k)
        fc_current_tls[k] = fc_pending_tls.mask >> k & 1 ? fc_pending_tls.s[k] : fc_defaults[op][k];
    fc_pending_tls.mask = 0;
    return fc_current_tls;
}
