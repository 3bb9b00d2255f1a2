"""The wheel's build hook: compiles csrc and puts the library, _ops.py and the types in the wheel."""

import re
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def platform_of(library):
    """Where the library loads: on systems whose glibc is as new as what it calls (PEP 600), else where it was built."""
    calls = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", library.read_bytes())]
    if calls and sysconfig.get_platform() == "linux-x86_64":
        return f"manylinux_2_{max(calls)}_x86_64"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


class NativeBuildHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        here = Path(self.root)
        sys.path.insert(0, str(here))
        import build_native

        # in a checkout csrc is the packages' neighbour; in an sdist it came along
        root = next((r for r in (here, here.parent.parent) if (r / "csrc/include/facula_api.h").is_file()), None)
        if root is None:
            raise FileNotFoundError(f"facula-tensor-core: no csrc beside {here} or two folders above. Build from a checkout or an sdist.")
        package = here / "src/facula/tensor_core"
        editable = version == "editable"
        target = package if editable else build_native.own_folder()  # the sources may be where nothing can be written
        try:
            build_native.build(root, package, target, strip=not editable, warned=print)
        except build_native.CompileError as error:  # which says what to do: without the way through hatchling and pip
            sys.exit(f"facula-tensor-core: {error}")

        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{platform_of(target / build_native.LIBRARY)}"  # cffi's limited API: one wheel for every CPython from 3.10
        if not editable:
            for name in build_native.MADE:
                build_data["force_include"][str(target / name)] = f"facula/tensor_core/{name}"
