"""`python -m openenv`: the command line."""

from openenv.cli.__main__ import main

if __name__ == "__main__":
    main()
