"""Run by test_mpi.py under mpirun: every collective against what its definition says."""

import facula
import facula.distributed as dist

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
ranks = range(size)


def mine(r=rank):
    return facula.tensor([r + 1.0, 10.0 * r])


t = mine()
dist.all_reduce(t)
assert [sum(r + 1.0 for r in ranks), sum(10.0 * r for r in ranks)] == t.tolist()
t = mine()
dist.all_reduce(t, op=dist.ReduceOp.AVG)
assert sum(r + 1.0 for r in ranks) / size == t[0].item()
t = mine().to(facula.float16)
dist.all_reduce(t, op=dist.ReduceOp.MAX)
assert [size, 10 * (size - 1)] == t.tolist()
t = mine()
dist.reduce(t, 1)
assert (sum(r + 1.0 for r in ranks) if rank == 1 else rank + 1.0) == t[0].item()
t = mine()
dist.broadcast(t, 1)
assert mine(1).tolist() == t.tolist()
out = [facula.zeros(2) for _ in ranks]
dist.all_gather(out, mine())
assert [mine(r).tolist() for r in ranks] == [o.tolist() for o in out]
out = [facula.zeros(2) for _ in ranks]
dist.all_to_all(out, [mine() + 100 * r for r in ranks])
assert [(mine(r) + 100 * rank).tolist() for r in ranks] == [o.tolist() for o in out]
t = facula.zeros(2)
dist.scatter(t, [mine(r) for r in ranks] if rank == 0 else None, 0)
assert mine().tolist() == t.tolist()
t = facula.zeros(2)
dist.reduce_scatter(t, [mine(r) for r in ranks])
assert (mine() * size).tolist() == t.tolist()
found = [None] * size
dist.all_gather_object(found, {"rank": rank})
assert [{"rank": r} for r in ranks] == found
if rank == 0:
    dist.send(mine(), 1, tag=3)
elif rank == 1:
    t = facula.zeros(2)
    assert 0 == dist.recv(t, tag=3)
    assert mine(0).tolist() == t.tolist()
dist.barrier()
dist.destroy_process_group()
print("all well", flush=True)
