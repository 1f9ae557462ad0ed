"""The jobs of a config: plan, fingerprints, provenance, status, cost, publishing."""
