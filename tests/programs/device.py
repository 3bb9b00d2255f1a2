"""What programs do around training: devices, seeds, compile, precision, autocast that is off, counting parameters, state_dict by hand."""

import os
import random

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
from common import options, report

opt = options(__doc__)
random.seed(opt.seed)
np.random.seed(opt.seed)
torch.manual_seed(opt.seed)
torch.cuda.manual_seed_all(opt.seed)
cudnn.deterministic, cudnn.benchmark = True, False
torch.set_float32_matmul_precision("highest")
device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
kwargs = {"num_workers": 1, "pin_memory": True} if device.type == "cuda" else {}
model = nn.Sequential(nn.Flatten(), nn.Linear(12, 8), nn.ReLU6(), nn.Linear(8, 4)).to(device)
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
assert sum(p.numel() for p in model.parameters() if p.requires_grad) == 12 * 8 + 8 + 8 * 4 + 4
assert tuple(map(int, torch.__version__.split("+")[0].split(".")[:2])) >= (2, 0)
x = torch.from_numpy(np.random.rand(40, 3, 4)).to(device=device, dtype=torch.get_default_dtype(), non_blocking=True)
y = torch.as_tensor(np.arange(40) % 4, device=device)
data = torch.utils.data.TensorDataset(x, y)
train, test = torch.utils.data.random_split(data, [0.75, 0.25], generator=torch.Generator().manual_seed(42))
loader = torch.utils.data.DataLoader(train, batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(3), **kwargs)
optimizer = torch.optim.Adam(model.parameters(), lr=float(os.environ.get("LR", "0.01")))
step = 0
while step < opt.steps:
    model.train()
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad(set_to_none=True)
        output = model(data)
        loss = nn.CrossEntropyLoss()(output, target)
        loss.backward()
        optimizer.step()
        report(loss.cpu().detach().numpy())
        step += 1
        if step >= opt.steps:
            break
model.eval()
total = 0.0
with torch.no_grad():
    for data, target in torch.utils.data.DataLoader(test, batch_size=4):
        total += nn.functional.cross_entropy(model(data), target, reduction="sum").item()
report(total / len(test))
best = {k: v.cpu().clone() for k, v in model.state_dict().items()}
missing = model.load_state_dict({k: v for k, v in best.items() if not k.startswith("3")}, strict=False)
assert sorted(missing.missing_keys) == ["3.bias", "3.weight"] and not missing.unexpected_keys
