"""Judge the paper's claims C1 to C13b on the result files.

  python -m cgnn claims --results R --reported paper/reported.yaml [--out R/claims.json]
  python -m cgnn claims --results R --gate                          exit 1 if a claim is not reproduced
  python -m cgnn claims --results R --gate --expect old/claims.json exit 1 if a verdict is worse than before

Prints each claim with its verdict and evidence. A result file that does not exist makes its claims
"not testable here"; a folder without any is an error. The comparisons use one protocol, the first of
(search, released), (published, released), (search, paper), (published, paper) for which there are runs, or
the given one. If other protocols give another verdict, the claim "depends on the protocol".
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
    parser.add_argument("--expect", type=Path, metavar="FILE", help="a claims.json with the expected verdicts")


def run(args: argparse.Namespace) -> int:
    from cgnn.analysis.gate import gate, print_claims
    from cgnn.analysis.tree import check_results
    from cgnn.analysis.verdicts import judge, load_evidence, write_claims
    from cgnn.errors import UserError
    from cgnn.paper.reported import load_reported
    from cgnn.render.catalogue import CLAIMS_INPUTS
    from cgnn.render.inputs import resolve

    if args.results is not None:
        check_results(args.results)
    reference = Path(str(resolve(args, ["reported"])["reported"]))
    inputs = {name: Path(str(path)) for name, path in resolve(args, [], CLAIMS_INPUTS).items()}
    if not inputs:
        raise UserError(f"no results to judge: give --results DIR, or files by --{', --'.join(CLAIMS_INPUTS)}")
    evidence = load_evidence(inputs, load_reported(reference), args.preset, args.source)
    report = judge(evidence, {**inputs, "reported": reference})
    if args.out is not None:
        write_claims(report, args.out)
    print_claims(report)
    return gate(report, args.expect) if args.gate else 0
