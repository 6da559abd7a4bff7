"""How findings about articles begin."""


def at(place: str) -> str:
    """Return where it stands, before what is said of it; nothing where an article tells no place."""
    return f"{place}: " if place else ""
