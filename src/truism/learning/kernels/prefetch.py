"""Asking memory for what will be needed soon; for the compiled loops alone.

A node of a tree and the rows of a predicate lie scattered in tables that no cache holds. Waiting for
each row in turn takes several times as long as the work on it, and the larger the table the longer:
learning time would grow faster than the number of rows. Numba has no such function, LLVM has.
"""

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload


def prefetch(cells, i):
    """Ask for a cell and go on (this body runs only when compilation is switched off)."""


@overload(prefetch)
def _compiled_prefetch(cells, i):  # noqa: ARG001
    return lambda cells, i: _prefetch(cells, i)


@intrinsic
def _prefetch(typing, cells, i):  # noqa: ARG001
    def emit(context, builder, signature, arguments):
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        cell = cgutils.get_item_pointer(context, builder, kind, array, arguments[1:])
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        called = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        request = builder.module.declare_intrinsic("llvm.prefetch", [address], called)
        to_read, keep, data = number(0), number(3), number(1)
        builder.call(request, [builder.bitcast(cell, address), to_read, keep, data])
        return context.get_dummy_value()

    return numba.void(cells, numba.intp), emit
