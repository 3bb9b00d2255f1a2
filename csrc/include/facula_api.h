/* Facula's C API. Read verbatim by the C compiler and by cffi: declarations only, no preprocessor lines.
 *
 * Every function that returns fc_tensor * gives a new reference, or NULL with fc_status() saying why.
 * No function prints, exits or calls back. All are reentrant; "pending" state is per thread. */

typedef struct fc_tensor fc_tensor;
typedef struct fc_generator fc_generator;

/* status of this thread's last failing call; the four details mean what the code says (see facula_numbers.h) */
int fc_status(void);
int64_t fc_status_detail(int k);
int fc_abi_version(void);

/* the op table, carried as data */
int fc_op_count(void);
const char *fc_op_text(int op, int column);

/* life of a tensor */
fc_tensor *fc_empty(int dtype, int device, int ndim, const int64_t *shape);
fc_tensor *fc_empty_strided(int dtype, int device, int ndim, const int64_t *shape, const int64_t *stride);
fc_tensor *fc_empty_like(fc_tensor *x, int dtype, int memory_format);
fc_tensor *fc_from_memory(void *data, int64_t nbytes, int64_t owner, int writable, int dtype, int ndim,
                          const int64_t *shape, const int64_t *stride, int64_t offset);
fc_tensor *fc_from_scalar(int dtype, int kind, int64_t i, double re, double im);
fc_tensor *fc_alias(fc_tensor *x, int new_version);
void fc_retain(fc_tensor *x);
int64_t fc_free(fc_tensor *x);
fc_tensor *fc_with_data(fc_tensor *x, fc_tensor *source); /* what x becomes by x.data = source */

/* descriptor */
int fc_ndim(fc_tensor *x);
int fc_dtype(fc_tensor *x);
int fc_device(fc_tensor *x);
int fc_shape_id(fc_tensor *x);
int64_t fc_numel(fc_tensor *x);
int64_t fc_size(fc_tensor *x, int dim);
int64_t fc_stride(fc_tensor *x, int dim);
int64_t fc_offset(fc_tensor *x);
int fc_is_contiguous(fc_tensor *x, int memory_format);
int fc_suggested_format(fc_tensor *x); /* 2 of four dims, 3 of five, 4 of three, where the strides speak for channels last as PyTorch reads them; else 0 */
int fc_lies_oddly(fc_tensor *x); /* are its strides other than a new tensor's? */
int fc_lie_as(fc_tensor *t, fc_tensor *like); /* a new tensor's dims of size 1 get like's strides, where those of its other dims are like's already: are they? */
int fc_matrix_lies(fc_tensor *x); /* of a matrix: 1 where its strides are (1, rows), plus 2 where they are (columns, 1); else 0 */
int fc_same_storage(fc_tensor *x, fc_tensor *y);
void *fc_data(fc_tensor *x);
void *fc_storage_data(fc_tensor *x);
int64_t fc_storage_bytes(fc_tensor *x);
int64_t fc_storage_id(fc_tensor *x);
int fc_storage_resize(fc_tensor *x, int64_t nbytes);
int fc_storage_writable(fc_tensor *x);
int64_t fc_storage_owner(fc_tensor *x);
int fc_storage_resizable(fc_tensor *x);
void fc_lend(fc_tensor *x);
int fc_storage_adopt(fc_tensor *x, void *data, int64_t owner);

/* shapes are interned: one small integer per distinct shape */
int fc_shape_ndim(int shape_id);
int64_t fc_shape_dim(int shape_id, int dim);

/* Inference tensors: memory allocated while its thread is in inference mode. It is written to in that mode alone. */
int fc_inference_mode(void);
int fc_set_inference(int on);
int fc_inference(fc_tensor *x);
int fc_may_write(fc_tensor *x);

/* Is x one of several views that one op made (split, unbind), or a view of one? */
void fc_mark_piece(fc_tensor *x);
int fc_piece(fc_tensor *x);

/* version counter, shared by views; epoch says which in-place history a handle has seen (stale origins) */
int64_t fc_version(fc_tensor *x);
int fc_pair(fc_tensor *x, fc_tensor *y); /* 1: of other shapes or dtypes, 2: one was written in place before; or'ed */
void fc_bump(fc_tensor *x);
void fc_fresh(fc_tensor *x); /* the writes so far made it: none counts */
void fc_epoch_advance(fc_tensor *x); /* of all handles only x has seen what was written just now */
void fc_epoch_refresh(fc_tensor *x);
void fc_epoch_ignore(fc_tensor *x); /* x is no view: its history stays right whatever is written to its memory */
int fc_epoch_stale(fc_tensor *x);

/* Conjugate and negative views: the memory is the base's, the elements are seen changed. Views, fc_to, fc_copy and fc_fill know them;
 * every other function fails with FC_LAZY, and is called again with a copy in which it is done. */
int fc_lazy(fc_tensor *x); /* 1: conjugated, 2: negated; or'ed */
fc_tensor *fc_resolve(fc_tensor *x);
int fc_attr_taken(void); /* the named scalars that the last verb took ... */
void fc_attr_again(int taken); /* ... wait for the next one again */

/* the real part of a tensor's first element */
double fc_item_real(fc_tensor *x);
int64_t fc_nonzero_count(fc_tensor *x);

/* promotion */
int fc_promote_types(int a, int b);
int fc_can_cast(int from, int to);
int fc_result_type2(fc_tensor *x, fc_tensor *y);
int fc_result_type_scalar(fc_tensor *x, int kind);
void fc_set_default_dtype(int dtype);
int fc_default_dtype(void);

/* named scalars that are not at their default: pending for this thread's next verb */
void fc_attr(int k, int kind, int64_t i, double re, double im);

/* verbs: infer, allocate or check `out`, build the nest, run the loop. out is NULL or the destination, which must have the result's shape
 * and a dtype that the result's converts to: until fc_exactly(0), in this thread, the result's own. */
void fc_exactly(int on);
fc_tensor *fc_map1(int op, fc_tensor *out, fc_tensor *x);
fc_tensor *fc_map2(int op, fc_tensor *out, fc_tensor *x, fc_tensor *y);
fc_tensor *fc_map3(int op, fc_tensor *out, fc_tensor *x, fc_tensor *y, fc_tensor *z);
fc_tensor *fc_map2s(int op, fc_tensor *out, fc_tensor *x, int kind, int64_t i, double re, double im);
fc_tensor *fc_map2r(int op, fc_tensor *out, int kind, int64_t i, double re, double im, fc_tensor *y);
fc_tensor *fc_fold(int op, fc_tensor *out, fc_tensor *x, uint64_t dims, uint64_t dims_from_end, int keepdim, int dtype);
fc_tensor *fc_scan(int op, fc_tensor *out, fc_tensor *x, int64_t dim, int dtype);
fc_tensor *fc_dot(int op, fc_tensor *out, fc_tensor *x, fc_tensor *y, fc_tensor *z);
fc_tensor *fc_gather(int op, fc_tensor *out, fc_tensor *x, int64_t dim, fc_tensor *index, fc_tensor *src);
fc_tensor *fc_own(int op, fc_tensor *out, fc_tensor *t0, fc_tensor *t1, fc_tensor *t2, fc_tensor *t3,
                  int64_t i0, int64_t i1, int64_t i2, int64_t i3, int64_t i4, int64_t i5, double d0, double d1);
fc_tensor *fc_own_n(int op, fc_tensor *out, int nt, fc_tensor **t, int ni, const int64_t *i, int nd, const double *d);
fc_tensor *fc_random(int op, fc_tensor *self, fc_generator *gen, int64_t i0, int64_t i1, double d0, double d1);
fc_tensor *fc_result(int k);

/* views: no data moves */
fc_tensor *fc_view_op(int op, fc_tensor *x, int64_t i0, int64_t i1, int64_t i2, int64_t i3);
fc_tensor *fc_view_dims(int op, fc_tensor *x, int n, int64_t d0, int64_t d1, int64_t d2, int64_t d3);
fc_tensor *fc_view_list(int op, fc_tensor *x, int n, const int64_t *d);
fc_tensor *fc_as_strided(fc_tensor *x, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset);

/* copies and conversions */
fc_tensor *fc_to(fc_tensor *x, int dtype, int memory_format, int copy);
int fc_copy(fc_tensor *out, fc_tensor *x);
int fc_fill(fc_tensor *out, int kind, int64_t i, double re, double im);
int fc_equal(fc_tensor *x, fc_tensor *y);

/* advanced indexing: index tensors (int64) or NULL per dim of x; all indexed dims broadcast together */
fc_tensor *fc_index(fc_tensor *x, int n, fc_tensor **index);
int fc_index_put(fc_tensor *x, int n, fc_tensor **index, fc_tensor *value, int accumulate);
fc_tensor *fc_take(fc_tensor *x, fc_tensor *index); /* places of the logical order (int64), which may be negative */
fc_tensor *fc_nonzero(fc_tensor *x);
fc_tensor *fc_masked_select(fc_tensor *x, fc_tensor *mask);

/* linear algebra in place, over stacks of matrices; x and what goes with it are results just made (cpu/linalg.c) */
int fc_solve_triangular(fc_tensor *a, fc_tensor *x, int transposed, int upper, int unit);
int fc_lu_factor(fc_tensor *x, fc_tensor *pivots, fc_tensor *info);
int fc_lu_solve(fc_tensor *lu, fc_tensor *pivots, fc_tensor *x);
int fc_lu_det(fc_tensor *lu, fc_tensor *pivots, fc_tensor *det, fc_tensor *log); /* log: of its size, det is then its sign; det itself for none */
int fc_cholesky(fc_tensor *x, fc_tensor *info, int upper);

/* DLPack: a managed tensor (versioned or not) out and in. Released by the taker; `owner` as in fc_from_memory. */
void *fc_to_dlpack(fc_tensor *x, int versioned, int copied);
fc_tensor *fc_from_dlpack(void *managed, int versioned, int64_t owner);
int64_t fc_dlpack_field(void *managed, int versioned, int field);
void fc_dlpack_release(void *managed, int versioned);
int64_t fc_dlpack_orphan(void);
void *fc_dlpack_capsules(void *is_valid, void *get_pointer);

/* random generators: mt19937; state is PyTorch's 5056 bytes */
fc_generator *fc_generator_new(uint64_t seed);
void fc_generator_free(fc_generator *g);
void fc_generator_seed(fc_generator *g, uint64_t seed);
uint64_t fc_generator_initial_seed(fc_generator *g);
void fc_generator_get_state(fc_generator *g, void *bytes5056);
int fc_generator_set_state(fc_generator *g, const void *bytes5056);

/* threads, allocator, instruction set */
int fc_get_num_threads(void);
int fc_set_num_threads(int n);
int fc_set_flush_denormal(int on); /* of the calling thread and of what works for it; 1 if it is so now */
int64_t fc_pool_jobs(void); /* how many jobs several threads shared, so far */
int64_t fc_alloc_stat(int which);
int64_t fc_alloc_fail_after(int64_t n); /* where FC_DIRECT is 1, as under ASan: the n-th allocation from now fails, once; 0: none. What was left of the last n, -1 in other builds */
void fc_alloc_trim(void);
int fc_isa_level(void);
int fc_set_isa_level(int level);
