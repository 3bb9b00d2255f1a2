/* Small lines in order: runs of INSERTED, then merged. No guard on purpose: the includer defines M_NAME, the type M_T, and M_KEY(v),
 * which may be the same in two values: then the first comes first. They are undefined at the end. */
#define M_PASTE_(a, b) a##_##b
#define M_PASTE(a, b) M_PASTE_(a, b)
#define M(part) M_PASTE(part, M_NAME)

static void M(insert)(M_T *a, int64_t n)
{
    for (int64_t i = 1; i < n; ++i) {
        const M_T v = a[i];
        int64_t j = i;
        for (; j > 0 && M_KEY(a[j - 1]) > M_KEY(v); --j)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

/* In a or in room, whichever is the answer. */
static M_T *M(merge)(M_T *a, M_T *room, int64_t n)
{
    for (int64_t k = 0; k < n; k += INSERTED)
        M(insert)(a + k, n - k < INSERTED ? n - k : INSERTED);
    for (int64_t width = INSERTED; width < n; width *= 2) {
        for (int64_t lo = 0; lo < n; lo += 2 * width) {
            const int64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            for (int64_t i = lo, j = mid, k = lo; k < hi; ++k) {
                const int first = i < mid && (j >= hi || M_KEY(a[i]) <= M_KEY(a[j]));
                room[k] = a[first ? i : j];
                i += first;
                j += !first;
            }
        }
        M_T *const other = a;
        a = room;
        room = other;
    }
    return a;
}

#undef M
#undef M_PASTE
#undef M_PASTE_
#undef M_NAME
#undef M_T
#undef M_KEY
