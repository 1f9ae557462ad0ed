"""Compile the reproduced paper from its Typst source, its numbers and the figures, in a separate folder."""

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.files import atomic_path, write_text
from cgnn.paper.reported import load_reported
from cgnn.render.paper_data import paper_data


def compile_paper(
    results: Path,
    source: Path,
    reported: Path,
    out: Path,
    *,
    origin: Sequence[str] = (),
    data: Path | None = None,
    png: Path | None = None,
) -> None:
    """Write the PDF and the JSON of its numbers, and a PNG of each page if ``png`` is a folder.

    ``origin`` is printed under the title: the date, the repository and its commit.
    """
    import typst

    if not source.is_file():
        raise UserError(f"{source}: no such file, expected the paper's typst source")
    numbers = paper_data(results, load_reported(reported)) | {"origin": list(origin)}
    content = json.dumps(numbers, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_text(data or out.with_name("paper_data.json"), content)
    with tempfile.TemporaryDirectory(prefix="cgnn-paper-") as name:
        # Typst reads nothing outside its root, so its inputs are copied there.
        folder = Path(name)
        shutil.copy(source, folder / "paper.typ")
        references = source.with_name("references.yml")
        if references.is_file():
            shutil.copy(references, folder / references.name)
        (folder / "data.json").write_text(content, encoding="utf-8")
        (folder / "figures").mkdir()
        for picture in sorted((results / "figures").glob("*.svg")):
            shutil.copy(picture, folder / "figures" / picture.name)
        # Only bundled fonts and no date, so that the same results give the same bytes on any machine.
        options: dict[str, Any] = {"root": str(folder), "ignore_system_fonts": True, "timestamp": 0}
        try:
            with atomic_path(out) as temporary:
                typst.compile(str(folder / "paper.typ"), output=str(temporary), format="pdf", **options)
            if png is not None:
                png.mkdir(parents=True, exist_ok=True)
                pages = typst.compile(str(folder / "paper.typ"), format="png", ppi=110.0, **options)
                for number, page in enumerate(pages if isinstance(pages, list) else [pages], start=1):
                    (png / f"page-{number:02d}.png").write_bytes(page)
        except typst.TypstError as error:
            raise UserError(f"{source}: typst could not compile it ({error})") from error
