"""The scorecard in a real headless Chromium: no errors, no requests, filter and drill-down work."""

import json
import re
import shutil

import made_up
import pytest

from cgnn.__main__ import main

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-dev-shm-usage",
)


@pytest.fixture(scope="session")
def page(finished):
    assert main(
        [
            "scorecard",
            "--results",
            str(finished),
            "--reported",
            str(made_up.REPORTED),
            "--out",
            str(finished / "index.html"),
        ]
    ) in (0, None)
    return finished / "index.html"


def test_the_page_is_one_file_without_addresses_of_others(page):
    text = page.read_text()
    assert len(text.encode()) < 3_000_000
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    assert "default-src 'none'" in text


def test_an_almost_empty_results_tree_still_gives_a_page(tmp_path):
    made_up.rows("cora", "cgnn", [80.0, 81.0]).to_csv(tmp_path / "runs.csv", index=False)
    assert main(
        [
            "scorecard",
            "--results",
            str(tmp_path),
            "--reported",
            str(made_up.REPORTED),
            "--out",
            str(tmp_path / "index.html"),
        ]
    ) in (0, None)
    assert "The claims were not judged" in (tmp_path / "index.html").read_text()


def test_data_cannot_end_its_script_element():
    from cgnn.render.scorecard import _for_script

    assert "</script>" not in _for_script({"a": "</script><b>"})
    assert json.loads(_for_script({"a": "</script>"})) == {"a": "</script>"}


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


def wait(browser, reached, otherwise):
    """The browser tells a page of a new colour scheme or size with its next frame, not at once."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda _: reached(), otherwise)


def test_it_loads_without_console_messages_or_network_requests(browser, page):
    assert browser.get_log("browser") == []
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [item["params"]["request"]["url"] for item in sent if item["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if not url.startswith("data:")] == [page.as_uri()]


def test_every_figure_is_drawn(browser, page):
    widths = browser.execute_script("return [...document.querySelectorAll('.picture img')].map((i) => i.naturalWidth)")
    assert len(widths) == len(list((page.parent / "figures").glob("*.svg"))) and all(widths)


def test_claims_are_filtered_by_verdict_and_by_words(browser):
    assert len(shown(browser, ".claim")) == 14
    chip = next(chip for chip in shown(browser, ".chip") if chip.text.startswith("partly"))
    chip.click()
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
    browser.execute_script("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", words)
    assert len(shown(browser, ".claim")) == 14


def test_a_cell_opens_exactly_the_rows_behind_it(browser, page):
    table = json.loads((page.parent / "tables" / "fixed_splits.json").read_text())
    row = next(i for i, row in enumerate(table["rows"]) if row["label"] == "CGNN")
    cell = browser.find_element("css selector", f'.cell[data-table="fixed_splits"][data-row="{row}"][data-column="0"]')
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", cell)
    cell.click()
    assert shown(browser, "#rows")
    assert browser.find_element("id", "rows-title").text.startswith("CGNN, Cora")
    lines = browser.find_elements("css selector", "#rows-table tbody tr")
    assert len(lines) == table["rows"][row]["cells"][0]["numbers"]["n"]
    heads = [head.text for head in browser.find_elements("css selector", "#rows-table th")]
    values = [float(line.find_elements("tag name", "td")[heads.index("test accuracy")].text) for line in lines]
    assert sum(values) / len(values) == pytest.approx(table["rows"][row]["cells"][0]["numbers"]["value"], abs=0.01)
    browser.find_element("css selector", "#rows form button").click()
    assert not shown(browser, "#rows")


def test_cells_of_every_table_find_rows(browser):
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


def test_search_plots_answer_to_their_controls(browser):
    def count():
        return len(browser.find_elements("css selector", "#search-scatter circle"))

    before = count()
    assert before > 10
    browser.execute_script(
        "const s = document.querySelector('#search-share'); s.value = 20; s.dispatchEvent(new Event('input'))"
    )
    assert 0 < count() < before
    browser.execute_script("document.querySelector('#search-scatter circle').dispatchEvent(new Event('mouseenter'))")
    assert browser.find_element("id", "search-trial").text.startswith("Trial ")
    assert browser.find_elements("css selector", "#search-parallel path.on")


def test_dark_and_light_follow_the_system_and_the_button(browser):
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
def test_no_width_scrolls_sideways(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wait(browser, lambda: browser.execute_script("return window.innerWidth") == width, f"no window {width} wide")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_was_logged_in_the_end(browser):
    assert browser.get_log("browser") == []
