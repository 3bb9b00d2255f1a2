/* Activations and their gradients (g: the gradient of the result), for one type: T, K(literal), FN(name). No guard, deliberately. */

FC_MATH T FN(elu)(T x, T negative, T positive, T inner)
{
    return x > 0 ? x * positive : FN(expm1)(x * inner) * negative;
}

FC_MATH T FN(silu_gradient)(T g, T x)
{
    const T s = FN(sigmoid)(x);
    return g * s * (1 + x * (1 - s));
}

/* t = tanh(softplus(x)) = n / d, n = e (e + 2), d = n + 2, e = e**x; 1 - t t = 4 (1 + e)**2 / d**2 does not cancel. Beyond 22 it is
 * less than half of the last place of 1, and x times it: NaN of infinity, as in PyTorch */
FC_MATH T FN(mish_gradient)(T g, T x)
{
    const T e = FN(exp)(FN(minimum)(x, 22)), n = e * (e + 2), d = n + 2, r = 2 * (1 + e) / d;
    const T bend = x > 22 ? 0 : (e / (1 + e)) * r * r;
    return g * (n / d + x * bend);
}

FC_MATH T FN(gelu_tanh_gradient)(T g, T x)
{
    const T c = K(0.79788456080286535588), z = x * x;
    const T t = FN(tanh)(c * (x + K(0.044715) * z * x));
    return g * (K(0.5) * (1 + t) + K(0.5) * x * (1 - t * t) * (c * (1 + K(0.134145) * z)));
}

FC_MATH T FN(softsign_gradient)(T g, T x)
{
    const T d = 1 + FN(fabs)(x);
    return g / (d * d);
}

/* Losses of r, the error; their gradients are g times the slope there. */
FC_MATH T FN(smooth_l1)(T r, T beta)
{
    const T size = FN(fabs)(r);
    return size < beta ? (T)0.5 * size * size / beta : size - (T)0.5 * beta;
}

FC_MATH T FN(smooth_l1_gradient)(T g, T r, T beta)
{
    return r <= -beta ? -g : r >= beta ? g : g * r / beta;
}

FC_MATH T FN(huber)(T r, T delta)
{
    const T size = FN(fabs)(r);
    return size <= delta ? (T)0.5 * size * size : delta * (size - (T)0.5 * delta);
}

FC_MATH T FN(huber_gradient)(T g, T r, T delta)
{
    return r <= -delta ? -g * delta : r >= delta ? g * delta : g * r;
}

FC_MATH T FN(glu_gate_gradient)(T g, T x, T gate)
{
    const T s = FN(sigmoid)(gate);
    return g * x * (1 - s) * s;
}
