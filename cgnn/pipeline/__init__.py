"""From the config to the jobs of the workflow: plan, fingerprints, provenance, status, cost, publishing."""
