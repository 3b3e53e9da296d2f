"""Which tests run where, and as whom."""

import os
import sys

import pytest

from openenv.runtime.confine import FEATURES
from openenv.runtime.confine.features import NAMESPACES

confining = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's"),
    pytest.mark.timeout(100),
]
as_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="becoming other users takes root"
)
both = pytest.mark.parametrize("who", [pytest.param("root", marks=as_root), "user"])
"""Run by root, and by anybody else."""
everywhere = pytest.mark.parametrize("without", ["", ",".join(NAMESPACES), ",".join(FEATURES)])
"""With all features, without namespaces, and with none."""
