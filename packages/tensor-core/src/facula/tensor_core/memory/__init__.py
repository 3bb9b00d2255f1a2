"""What tensors look into and how it comes and goes: storages, sharing, resizing, Python's data, NumPy, DLPack, copies."""
