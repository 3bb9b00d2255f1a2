"""No gradients: k-means, nearest neighbours, principal components by power iteration, a histogram - tensors as an array library."""

import torch
from common import options, report

opt = options(__doc__)
centres = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]])
points = torch.cat([c + 0.5 * torch.randn(20, 2) for c in centres])[torch.randperm(60)]
means = points[:3].clone()
for _ in range(6):
    nearest = torch.cdist(points, means).argmin(dim=1)
    counts = torch.bincount(nearest, minlength=3).clamp(min=1)
    means = torch.zeros_like(means).index_add_(0, nearest, points) / counts[:, None]
    report(means.sum())
values, indices = torch.cdist(points, points).topk(4, dim=1, largest=False)
votes = nearest[indices[:, 1:]].mode(dim=1).values
report((votes == nearest).sum())
report(values[:, 1:].mean())
centred = points - points.mean(0, keepdim=True)
covariance = torch.einsum("ni,nj->ij", centred, centred) / (len(points) - 1)
vector = torch.ones(2)
for _ in range(20):
    vector = covariance @ vector
    vector /= vector.norm()
report(vector.abs().sum())
report(torch.dot(vector, covariance.mv(vector)))
kinds, inverse, number = torch.unique((points * 2).round().long(), dim=0, return_inverse=True, return_counts=True)
report(number[inverse].sum())
report(torch.histc(points[:, 0], bins=5).std())
ordered, order = points[:, 1].sort(descending=True)
report((ordered.cumsum(0) / torch.arange(1, 61)).max())
report(torch.searchsorted(ordered.flip(0).contiguous(), torch.tensor([0.0, 2.5])).sum())
report(torch.quantile(points, 0.25, dim=0).sum() + points.median() + points.kthvalue(3, dim=0).values.sum())
report(torch.where(points > 1, points, torch.tensor(0.0)).count_nonzero())
report(torch.tril(points[:4] @ points[:4].T).trace() + torch.outer(points[0], points[1]).sum() + torch.kron(points[:2], torch.eye(2)).sum())
report(points.roll(3, 0).diff(dim=0).abs().amax() + points.var(0, unbiased=False).prod() + torch.tensordot(points, points, 2))
