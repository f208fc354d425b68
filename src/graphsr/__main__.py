"""python -m graphsr"""

from graphsr.cli import main

main()
