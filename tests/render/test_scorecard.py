"""The page in a headless Chromium: no errors and no requests; links, filters, dialogs and the keyboard work."""

import base64
import gzip
import json
import re
import shutil

import pandas as pd
import pytest
import synthetic_results as synthetic

from cgnn.__main__ import main

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--force-prefers-reduced-motion", "--no-first-run", "--disable-dev-shm-usage"),
)


def write_scorecard(results):
    page = results / "index.html"
    options = ["--results", str(results), "--reported", str(synthetic.REPORTED), "--out", str(page)]
    assert main(["scorecard", *options]) in (0, None)
    return page


@pytest.fixture(scope="session")
def page(finished):
    return write_scorecard(finished)


def test_the_page_is_one_file_that_loads_no_other(page):
    text = page.read_text()
    assert len(text.encode()) < 3_000_000
    assert not re.findall(r'(?:src=|<link[^>]*href=)"(?!data:)', text)  # nothing is loaded; links are for the reader
    assert "default-src 'none'" in text


def test_the_page_links_to_the_pdf_the_paper_and_the_data(page):
    links = re.findall(r'<a href="([^"#][^"]*)"', page.read_text())
    assert {"paper.pdf", "https://arxiv.org/abs/1912.00967", "runs.csv", "claims.json"} <= set(links)
    for link in links:
        if not link.startswith("https:") and link != "paper.pdf" and not link.endswith("README.md"):
            assert (page.parent / link).is_file(), link


def test_every_link_inside_the_page_has_its_target(page):
    text = page.read_text()
    targets = set(re.findall(r' id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= targets


def test_claims_link_to_tables_and_figures_and_back(page):
    text = page.read_text()
    claim = text[text.index('id="C1"') : text.index('id="C2"')]
    assert 'href="#table-fixed_splits"' in claim
    table = text[text.index('id="table-fixed_splits"') : text.index('id="table-random_splits"')]
    assert 'href="#C1"' in table
    claim = text[text.index('id="C5"') : text.index('id="C6"')]
    assert 'href="#figure-accuracy_depth_time"' in claim
    figure = text[text.index('id="figure-accuracy_depth_time"') :]
    assert 'href="#C5"' in figure[: figure.index("</figure>")]


def test_the_page_can_be_written_from_an_almost_empty_results_tree(tmp_path):
    synthetic.rows("cora", "cgnn", [80.0, 81.0]).to_csv(tmp_path / "runs.csv", index=False)
    assert "The claims were not judged" in write_scorecard(tmp_path).read_text()


def test_a_small_budget_is_a_preview_without_verdicts(finished, tmp_path):
    tree = shutil.copytree(finished, tmp_path / "small")
    runs = pd.read_csv(tree / "runs.csv")
    runs[runs["replica"] < 3].assign(epochs=40).to_csv(tree / "runs.csv", index=False)
    text = write_scorecard(tree).read_text()
    assert "preview: 40 epochs, 3 seeds" in text
    assert 'class="verdict"' not in text and "data-verdict" not in text.split("<script")[0]
    assert 'class="findings"' not in text


def test_data_cannot_end_its_script_element():
    from cgnn.render.scorecard import _for_script

    packed = _for_script({"a": "</script><b>"})
    assert "<" not in packed
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == {"a": "</script><b>"}


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
    values = [float(line.find_elements("tag name", "td")[heads.index("test accuracy")].text) for line in lines]
    assert sum(values) / len(values) == pytest.approx(table["rows"][row]["cells"][0]["numbers"]["value"], abs=0.01)
    browser.find_element("css selector", "#rows form button").click()
    assert not shown(browser, "#rows")


def test_columns_that_vary_come_first_and_constant_ones_are_in_one_list(browser):
    cell = browser.find_element("css selector", '.cell[data-table="fixed_splits"]')
    browser.execute_script("arguments[0].click()", cell)
    heads = [head.text for head in browser.find_elements("css selector", "#rows-table th")]
    assert heads[:2] == ["replica", "test accuracy"]
    assert "dataset" not in heads and "model" not in heads
    browser.find_element("css selector", "#rows-same summary").click()
    assert {"dataset", "model"} <= {item.text for item in shown(browser, "#rows-same dt")}
    browser.execute_script("document.querySelector('#rows').close()")


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


def test_an_opened_claim_has_the_full_width_and_is_not_cut_off(browser):
    measured = browser.execute_script(
        """
        const claim = document.querySelector("#C1"), before = claim.clientWidth;
        claim.querySelector("details").open = true;
        const scroll = claim.querySelector(".scroll");
        const found = [before, claim.clientWidth, document.querySelector(".claims").clientWidth, scroll.scrollWidth,
                       scroll.clientWidth];
        claim.querySelector("details").open = false;
        return found;
        """
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
    assert "lr (log axis)" in browser.find_element("id", "search-scatter").text


def test_cells_of_every_table_show_rows(browser):
    empty = browser.execute_script(
        """
        const bad = [];
        const all = [...document.querySelectorAll(".cell")];
        const first = all.filter((cell, i) => i === 0 || cell.dataset.table !== all[i - 1].dataset.table);
        for (const button of [...first, ...all.filter((_, i) => i % 25 === 0)]) {
          button.click();
          const found = document.querySelectorAll("#rows-table tbody tr").length;
          const missing = button.querySelector(".missing");
          if (!found && !missing) bad.push(Object.values(button.dataset).join(" "));
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
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_the_page_never_scrolls_horizontally(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wait(browser, lambda: browser.execute_script("return window.innerWidth") == width, f"no window {width} wide")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_figures_change_their_text_color_with_the_theme(page, browser):
    """The page replaces the text color of the figures and no other color."""
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
    themed = [path for path in (page.parent / "figures").glob("*.svg") if "#333333" in path.read_text()]
    assert light == again and len(light) == len(themed)
    assert all("%23333333" not in source for source in dark)
    assert [source.replace("%23333333", "%23d9dde0") for source in light] == dark


def test_no_test_above_caused_a_console_message(browser):
    assert browser.get_log("browser") == []
