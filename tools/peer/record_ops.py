#!/usr/bin/env python3
"""Rare overloads of ATen, as PyTorch exports and computes them.        record_ops.py OUT [FAMILY...]

One folder OUT/FAMILY/NAME a case in the form of the operator suite (test/suites/README.md): model.pt2, input_N.npy,
expected_N.npy, meta.json.  A case is a handful of calls of one family, each a result of its own.  Needs torch; the
archive test/suites/rare.tar.xz was made with it.
"""
import json, os, sys
import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  quantized_decomposed

A = torch.ops.aten
g = torch.Generator().manual_seed(7)
X, Y = torch.rand(2, 3, 4, generator=g) * 2 - 1, torch.rand(2, 3, 4, generator=g) * 2 - 1
P = torch.rand(2, 3, 4, generator=g) + 0.1
M, N = torch.rand(4, 5, generator=g) - 0.5, torch.rand(5, 3, generator=g) - 0.5
V, S = torch.rand(5, generator=g) - 0.5, torch.rand(4, 4, generator=g) - 0.5
C, C3 = torch.rand(1, 4, 6, 6, generator=g) - 0.5, torch.rand(1, 2, 4, 4, 4, generator=g) - 0.5
L = torch.rand(1, 4, 8, generator=g) - 0.5
I, J = torch.randint(-5, 6, (2, 3), generator=g), torch.randint(1, 4, (2, 3), generator=g)
B, D = torch.rand(2, 3, generator=g) > 0.5, torch.rand(2, 3, generator=g) > 0.5
K = torch.randint(0, 4, (6,), generator=g)

Z = torch.complex(torch.rand(2, 4, generator=g) - 0.5, torch.rand(2, 4, generator=g) + 0.2)
Q, KV = torch.rand(1, 4, 3, 8, generator=g) - 0.5, torch.rand(1, 2, 5, 8, generator=g) - 0.5
MASK = torch.tensor([[True, False, True, True, False], [True] * 5, [False, True, True, False, True]])
ROWS, TIMES, TWICE = torch.tensor([True, False, True, True]), torch.tensor([1, 0, 3, 2]), torch.tensor([2])
T = torch.ops.quantized_decomposed


def written(x, into):
    """A copy of x, changed through a view of it."""
    y = x.clone()
    into(y)
    return y


def unrecorded(x):
    with torch.no_grad():
        return x * 2 + 1


def halved(x, enabled):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
        return (x @ x.transpose(1, 2)).float()


# family: (inputs, list of calls)
FAMILIES = {
    "bits": ((I, J), [lambda i, j, n=n: getattr(A, f"__{n}__").Tensor(i, j) for n in ("or", "xor", "lshift", "rshift")] +
             [lambda i, j, n=n: getattr(A, f"__{n}__").Scalar(i, 3) for n in ("and", "or", "xor")] +
             [lambda i, j: A.bitwise_and.Scalar(i, 3), lambda i, j: A.bitwise_and.Scalar_Tensor(3, j), lambda i, j: A.bitwise_or.Scalar_Tensor(3, j),
              lambda i, j: A.bitwise_xor.Scalar(i, 3), lambda i, j: A.bitwise_xor.Scalar_Tensor(3, j), lambda i, j: A.bitwise_xor.Tensor(i, j),
              lambda i, j: A.bitwise_left_shift.Tensor_Scalar(i, 2), lambda i, j: A.bitwise_left_shift.Scalar_Tensor(3, j),
              lambda i, j: A.bitwise_right_shift.Tensor_Scalar(i, 1), lambda i, j: A.bitwise_right_shift.Scalar_Tensor(64, j)]),
    "names": ((X,), [lambda x, n=n: getattr(A, n).default(x) for n in ("absolute", "arctan", "arcsinh", "negative", "positive", "fix", "trunc", "frac", "sgn", "signbit",
              "special_erf", "special_erfc", "special_expm1", "special_exp2", "special_expit", "erfc", "exp2", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
              "square", "mish", "log_sigmoid", "deg2rad", "rad2deg", "alias", "detach", "lift", "lift_fresh", "lift_fresh_copy", "resolve_conj", "resolve_neg", "conj_physical", "_conj_physical")]),
    "narrow": ((X * 0.9,), [lambda x, n=n: getattr(A, n).default(x) for n in ("arcsin", "arccos", "arctanh", "special_erfinv")]),
    "positive": ((P,), [lambda x, n=n: getattr(A, n).default(x) for n in ("log2", "special_log1p")] + [lambda x: A.arccosh.default(x + 1), lambda x: A.special_logit.default(x, 0.01),
              lambda x: A.special_round.default(x), lambda x: A.round.decimals(x, decimals=1), lambda x: A.float_power.Tensor_Scalar(x, 1.5), lambda x: A.float_power.Scalar(2, x),
              lambda x: A.float_power.Tensor_Tensor(x, x), lambda x: A.pow.Scalar(2, x), lambda x: A.xlogy.Scalar_Other(x, 2), lambda x: A.xlogy.Scalar_Self(2, x), lambda x: A.xlogy.Tensor(x, x),
              lambda x: A.special_xlogy.default(x, x), lambda x: A.special_xlogy.other_scalar(x, 3), lambda x: A.special_xlogy.self_scalar(3, x)]),
    "pairs": ((X, Y), [lambda x, y, n=n: getattr(A, n).default(x, y) for n in ("arctan2", "atan2", "fmax", "fmin", "hypot", "logaddexp", "logical_xor")] +
              [lambda x, y, n=n: getattr(A, n).Tensor(x, y) for n in ("greater", "greater_equal", "less", "less_equal", "not_equal", "subtract", "multiply", "divide", "true_divide", "rsub", "copysign", "fmod", "clamp_max", "clamp_min")] +
              [lambda x, y, n=n: getattr(A, n).Scalar(x, 0.25) for n in ("greater", "greater_equal", "less", "less_equal", "not_equal", "le", "subtract", "multiply", "divide", "true_divide", "copysign", "fmod", "mul", "sub", "div")] +
              [lambda x, y: A.max.other(x, y), lambda x, y: A.min.other(x, y), lambda x, y: A.remainder.Scalar_Tensor(3.0, y + 2), lambda x, y: A.divide.Tensor_mode(x, y + 2, rounding_mode="trunc"),
               lambda x, y: A.div.Scalar_mode(x, 0.3, rounding_mode="floor"), lambda x, y: A.divide.Scalar_mode(x, 0.3, rounding_mode="trunc"), lambda x, y: A.floor_divide.Scalar(x, 0.3)]),
    "three": ((X, Y), [lambda x, y: A.addcdiv.default(x, y, y + 2, value=0.5), lambda x, y: A.addcmul.default(x, y, y, value=2), lambda x, y: A.clip.Tensor(x, -y.abs(), y.abs()), lambda x, y: A.clip.default(x, -0.5, 0.5),
              lambda x, y: A.clamp_max.default(x, 0.2), lambda x, y: A.clamp_min.default(x, 0.2), lambda x, y: A.lerp.Tensor(x, y, y.abs()), lambda x, y: A.where.Scalar(x > y, 1.0, 2.0), lambda x, y: A.where.ScalarSelf(x > y, 1.0, y),
              lambda x, y: A.masked_fill.Tensor(x, y > 0, torch.tensor(3.0)), lambda x, y: A.masked_scatter.default(x, torch.ones(2, 3, 4, dtype=torch.bool), y), lambda x, y: A.threshold.default(x, 0.1, 7),
              lambda x, y: A.hardshrink.default(x), lambda x, y: A.softshrink.default(x), lambda x, y: A.softplus.default(x, 2, 10), lambda x, y: A.leaky_relu.default(x, 0.2), lambda x, y: A.nan_to_num.default(x, 1.0),
              lambda x, y: A._prelu_kernel.default(x, y), lambda x, y: A.rrelu.default(x, 0.1, 0.3), lambda x, y: A.fill.Scalar(x, 2), lambda x, y: A.fill.Tensor(x, torch.tensor(2.0)), lambda x, y: A.zero.default(x), lambda x, y: A.copy.default(x, y)]),
    "reduced": ((X,), [lambda x: A.aminmax.default(x, dim=1), lambda x: A.argmax.default(x), lambda x: A.argmin.default(x, 1), lambda x: A.count_nonzero.default(x), lambda x: A.count_nonzero.dim_IntList(x, [1]),
              lambda x: A.frobenius_norm.dim(x, [1]), lambda x: A.linalg_norm.default(x), lambda x: A.norm.Scalar(x), lambda x: A.norm.ScalarOpt_dim(x, 2, [1]), lambda x: A.norm.ScalarOpt_dtype(x, 2, dtype=torch.float32),
              lambda x: A.norm.ScalarOpt_dim_dtype(x, 1, [2], False, dtype=torch.float32), lambda x: A.logsumexp.default(x, [1]), lambda x: A.max.default(x), lambda x: A.min.default(x), lambda x: A.mean.default(x), lambda x: A.median.default(x),
              lambda x: A.median.dim(x, 1), lambda x: A.nanmean.default(x, [1]), lambda x: A.nansum.default(x, [1]), lambda x: A.prod.default(x), lambda x: A.std.default(x), lambda x: A.std.dim(x, [1]), lambda x: A.std.correction(x, [1], correction=0),
              lambda x: A.std_mean.default(x), lambda x: A.std_mean.dim(x, [1]), lambda x: A.std_mean.correction(x, [1], correction=0), lambda x: A.var.default(x), lambda x: A.var_mean.default(x), lambda x: A.var_mean.dim(x, [2]),
              lambda x: A.var_mean.correction(x, [1], correction=0), lambda x: A.cumprod.default(x, 1), lambda x: A.cummin.default(x, 1), lambda x: A.kthvalue.default(x, 2, 1), lambda x: A.msort.default(x), lambda x: A.sort.stable(x, stable=True, dim=1),
              lambda x: A.argsort.stable(x, stable=True, dim=1), lambda x: A.diff.default(x), lambda x: A.cosine_similarity.default(x, x * 2 + 1), lambda x: A.pairwise_distance.default(x, x + 1)]),
    "products": ((M, N, V), [lambda m, n, v: A.addmv.default(m[:, 0], m, v), lambda m, n, v: A.addr.default(m, m[:, 0], v), lambda m, n, v: A.ger.default(v, v), lambda m, n, v: A.outer.default(v, v), lambda m, n, v: A.inner.default(v, v),
              lambda m, n, v: A.dot.default(v, v), lambda m, n, v: A.vdot.default(v, v), lambda m, n, v: A.mv.default(m, v), lambda m, n, v: A.linalg_matmul.default(m, n), lambda m, n, v: A.linalg_vecdot.default(v, v),
              lambda m, n, v: A.chain_matmul.default([m, n]), lambda m, n, v: A.linalg_multi_dot.default([m, n]), lambda m, n, v: A.tensordot.default(m, n, [1], [0]), lambda m, n, v: A.addbmm.default(m @ n, m[None], n[None]),
              lambda m, n, v: A.baddbmm.default((m @ n)[None], m[None], n[None], beta=0.5), lambda m, n, v: A.bilinear.default(m, m, m.new_ones(1, 5, 5)), lambda m, n, v: A.cdist.default(m, m + 1),
              lambda m, n, v: A._euclidean_dist.default(m, m + 1), lambda m, n, v: A.trace.default(m)]),
    "moved": ((X,), [lambda x: A.adjoint.default(x), lambda x: A.atleast_1d.default(x), lambda x: A.atleast_2d.default(x[0, 0]), lambda x: A.atleast_3d.default(x[0]), lambda x: A.broadcast_to.default(x, [2, 2, 3, 4]),
              lambda x: A.column_stack.default([x[0], x[1]]), lambda x: A.concat.default([x, x], 1), lambda x: A.concatenate.default([x, x], 2), lambda x: A.diag.default(x[0, 0]), lambda x: A.diag_embed.default(x), lambda x: A.diagonal_copy.default(x, 0, 1, 2),
              lambda x: A.diagonal_scatter.default(x[0], x[1, :, 0]), lambda x: A.dstack.default([x, x]), lambda x: A.hstack.default([x, x]), lambda x: A.vstack.default([x, x]), lambda x: A.row_stack.default([x, x]), lambda x: A.expand_as.default(x[:1], x),
              lambda x: A.expand_copy.default(x[:1], [2, 3, 4]), lambda x: A.fliplr.default(x), lambda x: A.flipud.default(x), lambda x: A.moveaxis.intlist(x, [0], [2]), lambda x: A.movedim.intlist(x, [0, 1], [1, 2]), lambda x: A.narrow_copy.default(x, 1, 1, 2),
              lambda x: A.permute_copy.default(x, [2, 0, 1]), lambda x: A.ravel.default(x), lambda x: A.repeat.default(x, [2, 1, 1]), lambda x: A.repeat_interleave.self_int(x, 2, 1), lambda x: A.roll.default(x, [1], [2]), lambda x: A.rot90.default(x, 1, [1, 2]),
              lambda x: A.slice_copy.Tensor(x, 1, 0, 2), lambda x: A.squeeze_copy.default(x[:1]), lambda x: A.squeeze_copy.dim(x[:1], 0), lambda x: A.squeeze_copy.dims(x[:1], [0]), lambda x: A.swapaxes.default(x, 0, 1), lambda x: A.swapdims.default(x, 1, 2),
              lambda x: A.t.default(x[0]), lambda x: A.tile.default(x, [1, 2, 1]), lambda x: A.triu.default(x, 1), lambda x: A.unfold.default(x, 2, 2, 1), lambda x: A.unfold_copy.default(x, 2, 2, 2), lambda x: A.unsqueeze_copy.default(x, 1), lambda x: A.view_as.default(x, x),
              lambda x: A.view_copy.default(x, [6, 4]), lambda x: A._reshape_copy.default(x, [6, 4]), lambda x: A._reshape_alias.default(x, [6, 4], [4, 1]), lambda x: A.as_strided.default(x, [2, 2], [4, 1], 1), lambda x: A.as_strided_scatter.default(x, x[0, :2, :2], [2, 2], [4, 1], 1),
              lambda x: A.type_as.default(x, x), lambda x: A.constant_pad_nd.default(x, [1, 1], 0.5)]),
    "cut": ((X,), [lambda x: A.hsplit.int(x, 3), lambda x: A.hsplit.array(x, [1]), lambda x: A.vsplit.int(x, 2), lambda x: A.vsplit.array(x, [1]), lambda x: A.dsplit.int(x, 2), lambda x: A.dsplit.array(x, [1, 3]), lambda x: A.split.sizes(x, [1, 2], 1),
              lambda x: A.split_copy.Tensor(x, 2, 2), lambda x: A.split_with_sizes_copy.default(x, [1, 3], 2), lambda x: A.tensor_split.indices(x, [1, 2], 2), lambda x: A.tensor_split.sections(x, 3, 2), lambda x: A.unbind_copy.int(x, 1), lambda x: A.unsafe_chunk.default(x, 2, 2),
              lambda x: A.unsafe_split.Tensor(x, 2, 1), lambda x: A.unsafe_split_with_sizes.default(x, [1, 2], 1), lambda x: A.broadcast_tensors.default([x, x[:1]]), lambda x: A.meshgrid.default([x[0, 0], x[0, 1]]), lambda x: A.meshgrid.indexing([x[0, 0], x[0, 1]], indexing="xy")]),
    "indexed": ((X, S, K), [lambda x, s, k: A.index_fill.int_Scalar(s, 0, k[:2], 0.5), lambda x, s, k: A.index_fill.int_Tensor(s, 1, k[:2], torch.tensor(0.5)), lambda x, s, k: A.scatter.src(s, 0, k[None, :4], s), lambda x, s, k: A.scatter.value(s, 0, k[None, :4], 2.0),
              lambda x, s, k: A.scatter.reduce(s, 0, k[None, :4], s, reduce="add"), lambda x, s, k: A.scatter.value_reduce(s, 0, k[None, :4], 2.0, reduce="multiply"), lambda x, s, k: A.take.default(s, k), lambda x, s, k: A.take_along_dim.default(s, k[None, :4], 0),
              lambda x, s, k: A._unsafe_index.Tensor(s, [k]), lambda x, s, k: A._unsafe_index_put.default(s, [k[:1]], s[:1]), lambda x, s, k: A.bucketize.Tensor(s, torch.tensor([-0.2, 0.0, 0.3])), lambda x, s, k: A.searchsorted.Tensor(torch.tensor([-0.2, 0.0, 0.3]), s),
              lambda x, s, k: A.one_hot.default(k, 5), lambda x, s, k: A.embedding_bag.default(s, k, torch.tensor([0, 3]))[0]]),
    "made": ((X,), [lambda x: x[0, 0, 0] * 0 + A.arange.start(0, 5), lambda x: A.new_full.default(x, [2, 3], 1.5), lambda x: A.new_ones.default(x, [2, 3]), lambda x: A.new_zeros.default(x, [2, 3]), lambda x: A.ones_like.default(x), lambda x: x[0, :2, :3] + A.eye.m(2, 3),
              lambda x: x[0, 0, :1] + A.logspace.default(0, 2, 5), lambda x: x[0, 0, :1] + A.bartlett_window.default(6), lambda x: x[0, 0, :1] + A.blackman_window.periodic(6, False), lambda x: x[0, 0, :1] + A.hamming_window.default(6), lambda x: x[0, 0, :1] + A.hamming_window.periodic_alpha(6, False, 0.5),
              lambda x: x[0, 0, :1] + A.hamming_window.periodic_alpha_beta(6, True, 0.5, 0.5), lambda x: x[0, 0, :1] + A.hann_window.periodic(6, False), lambda x: x[0, 0, :1] + A.kaiser_window.beta(6, True, 10.0), lambda x: x[0, 0, :1] + A.kaiser_window.default(6),
              lambda x: x[0, 0, :1] + A.tril_indices.default(3, 3), lambda x: x[0, 0, :1] + A.triu_indices.default(3, 3), lambda x: A._to_copy.default(x, dtype=torch.float64), lambda x: A.to.dtype_layout(x, dtype=torch.float16), lambda x: A.to.other(x, x.double())]),
    "windows": ((C, L), [lambda c, l: A._adaptive_avg_pool2d.default(c, [2, 3]), lambda c, l: A.adaptive_avg_pool1d.default(l, 3), lambda c, l: A.adaptive_max_pool1d.default(l, 3), lambda c, l: A.adaptive_max_pool2d.default(c, [2, 3]), lambda c, l: A.avg_pool1d.default(l, [2], [2]),
              lambda c, l: A.max_pool1d_with_indices.default(l, [2], [2]), lambda c, l: A.max_pool2d_with_indices.default(c, [2, 2]), lambda c, l: A.reflection_pad1d.default(l, [1, 2]), lambda c, l: A.reflection_pad2d.default(c, [1, 1, 2, 0]), lambda c, l: A.replication_pad1d.default(l, [1, 2]),
              lambda c, l: A.replication_pad2d.default(c, [1, 1, 2, 0]), lambda c, l: A.im2col.default(c, [2, 2], [1, 1], [0, 0], [2, 2]), lambda c, l: A.col2im.default(A.im2col.default(c, [2, 2], [1, 1], [0, 0], [1, 1]), [6, 6], [2, 2], [1, 1], [0, 0], [1, 1]),
              lambda c, l: A.pixel_shuffle.default(c, 2), lambda c, l: A.pixel_unshuffle.default(c, 2), lambda c, l: A.channel_shuffle.default(c, 2), lambda c, l: A.native_channel_shuffle.default(c, 2)]),
    "resampled": ((C, L), [lambda c, l: A.upsample_bicubic2d.default(c, [9, 8], False), lambda c, l: A.upsample_bicubic2d.vec(c, [9, 8], True, None), lambda c, l: A.upsample_bilinear2d.default(c, [9, 8], False),
              lambda c, l: A.upsample_linear1d.default(l, [13], False), lambda c, l: A.upsample_linear1d.vec(l, None, False, [2.0]), lambda c, l: A.upsample_nearest1d.default(l, [13]), lambda c, l: A.upsample_nearest1d.vec(l, None, [1.5]),
              lambda c, l: A.upsample_nearest2d.default(c, [9, 8]), lambda c, l: A._upsample_nearest_exact1d.default(l, [13]), lambda c, l: A._upsample_nearest_exact1d.vec(l, None, [1.5]), lambda c, l: A._upsample_nearest_exact2d.default(c, [9, 8]), lambda c, l: A._upsample_nearest_exact2d.vec(c, None, [2.0, 1.5]),
              lambda c, l: A.grid_sampler_2d.default(c, A.affine_grid_generator.default(torch.tensor([[[1.0, 0.1, 0.0], [0.0, 0.9, 0.1]]]), [1, 4, 5, 5], False), 0, 0, False)]),
    "deep": ((C3,), [lambda c: A._adaptive_avg_pool3d.default(c, [2, 2, 2]), lambda c: A.adaptive_avg_pool3d.default(c, [1, 2, 3]), lambda c: A.avg_pool3d.default(c, [2, 2, 2]), lambda c: A.max_pool3d.default(c, [2, 2, 2]), lambda c: A.max_pool3d_with_indices.default(c, [2, 2, 2]),
              lambda c: A.reflection_pad3d.default(c, [1, 1, 1, 0, 0, 1]), lambda c: A.replication_pad3d.default(c, [1, 1, 1, 0, 0, 1]), lambda c: A.upsample_nearest3d.default(c, [5, 6, 7]), lambda c: A.upsample_nearest3d.vec(c, None, [2.0, 1.0, 1.5]), lambda c: A._upsample_nearest_exact3d.default(c, [5, 6, 7]),
              lambda c: A.upsample_trilinear3d.default(c, [5, 6, 7], True), lambda c: A.upsample_trilinear3d.vec(c, None, False, [2.0, 1.5, 1.0]), lambda c: A.conv3d.padding(c, c.new_ones(3, 2, 3, 3, 3) * 0.1, None, [1, 1, 1], "same"), lambda c: A.instance_norm.default(c, None, None, None, None, True, 0.1, 1e-5, False)]),
    "layers": ((C, L), [lambda c, l: A._convolution.default(c, c.new_ones(3, 4, 3, 3) * 0.1, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, False, False, False, False), lambda c, l: A.convolution.default(l, l.new_ones(2, 4, 3) * 0.1, None, [1], [1], [1], False, [0], 1),
              lambda c, l: A.convolution.default(c, c.new_ones(4, 2, 3, 3) * 0.1, None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1), lambda c, l: A.conv1d.padding(l, l.new_ones(2, 4, 3) * 0.1, None, [1], "same"), lambda c, l: A.conv_transpose1d.default(l, l.new_ones(4, 2, 3) * 0.1),
              lambda c, l: A.conv_transpose2d.input(c, c.new_ones(4, 2, 3, 3) * 0.1), lambda c, l: A.native_layer_norm.default(l, [8], None, None, 1e-5)[0], lambda c, l: A.native_group_norm.default(c, None, None, 1, 4, 36, 2, 1e-5)[0], lambda c, l: A._native_batch_norm_legit_no_training.default(c, None, None, c.new_zeros(4), c.new_ones(4), 0.1, 1e-5)[0],
              lambda c, l: A._softmax.default(l, 2, False), lambda c, l: A._log_softmax.default(l, 2, False), lambda c, l: A.special_softmax.default(l, 2), lambda c, l: A.special_log_softmax.default(l, 2), lambda c, l: A._safe_softmax.default(l, 2), lambda c, l: A._fused_rms_norm.default(l, [8], None, 1e-5)[0],
              lambda c, l: A._weight_norm.default(l, l[:, :1, :1].abs() + 0.5, 0), lambda c, l: A.dropout.default(l, 0.5, False), lambda c, l: A.alpha_dropout.default(l, 0.5, False), lambda c, l: A.feature_alpha_dropout.default(c, 0.5, False), lambda c, l: A.native_dropout.default(l, 0.5, False)[0],
              lambda c, l: A._scaled_dot_product_flash_attention_for_cpu.default(c, c, c)[0], lambda c, l: A._scaled_dot_product_attention_math.default(c, c, c)[0]]),
    "recurrent": ((torch.rand(3, 2, 4, generator=g) - 0.5, torch.rand(1, 2, 5, generator=g) - 0.5), [lambda x, h: A.gru.input(x, h, [x.new_ones(15, 4) * 0.1, x.new_ones(15, 5) * 0.2, x.new_zeros(15), x.new_ones(15) * 0.1], True, 1, 0.0, False, False, False),
              lambda x, h: A.rnn_tanh.input(x, h, [x.new_ones(5, 4) * 0.1, x.new_ones(5, 5) * 0.2], False, 1, 0.0, False, False, False), lambda x, h: A.rnn_relu.input(x, h, [x.new_ones(5, 4) * 0.1, x.new_ones(5, 5) * 0.2], False, 1, 0.0, False, False, False),
              lambda x, h: A.gru_cell.default(x[0], h[0], x.new_ones(15, 4) * 0.1, x.new_ones(15, 5) * 0.2, None, None), lambda x, h: A.lstm_cell.default(x[0], [h[0], h[0]], x.new_ones(20, 4) * 0.1, x.new_ones(20, 5) * 0.2, None, None),
              lambda x, h: A.rnn_tanh_cell.default(x[0], h[0], x.new_ones(5, 4) * 0.1, x.new_ones(5, 5) * 0.2, None, None), lambda x, h: A.rnn_relu_cell.default(x[0], h[0], x.new_ones(5, 4) * 0.1, x.new_ones(5, 5) * 0.2, None, None)]),
    "fourier": ((X,), [lambda x, n=n: A.view_as_real.default(A.resolve_conj.default(getattr(A, n).default(x))) for n in ("fft_fft", "fft_fft2", "fft_fftn", "fft_ifft", "fft_ifft2", "fft_ifftn", "fft_rfftn")] +
              [lambda x: A.fft_irfft.default(A.fft_fft.default(x)), lambda x: A.fft_irfftn.default(A.fft_rfftn.default(x)), lambda x: A.fft_fftshift.default(x), lambda x: A.fft_ifftshift.default(x), lambda x: A.view_as_real.default(A.polar.default(x, x)), lambda x: A.view_as_real.default(A._fft_r2c.default(x, [2], 0, True))]),
    "grids": ((X,), [lambda x: A.fake_quantize_per_tensor_affine.default(x, 0.05, 3, -128, 127), lambda x: A.fake_quantize_per_channel_affine.default(x, torch.tensor([0.05, 0.1, 0.02]), torch.tensor([0, 1, 2], dtype=torch.int32), 1, -128, 127),
              lambda x: A.fake_quantize_per_tensor_affine_cachemask.default(x, 0.05, 3, -128, 127)[0], lambda x: A.fake_quantize_per_channel_affine_cachemask.default(x, torch.tensor([0.05, 0.1, 0.02]), torch.tensor([0, 1, 2], dtype=torch.int32), 1, -128, 127)[0]]),
    "chosen": ((X, S, K), [lambda x, s, k: A.index_put.default(s, [ROWS], torch.tensor(2.0)), lambda x, s, k: A.index_put.default(s, [None, ROWS], torch.tensor(2.0), True),
              lambda x, s, k: A.index_put.default(s, [s > 0], torch.tensor(9.0)), lambda x, s, k: A.index_put.default(s, [k[:2]], s[:2], True), lambda x, s, k: A.repeat_interleave.self_Tensor(s, TIMES, 0, output_size=6), lambda x, s, k: A.repeat_interleave.self_Tensor(s, TWICE, 1, output_size=8),
              lambda x, s, k: A.repeat_interleave.Tensor(TIMES, output_size=6) + k[:1], lambda x, s, k: A.take_along_dim.default(s, k[None]), lambda x, s, k: A.diagonal_scatter.default(x, x[0, :2].t().contiguous(), 0, 0, 1), lambda x, s, k: A.diagonal_scatter.default(s, s[0, :3], 1),
              lambda x, s, k: A.index_copy.default(s, 0, k[:1], s[:1]), lambda x, s, k: A.index_add.default(s, 1, k[:2], s[:, :2], alpha=2), lambda x, s, k: A.index_select.default(x, 2, k[:2]), lambda x, s, k: A.gather.default(s, 1, k[None, :4]),
              lambda x, s, k: A.scatter_reduce.two(s, 0, k[None, :4], s, "amax"), lambda x, s, k: A.scatter_reduce.two(s, 0, k[None, :4], s, "mean", include_self=False), lambda x, s, k: A.scatter_reduce.two(s, 0, k[None, :4], s, "prod"), lambda x, s, k: A.scatter_add.default(s, 1, k[None, :4], s[:1]),
              lambda x, s, k: A.searchsorted.Tensor(torch.tensor([-0.2, 0.0, 0.3]), s, right=True), lambda x, s, k: A.bucketize.Tensor(s, torch.tensor([-0.2, 0.0, 0.3]), right=True), lambda x, s, k: A.select_scatter.default(s, s[0], 1, -1), lambda x, s, k: A.slice_scatter.default(s, s[:2], 0, 1, 3)]),
    "bags": ((S, K), [lambda s, k, m=m: A.embedding_bag.default(s, k, torch.tensor([0, 3, 3]), False, m)[0] for m in (0, 1, 2)] + [lambda s, k: A.embedding_bag.default(s, k, torch.tensor([0, 2]), False, 0, False, s[0, :1].expand(6))[0],
              lambda s, k: A.embedding_bag.default(s, k, torch.tensor([0, 2, 6]), False, 1, False, None, True)[0], lambda s, k: A.embedding_bag.padding_idx(s, k, torch.tensor([0, 3]), False, 0, False, None, False, 1)[0], lambda s, k: A.embedding.default(s, k, 1)]),
    "tokens": ((X,), [lambda x: T.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8), lambda x: T.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, torch.int8), lambda x: [t.float() for t in T.choose_qparams_per_token.default(x, torch.int8)], lambda x: T.choose_qparams_per_token_asymmetric.default(x, torch.int8),
              lambda x: T.quantize_per_token.default(x, x[:, :, :1].abs() / 100 + 0.01, (x[:, :, :1] * 9).round().long(), -128, 127, torch.int8), lambda x: T.dequantize_per_token.default((x * 100).round().to(torch.int8), x[:, :, :1].abs() + 0.01, (x[:, :, :1] * 9).round().long(), -128, 127, torch.int8, torch.float32),
              lambda x: T.quantize_per_tensor.tensor(x, x.abs().amax() / 127, torch.tensor(3), -128, 127, torch.int8), lambda x: T.dequantize_per_tensor.tensor((x * 100).round().to(torch.int8), x.abs().amax() / 127, torch.tensor(3), -128, 127, torch.int8)]),
    "patterns": ((M, S, V), [lambda m, s, v: A.kron.default(m, s), lambda m, s, v: A.kron.default(v, m), lambda m, s, v: A.vander.default(v), lambda m, s, v: A.vander.default(v, 3, True), lambda m, s, v: A.linalg_vander.default(m, N=3),
              lambda m, s, v: A.block_diag.default([m, s, v]), lambda m, s, v: A.cartesian_prod.default([v, s[0], m[1]]), lambda m, s, v: A.cartesian_prod.default([v]), lambda m, s, v: A.logcumsumexp.default(20 * m, 1), lambda m, s, v: A.logcumsumexp.default(s, 0)]),
    "imaginary": ((Z, V), [lambda z, v: A.view_as_real.default(z * 1j), lambda z, v: A.view_as_real.default((z + 2j) * (1 - 3j)), lambda z, v: A.view_as_real.default(1j * z - (0.5 + 1j)), lambda z, v: A.view_as_real.default(z / 2j), lambda z, v: A.view_as_real.default(v * 1j)]),
    "complex": ((Z,), [lambda z, f=f: A.view_as_real.default(f(z)) for f in (lambda z: z * z, lambda z: z / (z + 1), lambda z: z / 2.0, lambda z: z * z.real, lambda z: z.real * z, lambda z: z - z.conj().resolve_conj() * 2, lambda z: z + 1, lambda z: torch.cat([z, z * z], 1),
              lambda z: z.reshape(4, 2).transpose(0, 1), lambda z: torch.complex(z.imag, z.real), lambda z: torch.view_as_complex(torch.view_as_real(z)), lambda z: z.sum(1), lambda z: z.mean(0), lambda z: torch.stack([z, z]), lambda z: z[:, 1:3], lambda z: torch.where(z.real > 0, z, -z))] +
              [lambda z: z.abs(), lambda z: z.angle(), lambda z: z.real, lambda z: z.imag + 1]),
    "spectra": ((X, L), [lambda x, l, n=n, f=f: A.view_as_real.default(A.resolve_conj.default(f(x, n))) for f in (A.fft_fft.default, A.fft_rfft.default, A.fft_ifft.default) for n in (3, 7)] + [lambda x, l: A.fft_irfft.default(A.fft_rfft.default(x), 6), lambda x, l: A.fft_irfft.default(A.fft_rfft.default(x), 4, 2, "ortho"),
              lambda x, l: torch.view_as_real(torch.stft(l[0], 4, 2, window=torch.hann_window(4), return_complex=True)), lambda x, l: torch.view_as_real(torch.stft(l[0], 4, return_complex=True, center=False)), lambda x, l: torch.view_as_real(torch.stft(l[0], 6, 2, 4, torch.hann_window(4), onesided=False, return_complex=True)),
              lambda x, l: A.stft.default(l[0], 4, 2, None, None, False, True, False), lambda x, l: torch.istft(torch.stft(l[0], 4, 1, window=torch.hann_window(4), return_complex=True), 4, 1, window=torch.hann_window(4)), lambda x, l: torch.istft(torch.stft(l[0], 4, 2, return_complex=True), 4, 2, length=7)]),
    "normed": ((C, L), [lambda c, l: A.batch_norm.default(torch.cat([c, c * 2]), None, None, None, None, True, 0.1, 1e-5, False), lambda c, l: A.batch_norm.default(c, None, None, None, None, True, 0.1, 1e-5, False), lambda c, l: A.instance_norm.default(torch.cat([c, c * 2]), None, None, None, None, True, 0.1, 1e-5, False),
              lambda c, l: A._native_batch_norm_legit_no_training.default(c, c.new_ones(4) * 2, c.new_ones(4), c.new_zeros(4), c.new_ones(4), 0.1, 1e-5)[0], lambda c, l: A.native_layer_norm.default(l, [4, 8], None, None, 1e-5)[0], lambda c, l: A.native_group_norm.default(c, c.new_ones(4), None, 1, 4, 36, 2, 1e-5)[0],
              lambda c, l: A.rms_norm.default(l, [8], None, 1e-5), lambda c, l: A.linalg_vector_norm.default(l, 1, [1], True), lambda c, l: A.linalg_vector_norm.default(l, float("inf")), lambda c, l: A.cosine_similarity.default(l, l + 1, 2), lambda c, l: A._weight_norm_interface.default(l, l[:, :1, :1].abs() + 0.5, 0),
              lambda c, l: A.local_response_norm.default(c, 3) if hasattr(A, "local_response_norm") else torch.nn.functional.local_response_norm(c, 3), lambda c, l: torch.nn.functional.normalize(l, dim=1)]),
    "attended": ((Q, KV), [lambda q, k: torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=MASK[:, :3]), lambda q, k: torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=MASK, enable_gqa=True),
              lambda q, k: torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=MASK.float(), enable_gqa=True, scale=0.3), lambda q, k: torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True), lambda q, k: A._scaled_dot_product_attention_math.default(q, q, q, MASK[:, :3].float())[0]]),
    "spread": ((C, L, C3), [lambda c, l, d: A.conv_transpose1d.default(l, l.new_ones(4, 2, 3) * 0.1, None, [2], [1], [1]), lambda c, l, d: A.conv_transpose1d.default(l, l[0, :, :3].reshape(4, 1, 3), l.new_ones(2), [3], [0], [0], 2), lambda c, l, d: A.conv_transpose3d.input(d, d.new_ones(2, 2, 2, 2, 2) * 0.1, None, [2, 1, 2]),
              lambda c, l, d: A.conv_transpose2d.input(c, c.new_ones(4, 1, 3, 3) * 0.1, None, [2, 2], [1, 1], [1, 1], 4), lambda c, l, d: A.conv_transpose2d.input(c, c.new_ones(4, 1, 2, 3) * 0.1, None, [1, 2], [0, 1], [0, 0], 1, [2, 1]), lambda c, l, d: A.conv2d.padding(c, c.new_ones(3, 4, 3, 3) * 0.1, None, [1, 1], "valid"),
              lambda c, l, d: A.conv1d.default(l, l.new_ones(4, 1, 3) * 0.1, None, [2], [2], [2], 4), lambda c, l, d: A.conv3d.default(d, d.new_ones(2, 1, 2, 2, 2), None, [1, 2, 1], [0, 1, 1], [1, 1, 1], 2)]),
    "views": ((X,), [lambda x, f=f: written(x, f) for f in (lambda y: y[0].add_(1), lambda y: y[:, 1:3].mul_(2), lambda y: y.unbind(1)[1].sub_(1), lambda y: y.split(2, 2)[1].neg_(), lambda y: y.view(6, 4)[1].fill_(3), lambda y: y.transpose(0, 1)[2].zero_(), lambda y: y.permute(2, 0, 1)[0].relu_(),
              lambda y: y.squeeze(0).abs_(), lambda y: y.unsqueeze(0)[0, 1].clamp_(-0.1, 0.1), lambda y: y.diagonal(0, 1, 2).add_(5), lambda y: y.flatten()[3:9].sqrt_().nan_to_num_(), lambda y: y.narrow(1, 0, 2).copy_(y[:, 1:]), lambda y: y.chunk(2, 2)[0].sigmoid_(), lambda y: y[..., ::2].exp_(),
              lambda y: y[:, 0].masked_fill_(y[:, 0] > 0, 7), lambda y: y.detach()[1].tanh_(), lambda y: y.index_put_((torch.tensor([1]),), torch.tensor(4.0)))]),
    "wrapped": ((X,), [lambda x: unrecorded(x), lambda x: halved(x, False), lambda x: halved(x, True), lambda x: torch.cond(x.sum() > 0, lambda t: t.sin() + 1, lambda t: t.cos() - 1, (x,))]),
    "shaped": ((X, V), [lambda x, v: A.atleast_1d.default(v[0]), lambda x, v: A.atleast_2d.default(v[0]), lambda x, v: A.atleast_3d.default(v[0]), lambda x, v: A.atleast_3d.default(v), lambda x, v: A.hstack.default([v, v]), lambda x, v: A.vstack.default([v, v]), lambda x, v: A.dstack.default([v, v]),
              lambda x, v: A.column_stack.default([v, v[:, None]]), lambda x, v: A.cat.default([v, v.new_zeros(0)]), lambda x, v: A.cat.default([x, v.new_zeros(0)]), lambda x, v: A.rot90.default(x, 2), lambda x, v: A.rot90.default(x, 3, [0, 2]), lambda x, v: A.roll.default(x, [5]), lambda x, v: A.roll.default(x, [1, 2], [0, 2]),
              lambda x, v: A.unflatten.int(x, 2, [2, 2]), lambda x, v: A.flatten.using_ints(x, 0, 1), lambda x, v: A.squeeze.dims(x[:1, :1], [0, 1]), lambda x, v: A.inner.default(x, x[0]), lambda x, v: A.inner.default(v, v[0]), lambda x, v: A.addmm.default(v[:3], x[0], x[1].t(), beta=0, alpha=2),
              lambda x, v: A.addmm.default(v[:3], x[0], x[1].t(), beta=1, alpha=2), lambda x, v: A.bilinear.default(x, x, x.new_ones(2, 4, 4), v[:2]), lambda x, v: A.full.default([2, 3], 1.5) + v[0], lambda x, v: A.full_like.default(x, 2), lambda x, v: A.linspace.default(0, 1, 5) + v, lambda x, v: A.scalar_tensor.default(2.5) + v]),
    "special": ((X, P), [lambda x, p, n=n: getattr(A, f"special_{n}").default(x) for n in ("ndtr", "log_ndtr", "erfcx")] + [lambda x, p: A.special_entr.default(p), lambda x, p: A.special_log_ndtr.default(10 * x), lambda x, p: A.special_xlog1py.default(x, p),
              lambda x, p: A.special_xlog1py.self_scalar(2, p), lambda x, p: A.special_xlog1py.other_scalar(x, 0.5), lambda x, p: A.special_logsumexp.default(x, [1]), lambda x, p: A.logaddexp2.default(x, 20 * p), lambda x, p: A.heaviside.default(x.round(), p),
              lambda x, p: A.ldexp.Tensor(x, (3 * p).round().int()), lambda x, p: A.frexp.Tensor(1000 * x), lambda x, p: A.angle.default(x), lambda x, p: A.isreal.default(x)]),
    "edges": ((torch.tensor([0.0, 1, -1, float("inf"), -float("inf"), float("nan"), 0.5, -3]), torch.tensor([1.0, 0, -1, float("inf"), float("inf"), 1, -0.5, float("nan")])), [lambda x, y: A.special_ndtr.default(x), lambda x, y: A.special_log_ndtr.default(x),
              lambda x, y: A.special_entr.default(x), lambda x, y: A.special_xlog1py.default(x, y), lambda x, y: A.logaddexp2.default(x, y), lambda x, y: A.isclose.default(x, y), lambda x, y: A.isclose.default(x, x, equal_nan=True), lambda x, y: A.isclose.default(x, x + 0.01, 0.05, 0.005),
              lambda x, y: A.heaviside.default(x, y), lambda x, y: A.frexp.Tensor(x), lambda x, y: A.angle.default(x), lambda x, y: A.median.default(x), lambda x, y: A.median.dim(x, 0, True), lambda x, y: A.nanmedian.default(x), lambda x, y: A.nanmedian.dim(x, 0),
              lambda x, y: A.quantile.scalar(x, 0.5), lambda x, y: A.nanquantile.scalar(x, 0.5)]),
    "whole": ((I, J, B), [lambda i, j, b: A.isclose.default(i, j), lambda i, j, b: A.special_entr.default(j), lambda i, j, b: A.special_ndtr.default(i), lambda i, j, b: A.special_xlog1py.default(i, j), lambda i, j, b: A.special_xlog1py.other_scalar(j, 2), lambda i, j, b: A.mode.default(i, 0),
              lambda i, j, b: A.mode.default(j, 1, True), lambda i, j, b: A.median.dim(i, 1), lambda i, j, b: A.heaviside.default(i, j), lambda i, j, b: A.ldexp.Tensor(i, j), lambda i, j, b: A.gradient.scalarint(i, dim=1), lambda i, j, b: A.index_reduce.default(i, 1, torch.tensor([2, 0, 2]), j, "mean"),
              lambda i, j, b: A.put.default(i, torch.tensor([0, -1]), torch.tensor([7, 8])), lambda i, j, b: A.angle.default(i), lambda i, j, b: A.trapezoid.dx(i, dim=0)]),
    "ranked": ((X, torch.tensor([[1.0, 2, 2, 3, 3], [5, 5, 1, 1, 0], [4, 4, 4, 2, 2]])), [lambda x, m: A.mode.default(m), lambda x, m: A.mode.default(m, 0, True), lambda x, m: A.nanmedian.dim(x, 1), lambda x, m: A.quantile.scalar(x, 0.3), lambda x, m: A.quantile.default(x, torch.tensor([0.1, 0.5, 0.9]), 1),
              lambda x, m: A.nanquantile.default(x, torch.tensor([0.25, 1.0]), -1, True)] + [lambda x, m, n=n: A.quantile.scalar(x, 0.4, 2, interpolation=n) for n in ("lower", "higher", "midpoint", "nearest")] + [lambda x, m: A.nanquantile.scalar(x, 0.4, 2, interpolation="nearest")]),
    "lengths": ((X, S), [lambda x, s: A.linalg_norm.default(x, 1, [-1]), lambda x, s: A.linalg_norm.default(s, -1), lambda x, s: A.linalg_norm.default(x, float("inf"), [0, 2], True), lambda x, s: A.linalg_norm.ord_str(s, "fro"), lambda x, s: A.linalg_norm.default(s, dtype=torch.float64),
              lambda x, s: A.linalg_matrix_norm.default(x, 1), lambda x, s: A.linalg_matrix_norm.default(x, -float("inf"), [2, 0]), lambda x, s: A.linalg_matrix_norm.str_ord(x), lambda x, s: A.linalg_vector_norm.default(x, 0, [1]), lambda x, s: A.linalg_vector_norm.default(x, -2, [0, 2], True),
              lambda x, s: A.renorm.default(x, 2, 0, 0.5), lambda x, s: A.renorm.default(x, 1, -1, 1.0), lambda x, s: A.dist.default(x, x[0], 3), lambda x, s: A.dist.default(s, s.t()), lambda x, s: A.pdist.default(s), lambda x, s: A.pdist.default(s, 1.0), lambda x, s: A.linalg_cross.default(x, x + 1, dim=1),
              lambda x, s: A.matrix_power.default(s, 5), lambda x, s: A.linalg_matrix_power.default(s, 0), lambda x, s: A.linalg_diagonal.default(x, offset=1), lambda x, s: A.diagflat.default(s[0], -1)]),
    "slopes": ((X, V), [lambda x, v: A.gradient.scalarint(x), lambda x, v: A.gradient.scalarint(x, spacing=0.5, dim=-1, edge_order=2), lambda x, v: A.gradient.array(x, dim=[1, 2]), lambda x, v: A.gradient.scalarrayarray(x, spacing=[2.0, 0.5], dim=[0, -1]),
              lambda x, v: A.gradient.tensorarrayint(v, spacing=[torch.tensor([0.0, 1, 3, 4, 7])], dim=0, edge_order=2), lambda x, v: A.gradient.tensorarray(x, spacing=[torch.tensor([0.0, 2, 3])], dim=[1]), lambda x, v: A.trapezoid.x(x, torch.tensor([0.0, 1, 3, 4])), lambda x, v: A.trapz.dx(x, dx=0.5, dim=1),
              lambda x, v: A.cumulative_trapezoid.dx(x, dim=0), lambda x, v: A.cumulative_trapezoid.x(v, torch.tensor([0.0, 1, 3, 4, 7]))]),
    "placed": ((S, P, C), [lambda s, p, c, r=r, b=b: A.index_reduce.default(s, 0, torch.tensor([2, 0, 3, 0]), p[0, 0] + s, r, include_self=b) for r in ("prod", "mean", "amax", "amin") for b in (True, False)] + [lambda s, p, c: A.index_reduce.default(p, -1, torch.tensor([3]), p[..., :1], "amax"),
              lambda s, p, c: A.put.default(s, torch.tensor([[1, -1], [4, 0]]), s[:2, :2]), lambda s, p, c: A.put.default(s, torch.tensor([1, 1]), s[0, :2], True), lambda s, p, c: A.searchsorted.Tensor(s.sort(1)[0], s.t().contiguous(), right=True), lambda s, p, c: A.searchsorted.Scalar(s[0].sort()[0], 0.1),
              lambda s, p, c: A.searchsorted.Tensor(s[0], s, sorter=s[0].argsort()), lambda s, p, c: A.bucketize.Scalar(0.1, s[0].sort()[0]), lambda s, p, c: A.max_unpool2d.default(*A.max_pool2d_with_indices.default(c, [2, 2]), [6, 6]), lambda s, p, c: A.fill_diagonal_.default(s.clone(), 3.0)]),
    "scored": ((X, Y), [lambda x, y, n=n, r=r: getattr(A, n).default(x, y, r) for n in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss") for r in (0, 1, 2)] + [lambda x, y: A.smooth_l1_loss.default(x, y, 1, 0.2), lambda x, y: A.smooth_l1_loss.default(x, y, 1, 0.0), lambda x, y: A.huber_loss.default(x, y, 0, 0.3)]),
    "trained": ((torch.cat([C, C * 2 + 1]),), [lambda c: A.native_batch_norm.default(c, None, None, None, None, True, 0.1, 1e-5), lambda c: A._native_batch_norm_legit.no_stats(c, None, None, True, 0.1, 1e-5),
              lambda c: A._native_batch_norm_legit_functional.default(c, c.new_ones(4) * 2, c.new_ones(4), c.new_zeros(4), c.new_ones(4), True, 0.2, 1e-5)]),
}


class Calls(torch.nn.Module):
    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def forward(self, *x):
        return [r for c in self.calls for r in flat(c(*x))]


def flat(r):
    return [r] if isinstance(r, torch.Tensor) else [x for y in r for x in flat(y)]


def fields(name, tensors, folder):
    out = []
    for i, t in enumerate(tensors):
        np.save(f"{folder}/{name}_{i}.npy", t.detach().contiguous().numpy())
        out.append({"shape": list(t.shape), "dtype": str(t.dtype).replace("torch.", ""), "file": f"{name}_{i}.npy"})
    return out


def record(out, family, name, inputs, calls):
    """The calls as one case; those that cannot be exported together, one by one."""
    model, folder = Calls(calls), os.path.join(out, family, name)
    try:
        want = model(*inputs)
        program = torch.export.export(model, tuple(inputs), strict=False)
        ops = {str(n.target): 1 for n in program.graph.nodes if n.op == "call_function"}
        os.makedirs(folder, exist_ok=True)
        torch.export.save(program, f"{folder}/model.pt2")
    except Exception as e:  # noqa: BLE001
        if len(calls) == 1:
            print(f"{family}/{name}: {str(e).splitlines()[0][:160]}", file=sys.stderr)
            return
        for i, call in enumerate(calls):
            record(out, family, f"{name}_{i}", inputs, [call])
        return
    json.dump({"op": family, "case": f"{family}/{name}", "labels": [], "deterministic": True, "torch": torch.__version__, "ops": ops,
               "inputs": fields("input", inputs, folder), "expected": fields("expected", want, folder), "quantized": []}, open(f"{folder}/meta.json", "w"))


if __name__ == "__main__":
    for family, (inputs, calls) in FAMILIES.items():
        for first in range(0, len(calls), 6):
            if len(sys.argv) < 3 or family in sys.argv[2:]:
                record(sys.argv[1], family, f"{family}_{first // 6}", inputs, calls[first:first + 6])
