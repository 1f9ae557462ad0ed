"""Statistics of the results, and the tests of the paper's claims."""
