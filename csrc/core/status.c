/* This thread's last failure: a code and four details. Text is Python's business. */
#include "facula.h"
#include "atomic.h"
#include "status.h"

#define FC_ABI_VERSION 1

static FC_TLS struct { int code; int64_t detail[4]; } fc_failure_tls;

int fc_fail(fc_code code, int64_t a, int64_t b, int64_t c, int64_t d)
{
    fc_failure_tls.code = code;
    fc_failure_tls.detail[0] = a;
    fc_failure_tls.detail[1] = b;
    fc_failure_tls.detail[2] = c;
    fc_failure_tls.detail[3] = d;
    return code;
}

int fc_status(void) { return fc_failure_tls.code; }
int64_t fc_status_detail(int k) { return k >= 0 && k < 4 ? fc_failure_tls.detail[k] : 0; }
int fc_abi_version(void) { return FC_ABI_VERSION; }
