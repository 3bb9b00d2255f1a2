"""Run by test_mpi.py under mpirun, by test_sockets.py as several processes: every collective against what its definition says."""

import sys

import facula
import facula.distributed as dist

backend, *options = sys.argv[1:] or ["mpi"]
dist.init_process_group(backend, **({"init_method": options[0], "rank": int(options[1]), "world_size": int(options[2])} if options else {}))
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
t = mine().to(facula.bfloat16) / 3
dist.all_reduce(t)
assert facula.equal(t, sum((mine(r).to(facula.bfloat16) / 3).float() for r in ranks).to(facula.bfloat16))
t = mine().to(facula.bfloat16)
dist.broadcast(t, 1)
assert (facula.bfloat16, mine(1).tolist()) == (t.dtype, t.tolist())
out = [facula.zeros(2, dtype=facula.bfloat16) for _ in ranks]
dist.all_gather(out, mine().to(facula.bfloat16))
assert [mine(r).tolist() for r in ranks] == [o.tolist() for o in out]
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
if backend == "gloo":
    neighbour, out = (rank + 1) % size, [facula.zeros(2), facula.zeros(2)]
    expected = [dist.irecv(t, (rank - 1) % size) for t in out]
    for k in range(2):
        dist.isend(mine() + k, neighbour).wait()
    for work in reversed(expected):  # the order of waiting is not that of arriving
        work.wait()
    assert [(mine((rank - 1) % size) + k).tolist() for k in range(2)] == [t.tolist() for t in out]
    some = dist.new_group([0, size - 1])
    if rank in (0, size - 1):
        t = mine()
        dist.all_reduce(t, group=some)
        dist.broadcast(t, size - 1, group=some)
        assert [1.0 + size, 10.0 * (size - 1)] == t.tolist() and [0, size - 1] == dist.get_process_group_ranks(some)
        assert [0, 1][rank > 0] == dist.get_rank(some) == dist.get_group_rank(some, rank)
    else:
        assert -1 == dist.get_rank(some)
    found = [None] * size if rank == 0 else None
    dist.gather_object(rank, found, 0)
    assert found == (list(ranks) if rank == 0 else None)
    dist.scatter_object_list(found := [None], [str(r) for r in ranks] if rank == 0 else None, 0)
    assert [str(rank)] == found
    t = facula.arange(100000.0) * (rank + 1)
    dist.all_reduce(t)
    assert (facula.arange(100000.0) * sum(r + 1 for r in ranks)).equal(t)
    dist.all_to_all_single(w := facula.zeros(size), facula.arange(float(size)) + 10 * rank)
    assert [10.0 * r + rank for r in ranks] == w.tolist()
dist.barrier()
dist.destroy_process_group()
print("all well", flush=True)
