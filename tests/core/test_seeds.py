"""A seed is a hash of its purpose."""

from hypothesis import given
from hypothesis import strategies as st

from cgnn.seeds import derive_seed

PARTS = st.lists(st.one_of(st.integers(0, 99), st.text("abc0123456789", max_size=3)), min_size=1, max_size=4)


def test_a_seed_never_changes():
    assert derive_seed("cora", "fixed", "cgnn", 3, "dropout") == 1_608_901_162_470_784_495


@given(PARTS)
def test_a_seed_fits_every_generator(parts):
    assert 0 <= derive_seed(*parts) < 2**63


@given(PARTS, PARTS)
def test_different_purposes_have_different_seeds(first, second):
    assert (derive_seed(*first) == derive_seed(*second)) == (first == second)


def test_a_number_and_its_digits_are_different_purposes():
    assert derive_seed("a", 1) != derive_seed("a", "1")
    assert derive_seed("ab", "c") != derive_seed("a", "bc")
