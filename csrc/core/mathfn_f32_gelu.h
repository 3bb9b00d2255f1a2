/* float: x Phi(x), by polynomials from a table; cpu/map_gelu_simd.c holds the loops, with the same bits. */
#ifndef FC_MATHFN_F32_GELU_H
#define FC_MATHFN_F32_GELU_H

/* G(a) = a Phi(-a) e**(a a / 2) for 0 <= a <= 14.5, half an octave a column, by a's low exponent bits and first bit after the point:
 * G(center + d) = value + d (c1 + d (c2 + ... c6)). A center is where G is a float to 30 bits, in the first column 0: so what is rounded
 * before the last sum is a small part of it. Coefficients: tools/minimax.py gelu. */
enum { FC_GELU_CENTER, FC_GELU_VALUE, FC_GELU_FIRST, FC_GELU_LAST = FC_GELU_FIRST + 5, FC_GELU_ROWS };

static const f32 fc_gelu_table[FC_GELU_ROWS][16] __attribute__((unused, aligned(64))) = {
    { 0x1.400134p+1f, 0x1.c000bep+1f, 0x1.4002ecp+2f, 0x1.c00242p+2f, 0x1.3fff6ap+3f, 0x1.a7fd24p+3f,
      0, 0x1.c0028ap-4f, 0x1.40010ap-3f, 0x1.bfffd6p-3f, 0x1.4002b2p-2f, 0x1.bffcfep-2f,
      0x1.4001aep-1f, 0x1.c000e2p-1f, 0x1.40023ap+0f, 0x1.c0031p+0f }, /* center */
    { 0x1.69cf2ap-2f, 0x1.7d242ep-2f, 0x1.89d3eap-2f, 0x1.90a51p-2f, 0x1.948c6ap-2f, 0x1.963a82p-2f,
      0, 0x1.9b7186p-5f, 0x1.1bb68p-4f, 0x1.7b6548p-4f, 0x1.fb2a0ap-4f, 0x1.463b5cp-3f,
      0x1.9de6b2p-3f, 0x1.f559d2p-3f, 0x1.27605ep-2f, 0x1.4bf01p-2f }, /* value */
    { 0x1.bf3642p-6f, 0x1.a29d6ap-7f, 0x1.54232ep-8f, 0x1.105fcp-9f, 0x1.8af654p-11f, 0x1.5be4fp-12f,
      0x1p-1f, 0x1.af274ap-2f, 0x1.912f9cp-2f, 0x1.6cfb1ap-2f, 0x1.3dad02p-2f, 0x1.097c72p-2f,
      0x1.9a43e4p-3f, 0x1.28be4ap-3f, 0x1.7b7616p-4f, 0x1.bd40ap-5f }, /* d**1 */
    { -0x1.789a1p-7f, -0x1.1ee036p-8f, -0x1.66f3ccp-10f, -0x1.b27198p-12f, -0x1.c8884p-14f, -0x1.343f62p-15f,
      -0x1.988454p-2f, -0x1.4d81dep-2f, -0x1.323edap-2f, -0x1.11bf8cp-2f, -0x1.d02cb6p-3f, -0x1.76a728p-3f,
      -0x1.12ec12p-3f, -0x1.73b6a4p-4f, -0x1.aec8cp-5f, -0x1.be0dep-6f }, /* d**2 */
    { 0x1.0aa6dcp-8f, 0x1.4fa32p-10f, 0x1.479d86p-12f, 0x1.2ef83ep-14f, 0x1.cfe7e8p-17f, 0x1.e2f054p-19f,
      0x1.000046p-2f, 0x1.97125p-3f, 0x1.713cbep-3f, 0x1.44f294p-3f, 0x1.0d4d18p-3f, 0x1.a5a64cp-4f,
      0x1.27b6b6p-4f, 0x1.78a574p-5f, 0x1.8fe6acp-6f, 0x1.721534p-7f }, /* d**3 */
    { -0x1.51384cp-10f, -0x1.62f612p-12f, -0x1.11bbd6p-14f, -0x1.863d58p-17f, -0x1.b6aa3ap-20f, -0x1.60d6c6p-22f,
      -0x1.1066ecp-3f, -0x1.a2622cp-4f, -0x1.7cb65ep-4f, -0x1.4a1fd4p-4f, -0x1.0b7fd2p-4f, -0x1.9c1a06p-5f,
      -0x1.122316p-5f, -0x1.4ad8ecp-6f, -0x1.446eb8p-7f, -0x1.0ed8dep-8f }, /* d**4 */
    { 0x1.9445p-12f, 0x1.6471eep-14f, 0x1.c80f66p-17f, 0x1.ed5dbcp-20f, 0x1.adf392p-23f, 0x1.f5d164p-26f,
      0x1.00f324p-4f, -0x1.509956p-2f, 0x1.f442f2p-5f, 0x1.49d1dp-4f, 0x1.fb1b4cp-6f, 0x1.86b82p-6f,
      0x1.c6ac3p-7f, 0x1.0695f4p-7f, 0x1.e14ea6p-9f, 0x1.6c4c6ep-10f }, /* d**5 */
    { -0x1.b998c8p-14f, -0x1.4b3556p-16f, -0x1.57e7fep-19f, -0x1.22335cp-22f, -0x1.7b516p-26f, -0x1.54915p-29f,
      -0x1.aaea1ap-6f, -0x1.a72978p+1f, 0x1.8bc83cp-3f, 0x1.0caf8p-3f, -0x1.58735ap-8f, 0x1.6fff56p-4f,
      -0x1.5dbc0ep-8f, -0x1.7465aap-9f, -0x1.41a1bap-10f, -0x1.c80a36p-12f }, /* d**6 */
};

/* x Phi(x) = max(x, 0) - a Phi(-a), a = |x|: for small and negative x nothing cancels. e**(-a a / 2) = 2**n (1 + w) with what the square's
 * rounding loses; the product is at 2**64 of its size until the last step, so that a subnormal result is rounded once. NaN at -inf. */
FC_MATH f32 fc_gelu_f32(f32 x)
{
    const f32 size = fabsf(x), a = size > 14.5f ? 14.5f : size;
    const uint32_t column = fc_bits_f32(a > 0.0625f ? a : 0.0625f) >> 22 & 15;
    const f32 d = a - fc_gelu_table[FC_GELU_CENTER][column], value = fc_gelu_table[FC_GELU_VALUE][column];
    f32 p = fc_gelu_table[FC_GELU_LAST][column];
    for (int k = FC_GELU_LAST - 1; k >= FC_GELU_FIRST; --k)
        p = fc_fma_f32(p, d, fc_gelu_table[k][column]);
    const f32 rest = d * p;

    const f32 half = 0.5f * a, s = half * a, lost = fc_product_rest_f32(half, a, s);
    const f32 turn = fc_fma_f32(-s, 0x1.715476p+0f, 0x1.8p23f), n = turn - 0x1.8p23f;
    const f32 r = fc_fma_f32(-n, 0x1.62e4p-1f, -s) + fc_fma_f32(-n, 0x1.7f7d1cp-20f, -lost);
    const f32 w = fc_exp_less_1_f32(r);

    const f32 y = value + fc_fma_f32(value, w, fc_fma_f32(rest, w, rest));
    const f32 power = fc_f32_of_bits((fc_bits_f32(turn) << 23) + (UINT32_C(191) << 23)); /* 2**(n + 64) */
    return fc_fma_f32(-(y * power), 0x1p-64f, x > 0 ? x : x - x);
}

#endif
