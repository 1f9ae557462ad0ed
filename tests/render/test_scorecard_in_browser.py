"""The page in a headless Chromium: no errors and no requests; links, filters, dialogs and the keyboard work."""

import io
import json
import re
import shutil
from contextlib import contextmanager

import pandas as pd
import pytest
from scorecard_tree import PLOTS, SEARCH, chosen

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--force-prefers-reduced-motion", "--no-first-run", "--disable-dev-shm-usage"),
)


@pytest.fixture(scope="module")
def browser(page):
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed (apt-get install chromium chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(120)
    driver.get(page.as_uri())
    yield driver
    driver.quit()


def shown(browser, selector):
    return [node for node in browser.find_elements("css selector", selector) if node.is_displayed()]


def scroll_and_click(browser, node):
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", node)
    node.click()


def set_value(browser, selector, value, event):
    script = "const node = document.querySelector(arguments[0]); node.value = arguments[1];"
    browser.execute_script(f"{script} node.dispatchEvent(new Event(arguments[2]))", selector, value, event)


def wait(browser, reached, otherwise):
    """Wait, because a page learns of a new colour scheme or size only with the next frame."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda _: reached(), otherwise)


def test_the_page_loads_without_console_messages_or_network_requests(browser, page):
    assert browser.get_log("browser") == []
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [item["params"]["request"]["url"] for item in sent if item["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if not url.startswith("data:")] == [page.as_uri()]


def test_every_figure_is_displayed(browser, page):
    widths = browser.execute_script("return [...document.querySelectorAll('.picture img')].map((i) => i.naturalWidth)")
    assert len(widths) == len(list((page.parent / "figures").glob("*.svg"))) and all(widths)


def test_claims_are_filtered_by_verdict_and_by_words(browser):
    assert len(shown(browser, ".claim")) == 14
    chip = next(chip for chip in shown(browser, ".chip") if chip.text.startswith("partly"))
    scroll_and_click(browser, chip)
    visible = shown(browser, ".claim")
    assert 0 < len(visible) < 14
    assert all(claim.get_attribute("data-verdict") == "partly" for claim in visible)
    assert len(visible) == int(chip.find_element("tag name", "b").text)
    shown(browser, ".chip")[0].click()
    words = browser.find_element("id", "claim-text")
    words.send_keys("residual")
    assert [claim.get_attribute("id") for claim in shown(browser, ".claim")] == ["C12"]
    words.send_keys("xyz")
    assert shown(browser, "#no-claims")
    set_value(browser, "#claim-text", "", "input")
    assert len(shown(browser, ".claim")) == 14


def test_a_click_on_a_cell_shows_exactly_its_rows(browser, page):
    table = json.loads((page.parent / "tables" / "fixed_splits.json").read_text())
    row = next(i for i, row in enumerate(table["rows"]) if row["label"] == "CGNN")
    cell = browser.find_element("css selector", f'.cell[data-table="fixed_splits"][data-row="{row}"][data-column="0"]')
    scroll_and_click(browser, cell)
    assert shown(browser, "#rows")
    assert browser.find_element("id", "rows-title").text.startswith("CGNN, Cora")
    lines = browser.find_elements("css selector", "#rows-table tbody tr")
    assert len(lines) == table["rows"][row]["cells"][0]["numbers"]["n"]
    heads = [head.text for head in browser.find_elements("css selector", "#rows-table th")]
    values = [line.find_elements("tag name", "td")[heads.index("test accuracy")].text for line in lines]
    assert all(re.fullmatch(r"\d+\.\d", value) for value in values)
    numbers = table["rows"][row]["cells"][0]["numbers"]
    assert sum(map(float, values)) / len(values) == pytest.approx(numbers["value"], abs=0.01)
    summary = f"test accuracy: mean {numbers['value']:.1f}, standard deviation {numbers['std']:.1f}"
    assert browser.find_element("css selector", "#rows-strip p").text == summary
    note = browser.find_element("id", "rows-note").text
    assert "model = cgnn" in note and "variant" not in note  # the variant is empty
    browser.find_element("css selector", "#rows form button").click()
    assert not shown(browser, "#rows")


def test_columns_that_vary_come_first_and_constant_ones_are_in_one_list(browser):
    cell = browser.find_element("css selector", '.cell[data-table="fixed_splits"]')
    browser.execute_script("arguments[0].click()", cell)
    heads = [head.text for head in browser.find_elements("css selector", "#rows-table th")]
    assert heads[:2] == ["replica", "test accuracy"]
    assert "dataset" not in heads and "model" not in heads
    assert "best test epoch (not a valid protocol)" in heads and "test, last epoch" in heads
    browser.find_element("css selector", "#rows-same summary").click()
    assert {"dataset", "model"} <= {item.text for item in shown(browser, "#rows-same dt")}
    browser.execute_script("document.querySelector('#rows').close()")


def open_cell(browser, table, column, row=0):
    """Open a selectable cell of this column and return the head and the first line of the dialog's table."""
    script = """
        const [table, column, row] = arguments;
        const heads = [...document.querySelectorAll(`#table-${table} thead th`)].map((head) => head.textContent);
        const cells = `.cell[data-table="${table}"][data-column="${heads.indexOf(column) - 1}"]`;
        document.querySelectorAll(cells)[row].click();
        const line = (part) =>
          [...document.querySelector(`#rows-table ${part} tr`).children].map((cell) => cell.textContent);
        const found = [line("thead"), line("tbody"), document.querySelector("#rows-title").textContent];
        document.querySelector("#rows").close();
        return found;
        """
    return browser.execute_script(script, table, column, row)


@pytest.mark.parametrize(("column", "name"), [("lr", "learning rate"), ("input dropout",) * 2, ("t₁", "t₁")])
def test_a_hyperparameter_is_the_first_column_of_its_dialog(browser, column, name):
    heads, values, title = open_cell(browser, "hyperparameters", column)
    assert heads[0] == name
    shown = float(title.rpartition(": ")[2].replace("−", "-"))
    assert float(values[0]) == pytest.approx(shown, rel=0.01)


def test_the_validation_of_a_search_opens_its_trials_with_the_winner_first(browser):
    heads, values, title = open_cell(browser, "hyperparameters", "validation")
    assert values[heads.index("mean validation, round two")] == title.rpartition(": ")[2]


def test_a_cell_of_another_epoch_shows_the_accuracy_at_that_epoch(browser, page):
    table = json.loads((page.parent / "tables" / "fidelity.json").read_text())
    row = max(i for i, row in enumerate(table["rows"]) if row["label"] == "last epoch")
    cell = browser.find_element("css selector", f'.cell[data-table="fidelity"][data-row="{row}"]')
    browser.execute_script("arguments[0].click()", cell)
    mean = table["rows"][row]["cells"][0]["numbers"]["value"]
    assert browser.find_element("css selector", "#rows-strip p").text.startswith(f"test, last epoch: mean {mean:.1f}")
    browser.execute_script("document.querySelector('#rows').close()")


def test_a_cell_that_was_not_run_cannot_be_selected(browser):
    missing = browser.find_elements("xpath", "//td[contains(., 'not run')]")
    assert missing and not any(cell.find_elements("tag name", "button") for cell in missing)


def test_selectable_cells_are_underlined(browser):
    cell = browser.find_element("css selector", ".cell > span")
    assert "underline" in cell.value_of_css_property("text-decoration-line")
    assert cell.value_of_css_property("text-decoration-style") == "dotted"


def test_a_cell_can_be_opened_and_closed_with_the_keyboard(browser):
    from selenium.webdriver.common.keys import Keys

    cell = browser.find_element("css selector", '.cell[data-table="fixed_splits"]')
    browser.execute_script("arguments[0].focus()", cell)
    cell.send_keys(Keys.ENTER)
    assert shown(browser, "#rows")
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait(browser, lambda: not shown(browser, "#rows"), "Escape did not close the dialog")
    assert browser.switch_to.active_element == cell


def test_the_keyboard_moves_between_the_trials_of_a_search(browser):
    from selenium.webdriver.common.keys import Keys

    plot = browser.find_element("id", "search-scatter")
    before = browser.find_element("id", "search-trial").text
    browser.execute_script("arguments[0].focus()", plot)
    plot.send_keys(Keys.ARROW_LEFT)
    plot.send_keys(Keys.ARROW_LEFT)
    after = browser.find_element("id", "search-trial").text
    assert after.startswith("Trial ") and after != before


@pytest.mark.parametrize("claim", ["C1", "C4", "C13b"])
def test_an_opened_claim_has_the_full_width_and_is_not_cut_off(browser, claim):
    measured = browser.execute_script(
        """
        const claim = document.getElementById(arguments[0]), before = claim.clientWidth;
        claim.querySelector("details").open = true;
        const scroll = claim.querySelector(".scroll");
        const found = [before, claim.clientWidth, document.querySelector(".claims").clientWidth, scroll.scrollWidth,
                       scroll.clientWidth];
        claim.querySelector("details").open = false;
        return found;
        """,
        claim,
    )
    before, width, available, needed, given = measured
    assert before < width and available - width < 10
    assert needed <= given


def test_a_link_to_a_closed_table_opens_it(browser):
    browser.execute_script(
        "document.querySelector('#table-fixed_splits').open = false; location.hash = '#table-fixed_splits'"
    )
    wait(
        browser,
        lambda: browser.execute_script("return document.querySelector('#table-fixed_splits').open"),
        "the table stayed closed",
    )


def test_no_text_is_smaller_than_13_pixels(browser):
    small = browser.execute_script(
        """
        for (const closed of document.querySelectorAll("details")) closed.open = true;
        const found = new Set();
        for (const node of document.querySelectorAll("body *:not(script):not(title)"))
          if ([...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())
              && parseFloat(getComputedStyle(node).fontSize) < 13) found.add(node.tagName + "." + node.className);
        return [...found];
        """
    )
    assert small == []


def test_learning_rates_have_a_log_axis(browser):
    set_value(browser, "#search-parameter", "lr", "change")
    plot = browser.find_element("id", "search-scatter").text
    assert "learning rate (log axis)" in plot and "validation accuracy in round one (%)" in plot


def test_hyperparameters_have_readable_names_in_the_search_plots(browser):
    options = [option.text for option in browser.find_elements("css selector", "#search-parameter option")]
    assert options == ["learning rate", "t₁", "α", "γ"]
    assert "learning rate" in browser.find_element("id", "search-parallel").text
    assert "t₁ " in browser.find_element("id", "search-trial").text


@pytest.mark.parametrize("share", [100, 5])
def test_the_winner_of_round_two_is_marked_in_both_plots(browser, page, share):
    set_value(browser, "#search-name", " · ".join(SEARCH.values()), "change")
    set_value(browser, "#search-share", share, "input")
    trials = pd.read_csv(page.parent / "trials.csv")
    winner = trials[chosen(trials, SEARCH) & (trials["mean"] == 99.0)]["trial"].min()
    for plot in ("#search-scatter circle", "#search-parallel path"):
        best = browser.find_elements("css selector", f"{plot}.best")
        assert [node.get_attribute("data-trial") for node in best] == [str(winner)]
    assert browser.find_element("id", "search-trial").text.startswith(f"Trial {winner} (winner)")
    orange = browser.execute_script(
        "return ['#search-scatter .best', '#search-parallel .best'].map((name) => document.querySelector(name))"
        ".map((node) => getComputedStyle(node)[node.tagName === 'path' ? 'stroke' : 'fill'])"
    )
    assert orange == ["rgb(213, 94, 0)"] * 2
    set_value(browser, "#search-share", 100, "input")


def test_only_existing_plots_of_orion_are_linked(browser, page):
    def links():
        return [link.get_attribute("href") for link in browser.find_elements("css selector", "#search-orion a")]

    set_value(browser, "#search-name", " · ".join(SEARCH.values()), "change")
    folder = page.parent.joinpath("search", *SEARCH.values(), "plots")
    assert links() == [(folder / f"{name}.html").as_uri() for name in PLOTS]
    set_value(browser, "#search-name", " · ".join((SEARCH | {"model": "gcn"}).values()), "change")
    assert links() == [] and not shown(browser, "#search-orion")
    set_value(browser, "#search-name", " · ".join(SEARCH.values()), "change")


def test_every_selectable_cell_shows_rows(browser):
    empty = browser.execute_script(
        """
        const bad = [];
        for (const button of document.querySelectorAll(".cell")) {
          button.click();
          const found = document.querySelectorAll("#rows-table tbody tr").length;
          if (!found) bad.push(Object.values(button.dataset).join(" "));
          document.querySelector("#rows").close();
        }
        return bad;
        """
    )
    assert empty == []


def test_search_plots_react_to_their_controls(browser):
    def count():
        return len(browser.find_elements("css selector", "#search-scatter circle"))

    before = count()
    assert before > 10
    set_value(browser, "#search-share", 20, "input")
    assert 0 < count() < before
    browser.execute_script("document.querySelector('#search-scatter circle').dispatchEvent(new Event('mouseenter'))")
    assert browser.find_element("id", "search-trial").text.startswith("Trial ")
    assert browser.find_elements("css selector", "#search-parallel path.on")


def test_the_theme_follows_the_system_and_the_button(browser):
    def background():
        return browser.execute_script("return getComputedStyle(document.body).backgroundColor")

    light = background()
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    wait(browser, lambda: background() != light, "the page did not turn dark with the system")
    browser.execute_script("window.scrollTo({top: 0, behavior: 'instant'})")
    browser.find_element("id", "theme").click()
    assert background() == light
    # Scrollbars and sliders follow the page, not the system.
    assert browser.execute_script("return getComputedStyle(document.documentElement).colorScheme") == "light"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@contextmanager
def window(browser, width):
    """A window of this width; below 600 pixels, the screen of a phone."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wait(browser, lambda: browser.execute_script("return window.innerWidth") == width, f"no window {width} wide")
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_the_page_never_scrolls_horizontally(browser, width):
    with window(browser, width):
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_an_enlarged_figure_is_larger_than_in_the_page(browser, width):
    with window(browser, width):
        sizes = browser.execute_script(
            """
            const enlarged = document.querySelector("#enlarged"), wide = (image) => image.getBoundingClientRect().width;
            return [...document.querySelectorAll(".picture")].map((picture) => {
              picture.click();
              const found = [wide(picture.querySelector("img")), wide(enlarged.querySelector("img"))];
              enlarged.close();
              return found;
            });
            """
        )
    assert sizes and all(large > 1.2 * small for small, large in sizes)


def test_row_labels_stay_in_view_and_accuracies_on_one_line_on_a_phone(browser):
    with window(browser, 390):
        moved, heights = browser.execute_script(
            """
            const table = document.querySelector("#table-fixed_splits");
            table.open = true;
            const scroll = table.querySelector(".scroll"), label = table.querySelector("tbody th[scope=row]");
            const before = label.getBoundingClientRect().left;
            scroll.scrollLeft = 200;
            const moved = [scroll.scrollLeft, label.getBoundingClientRect().left - before];
            scroll.scrollLeft = 0;
            const cells = [...table.querySelectorAll("td span:not(.missing)")];
            return [moved, [...new Set(cells.map((cell) => cell.getClientRects().length))]];
            """
        )
    assert moved[0] > 50 and abs(moved[1]) < 20
    assert heights == [1]


def test_a_shade_marks_the_edge_of_a_table_that_scrolls_further(browser):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    script = """
        const scroll = document.querySelector("#table-fixed_splits .scroll");
        document.querySelector("#table-fixed_splits").open = true;
        scroll.scrollIntoView({block: "center", behavior: "instant"});
        scroll.scrollLeft = arguments[0];
        """

    def edge(position):
        """The distinct colours of a row of pixels at the right edge, in the space above the name of a group."""
        browser.execute_script(script, position)
        line = browser.find_element("css selector", "#table-fixed_splits tr.group")
        shown = browser.find_element("css selector", "#table-fixed_splits .scroll")
        box, frame = line.rect, shown.rect
        pixels = image.open(io.BytesIO(shown.screenshot_as_png)).convert("RGB")
        row = round(box["y"] - frame["y"]) + 5
        return {pixels.getpixel((x, row)) for x in range(pixels.width - 12, pixels.width - 2)}

    with window(browser, 390):
        assert len(edge(0)) > 3
        assert len(edge(9999)) == 1
        browser.execute_script(script, 0)


def test_a_narrow_window_says_that_figures_can_be_enlarged(browser):
    script = "return getComputedStyle(document.querySelector('.picture'), '::after').content"
    with window(browser, 390):
        assert browser.execute_script(script) == '"tap or click to enlarge"'


@pytest.mark.parametrize("width", [360, 1280])
def test_names_of_axes_do_not_touch(browser, width):
    with window(browser, width):
        overlaps, lines = browser.execute_script(
            """
            document.querySelector("#search-name").dispatchEvent(new Event("change"));
            const names = [...document.querySelectorAll("#search-parallel text:not(.tick)")];
            const boxes = names.map((name) => name.getBBox());
            const touch = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < a.height - 1;
            const found = boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => touch(a, b)));
            return [found.length, new Set(names.map((name) => name.getAttribute("y"))).size];
            """
        )
    assert overlaps == 0
    assert lines == 1 or width < 1280


def test_heading_and_navigation_start_at_the_same_place_and_the_button_is_round(browser):
    script = "return arguments[0].map((name) => document.querySelector(name).getBoundingClientRect().toJSON())"
    for width in (390, 1280):
        with window(browser, width):
            heading, link, button = browser.execute_script(script, ["h1", "nav a", "#theme"])
        assert heading["left"] == pytest.approx(link["left"], abs=0.5)
        assert button["width"] == pytest.approx(button["height"], abs=0.5)


def test_figures_change_their_text_color_with_the_theme(page, browser):
    """Every figure has text in the one color that the page replaces; it replaces no other color."""
    light, dark, again = browser.execute_script(
        """
        const read = () => [...document.querySelectorAll(".picture.themed img")].map((image) => image.src);
        const light = read();
        document.querySelector("#theme").click();
        const dark = read();
        document.querySelector("#theme").click();
        return [light, dark, read()];
        """
    )
    assert light == again and len(light) == len(list((page.parent / "figures").glob("*.svg")))
    assert all("%23333333" in source for source in light)
    assert all("%23333333" not in source for source in dark)
    assert [source.replace("%23333333", "%23d9dde0") for source in light] == dark


def test_the_theme_does_not_wait_for_the_data(browser, page):
    never = {"source": "Response.prototype.text = () => new Promise(() => {})"}
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", never)
    browser.get(page.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.theme") == "light"
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    browser.get(page.as_uri())


def test_no_test_above_caused_a_console_message(browser):
    assert browser.get_log("browser") == []
