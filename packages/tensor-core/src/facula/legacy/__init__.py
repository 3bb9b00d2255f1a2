"""The old nn and optim, each brought by its part. This file ships with facula-tensor-core alone."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
