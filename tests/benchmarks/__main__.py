"""``python -m tests.benchmarks``: mpgraph beside other tools. The other modules here run alone."""

import sys

from tests.benchmarks.peers.command import main

sys.exit(main(sys.argv[1:]))
