"""A graph network whose graph is a sparse matrix: COO joined and made symmetric, CSR multiplied, rows chosen, edges that are learned."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import options, report

opt = options(__doc__)
n = 30
source, target = torch.randint(0, n, (2, 80))
links = torch.sparse_coo_tensor(torch.stack([source, target]), torch.ones(80), (n, n)).coalesce()
links = (links + links.t()).coalesce()
degree = torch.sparse.sum(links, 1).to_dense().clamp(min=1)
scale = degree.pow(-0.5)
rows, columns = links.indices()
adjacency = torch.sparse_coo_tensor(links.indices(), links.values() * scale[rows] * scale[columns], (n, n)).coalesce().to_sparse_csr()

first, second = nn.Linear(6, 12), nn.Linear(12, 3)
weights = nn.Parameter(torch.ones(links._nnz()))
x, labels = torch.randn(n, 6), torch.arange(n) % 3
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters(), weights], lr=0.01)
for _ in range(opt.steps):
    h = F.relu(first(adjacency @ x))
    learned = torch.sparse_coo_tensor(links.indices(), weights, (n, n))
    loss = F.cross_entropy(torch.sparse.mm(learned, second(h)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
report(weights.norm())
report(links.index_select(0, torch.tensor([0, 3, 5])).to_dense().sum())
report(torch.cat([links, links], 1)[2].to_dense().norm())
