"""The linear solve: y = argmin of data term + graph term + prior, differentiable in all that goes in.

`problem` is what goes in, `solve` the public functions, `gradient` the differentiable operation, `iteration` and
`stopping` conjugate gradients for either of the `backends`.
"""

from graphsr.solver.matrix import Backend, Matrix, set_up
from graphsr.solver.problem import Problem
from graphsr.solver.solve import Solution, solve, solve_problem

__all__ = ["Backend", "Matrix", "Problem", "Solution", "set_up", "solve", "solve_problem"]
