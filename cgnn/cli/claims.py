"""Judge the paper's claims C1 to C13 on the result files.

  python -m cgnn claims --results R --reported paper/reported.yaml [--out R/claims.json]
  python -m cgnn claims --results R --gate                          exit 1 if a claim is not reproduced
  python -m cgnn claims --results R --gate --expect old/claims.json exit 1 if a verdict is worse than there

Prints each claim with its verdict and evidence. A result file that is not there makes its claims
"not testable"; it is no error. The comparisons use one protocol, the first of (search, released),
(published, released), (search, paper), (published, paper) that the runs hold, or the one given.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from cgnn.render.catalogue import CLAIMS_INPUTS
    from cgnn.render.inputs import add_input_arguments

    add_input_arguments(parser, (*CLAIMS_INPUTS, "reported"))
    parser.add_argument("--preset", metavar="NAME", help="fidelity preset whose runs are judged")
    parser.add_argument("--source", metavar="NAME", help="origin of hyperparameters: search or published")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write claims.json here")
    parser.add_argument("--gate", action="store_true", help="exit 1 on a verdict that does not pass")
    parser.add_argument("--expect", type=Path, metavar="FILE", help="a claims.json with the verdicts to hold")


def run(args: argparse.Namespace) -> int:
    from cgnn.analysis.gate import gate, print_claims
    from cgnn.analysis.verdicts import judge, load_evidence, write_claims
    from cgnn.paper.reported import load_reported
    from cgnn.render.catalogue import CLAIMS_INPUTS
    from cgnn.render.inputs import resolve

    reported = load_reported(str(resolve(args, ["reported"])["reported"]))
    evidence = load_evidence(resolve(args, [], CLAIMS_INPUTS), reported, args.preset, args.source)
    report = judge(evidence)
    if args.out is not None:
        write_claims(report, args.out)
    print_claims(report)
    return gate(report, args.expect) if args.gate else 0
