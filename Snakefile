"""A reproduction of Continuous Graph Neural Networks, from raw data to tables, figures and claims.

snakemake --cores all                                   the whole paper, as defined in config.yaml
snakemake --cores all --configfile config/quick.yaml    the same in minutes
snakemake --cores all figures                           a part of it
"""

import os
import sys
from pathlib import Path

# A cluster job parses this file again when it starts. It must use the code and the config with which it was
# submitted; the main process copied them and set CGNN_CODE to the copy (cgnn/pipeline/freeze.py).
frozen = Path(os.environ.get("CGNN_CODE", "."))
CODE = frozen if not workflow.is_main_process and (frozen / "cgnn").is_dir() else Path(workflow.basedir)
sys.path.insert(0, str(CODE))


configfile: CODE / "config.yaml"


report: CODE / "workflow/report/workflow.rst"


include: CODE / "workflow/rules/common.smk"
include: CODE / "workflow/rules/data.smk"
include: CODE / "workflow/rules/search.smk"
include: CODE / "workflow/rules/train.smk"
include: CODE / "workflow/rules/profile.smk"
include: CODE / "workflow/rules/analyse.smk"
include: CODE / "workflow/rules/paper.smk"


# data, searches, trainings, runs, sweeps, fidelity, profiles, numbers, tables, figures, report
for target, files in OUT.targets.items():

    rule:
        name:
            target
        input:
            files,


rule all:
    """All results: the tables, figures and documents, and every file that they are made from."""
    default_target: True
    input:
        sum(OUT.targets.values(), []),
    message:
        "everything is made"
