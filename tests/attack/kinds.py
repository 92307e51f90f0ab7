"""Every kind of attack; a new one joins here."""

from attack import (
    determinism,
    exports,
    faults,
    files,
    jobs,
    kills,
    mutations,
    names,
    retyping,
    signals,
    streams,
    surroundings,
    tables,
    writers,
)

KINDS = (
    tables.KIND,
    files.KIND,
    retyping.KIND,
    mutations.KIND,
    jobs.KIND,
    kills.KIND,
    faults.KIND,
    signals.KIND,
    writers.KIND,
    streams.KIND,
    names.KIND,
    exports.KIND,
    surroundings.KIND,
    determinism.KIND,
)
