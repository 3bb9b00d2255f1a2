"""The levels of the instruction set that this machine has; the highest is on."""

from facula.tensor_core._lib import lib

LEVELS = [level for level in (2, 3, 4) if lib.fc_set_isa_level(level) == 0]
