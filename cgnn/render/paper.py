"""The reproduced paper: the typst source, all its numbers, and the figures, compiled in a folder of their own."""

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
    """Write the PDF and the JSON of its numbers; ``png`` also gets a picture of each page.

    ``origin`` is what stands under the title: the date, the repository and its commit.
    """
    import typst

    if not source.is_file():
        raise UserError(f"{source}: no such file, expected the paper's typst source")
    numbers = paper_data(results, load_reported(reported)) | {"origin": list(origin)}
    content = json.dumps(numbers, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_text(data or out.with_name("paper_data.json"), content)
    with tempfile.TemporaryDirectory(prefix="cgnn-paper-") as name:
        # typst reads nothing outside its root, so what it needs is gathered there.
        folder = Path(name)
        shutil.copy(source, folder / "paper.typ")
        references = source.with_name("references.yml")
        if references.is_file():
            shutil.copy(references, folder / references.name)
        (folder / "data.json").write_text(content, encoding="utf-8")
        (folder / "figures").mkdir()
        for picture in sorted((results / "figures").glob("*.svg")):
            shutil.copy(picture, folder / "figures" / picture.name)
        # Only the fonts inside the package and no date: the same results give the same bytes anywhere.
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
