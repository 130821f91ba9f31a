"""pass@k is the share of choices of k samples with a match."""

from itertools import combinations, product

import pytest

from harness.labs.predict.passes import ks, pass_at


@pytest.mark.parametrize("samples", range(1, 8))
def test_it_is_the_share_of_choices_with_a_match(samples: int) -> None:
    for matches, k in product(range(samples + 1), range(1, samples + 1)):
        marks = [place < matches for place in range(samples)]
        choices = [any(choice) for choice in combinations(marks, k)]
        assert pass_at(k, matches, samples) == pytest.approx(sum(choices) / len(choices), abs=1e-12)


@pytest.mark.parametrize(("k", "matches", "samples"), [(0, 1, 2), (3, 1, 2), (1, 3, 2), (1, -1, 2)])
def test_numbers_that_do_not_fit_are_refused(k: int, matches: int, samples: int) -> None:
    with pytest.raises(ValueError, match=f"pass@{k} of {matches} in {samples}"):
        pass_at(k, matches, samples)


@pytest.mark.parametrize(("samples", "shown"), [(1, [1]), (2, [1, 2]), (4, [1, 2, 4]), (10, [1, 2, 5, 10])])
def test_tables_show_some_k_and_all_samples(samples: int, shown: list[int]) -> None:
    assert list(ks(samples)) == shown
