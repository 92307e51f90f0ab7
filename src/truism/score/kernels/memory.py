"""What earlier rows leave behind, row after row.

Legend: ``t`` row, ``i`` variable, ``n`` how many rows came before it in its series, ``y`` an average.
"""

from truism.score.kernels.compiling import jit


@jit
def recall(evidence, anew, n, rate, cap, high, averages, lasting, found, since):
    """Follow consecutive rows of one series; return how many rows there have been in it by then.

    `anew` says where the series begins again. `averages`, kinds of rows × variables, and `lasting` are
    the state, and are changed; `found` becomes the average after each row, and `since` for how many rows
    it has been above `high`.
    """
    n_rows, n_variables = evidence.shape
    for t in range(n_rows):
        if anew[t]:
            n = 0
            for i in range(n_variables):
                lasting[i] = 0
                for k in range(averages.shape[0]):
                    averages[k, i] = 0.0
        k = n % averages.shape[0]
        for i in range(n_variables):
            y = averages[k, i]
            y += rate * (min(evidence[t, i], cap) - y)
            lasting[i] = lasting[i] + 1 if y > high else 0
            averages[k, i], found[t, i], since[t, i] = y, y, lasting[i]
        n += 1
    return n
