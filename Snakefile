"""Continuous Graph Neural Networks, rebuilt: from bytes on the network to tables, figures and claims.

snakemake --cores all                                   the whole paper, as config.yaml states it
snakemake --cores all --configfile config/quick.yaml    the same in minutes
snakemake --cores all figures                           a part of it
"""

import os
import sys
from pathlib import Path

# A cluster's job parses this file again when its turn comes: it must see the code and the config that it
# was submitted with, which the main process froze and named in CGNN_CODE (cgnn/pipeline/freeze.py).
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
    """Everything: what a reader of the paper would look at, and every file it was made from."""
    default_target: True
    input:
        sum(OUT.targets.values(), []),
    message:
        "everything is made"
