"""What rounding leaves open of a printed figure."""


def half_a_digit(printed: float) -> float:
    """Return half a unit in the last digit of a figure as it was printed; zeros at its end are not seen."""
    _, _, decimals = f"{printed:.12f}".rstrip("0").partition(".")
    return float(0.5 * 10.0 ** -len(decimals))
