"""pandas, where it is there."""


def frame(rows, fields):
    try:
        import pandas
    except ImportError:
        raise ImportError("frame() needs pandas; the rows themselves are named tuples in a list") from None
    return pandas.DataFrame(rows, columns=fields)
