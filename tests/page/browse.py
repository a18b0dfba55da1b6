"""Opens every page and does every act in Chromium; ends with 1 if anything is not as it should be."""

import os
import pathlib
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

import shop

SIZES = ((360, 740), (1440, 900))
SCHEMES = ("light", "dark")
AXE = pathlib.Path(os.environ["AXE"]).read_text()
# Command lines that a card shows more than once.
TWICE = """() => [...document.querySelectorAll("article.group")].flatMap((card) => {
  const words = card.innerText.replaceAll(/\\s+/g, " ");
  const commands = [...card.querySelectorAll(".command")].map((command) => command.innerText.replaceAll(/\\s+/g, " "));
  return commands.map((command) => [command, words.split(command + " ").length - 1]).filter(([, times]) => times > 1);
})"""
# The places where the hours of the stores, and their axis, begin and how wide they are.
EDGES = """() => [...new Set([...document.querySelectorAll(".beat, .scale p")].map((strip) => {
  const box = strip.getBoundingClientRect();
  return Math.round(box.left) + "+" + Math.round(box.width);
}))]"""
# True if the hint of the search is wider than its field.
CUT = """() => {
  const field = document.querySelector(".search input"), style = getComputedStyle(field);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  return pen.measureText(field.placeholder).width > field.clientWidth - 2 * parseFloat(style.paddingLeft);
}"""
PICTURES = pathlib.Path("docs/pages") if os.environ.get("PICTURES") else None
problems = []


def pages(of):
    store = of.stores[0]
    number = of.ask("SELECT key FROM commands WHERE store = ? LIMIT 1", store)[0][0]
    sku = of.ask("SELECT sku FROM erp_prices WHERE store = ? LIMIT 1", store)[0][0]
    return {
        "now": "/",
        "store": f"/lojas/{store}",
        "orders": "/pedidos",
        "dispatch": "/pedidos?list=dispatch",
        "order": f"/pedidos/{number}?store={store}",
        "product": f"/historia/product/{sku}?store={store}",
        "errors": "/erros",
        "cause": "/erros?causa=unknown_sku",
        "queue": "/fila",
        "webhooks": "/webhooks",
        "search": "/busca?q=CAN-00",
        "unknown": "/pedidos/nada",
        "acts": "/acoes",
        "login": "/entrar",
        "ask": "/acao?act=retry&causa=unknown_sku",
        "pause": f"/acao?act=pause&minutes=60&store={store}",
    }


def check(page, name, what):
    """Runs axe, and looks for a page that is wider than the screen."""
    page.evaluate(AXE)
    for violation in page.evaluate("axe.run()")["violations"]:
        nodes = [node["html"][:140] for node in violation["nodes"][:3]]
        problems.append(f"{what}: axe {violation['id']}: {violation['help']}: {nodes}")
    if name == "now":
        for command, times in page.evaluate(TWICE):
            problems.append(f"{what}: a card shows {command!r} {times} times")
        edges = page.evaluate(EDGES)
        if len(edges) != 1:
            problems.append(f"{what}: the hours of the stores and their axis stand at {edges}")
        if page.evaluate(CUT):
            problems.append(f"{what}: the hint of the search is cut")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        problems.append(f"{what}: {wide} pixels wider than the screen")
    if len(page.content().encode()) > 100_000:
        problems.append(f"{what}: {len(page.content().encode())} bytes")


def visit(browser, of, language):
    for width, height in SIZES:
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, locale=language, bypass_csp=False
            )
            page = context.new_page()
            seen = []
            page.on("console", lambda message: seen.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: seen.append(str(error)))
            for name, path in pages(of).items():
                what = f"{name} {width} {scheme} {language}"
                answer = page.goto(of.address + path, wait_until="networkidle")
                expected = 404 if name in ("unknown", "search") else 200
                if answer.status != expected:
                    problems.append(f"{what}: answered {answer.status}")
                # A browser writes a page that is not found on its console.
                problems.extend(f"{what}: console: {line}" for line in seen if "404" not in line)
                seen.clear()
                check(page, name, what)
                if PICTURES and language == "pt-BR":
                    picture(page, name, width, scheme)
            context.close()


def picture(page, name, width, scheme):
    chosen = {("now", 1440, "light"), ("now", 360, "dark"), ("order", 1440, "light"), ("cause", 1440, "dark"), ("ask", 360, "light")}
    if (name, width, scheme) in chosen:
        page.evaluate("document.activeElement.blur()")
        height = 1500 if width == 360 else 1300
        page.set_viewport_size({"width": width, "height": height})
        file = PICTURES / f"{name}-{width}-{scheme}.png"
        page.screenshot(path=str(file))
        # 64 colours are enough for a page, and a fraction of the bytes.
        Image.open(file).convert("RGB").quantize(64).save(file, optimize=True)
        page.set_viewport_size({"width": width, "height": 740 if width == 360 else 900})


def expect(holds, what):
    if not holds:
        problems.append(what)


def act(browser, of):
    """Logs in, gives a group up in two clicks, sees it on record, pauses and resumes a store, and logs out."""
    context = browser.new_context(locale="pt-BR")
    page = context.new_page()
    page.goto(of.address + "/entrar")
    page.fill("#token", "not-a-token-of-anybody")
    page.click("main button[type=submit]")
    expect(page.locator("[role=alert]").count() == 1, "a wrong token is not refused")
    page.fill("#token", shop.OPERATOR)
    page.click("main button[type=submit]")
    page.goto(of.address + "/")
    page.click("text=Desistir >> nth=0")
    expect("/acao?act=ignore" in page.url, f"the button leads to {page.url}")
    page.click("text=Confirmar")
    expect(page.locator(".done").count() == 1, "an act says nothing of its end")
    recorded = of.ask("SELECT actor, act, before, after, count FROM actions ORDER BY id DESC LIMIT 1")
    expect(recorded and recorded[0][:2] == ("ana", "ignore") and recorded[0][4] > 0, f"recorded: {recorded}")
    page.goto(f"{of.address}/acao?act=pause&minutes=60&store={of.stores[2]}")
    page.click("text=Confirmar")
    expect(len(of.ask("SELECT 1 FROM pauses WHERE paused_by = 'ana'")) == 1, "no pause")
    page.goto(f"{of.address}/acao?act=resume&store={of.stores[2]}")
    page.click("text=Confirmar")
    for path in ("/", "/acoes"):
        page.goto(of.address + path)
        check(page, "acting", f"{path} of an operator")
    # A form of another session, and one from another place.
    token = context.request.post(of.address + "/acao", form={"act": "retry", "causa": "x", "csrf": "x"}, headers={"Origin": of.address})
    expect(token.status == 403, f"a wrong csrf token: {token.status}")
    other = context.request.post(of.address + "/acao", form={"act": "retry"}, headers={"Origin": "http://evil.example"})
    expect(other.status == 403, f"a form of another place: {other.status}")
    page.goto(of.address + "/")
    page.click("text=Sair")
    expect(page.locator("text=Sair").count() == 0, "nobody is logged out")
    page.goto(of.address + "/entrar")
    page.fill("#token", shop.VIEWER)
    page.click("main button[type=submit]")
    page.goto(of.address + "/acao?act=retry&causa=unknown_sku")
    expect(page.locator("text=Confirmar").count() == 0, "a viewer may act")
    context.close()


def without_script(browser, of):
    context = browser.new_context(java_script_enabled=False, locale="pt-BR")
    page = context.new_page()
    page.goto(of.address + "/")
    expect(page.locator("h1").count() == 1 and page.locator(".tile").count() == 4, "without a script something is missing")
    page.fill("input[name=q]", "nada-disso")
    page.press("input[name=q]", "Enter")
    expect("/busca?q=nada-disso" in page.url, f"the search leads to {page.url}")
    context.close()


def renews(browser, of):
    """A part of the page changes by itself, without a reload."""
    context = browser.new_context(locale="pt-BR")
    page = context.new_page()
    page.goto(of.address + "/")
    page.evaluate("window.isStill = true")
    before = page.locator("#verdict").get_attribute("data-etag")
    page.wait_for_function("old => document.getElementById('verdict').dataset.etag !== old", arg=before, timeout=30_000)
    expect(page.evaluate("window.isStill") is True, "the page was loaded again")
    context.close()


def loses(browser, of):
    """A page whose service has ended says that nothing is known, and since when: it does not go on looking green."""
    context = browser.new_context(locale="pt-BR")
    page = context.new_page()
    page.goto(of.address + "/")
    icon = page.locator("link[rel=icon]").get_attribute("href")
    of.service.kill()
    of.service.wait(60)
    page.wait_for_function("() => document.title.startsWith('? Estado desconhecido desde ')", timeout=60_000)
    expect(page.locator(".verdict.unknown h1").inner_text().startswith("Estado desconhecido desde "), "the verdict of a dead service")
    expect(page.locator(".verdict .sign").inner_text() == "?", "the sign of a dead service")
    expect(page.locator("link[rel=icon]").get_attribute("href") != icon, "the icon of a dead service")
    expect(page.locator(".stores .state:not(.unknown)").count() == 0, "a store of a dead service looks well")
    context.close()


with shop.Shop() as of, sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"])
    visit(browser, of, "pt-BR")
    visit(browser, of, "en-US")
    without_script(browser, of)
    renews(browser, of)
    act(browser, of)
    loses(browser, of)
    browser.close()
print("\n".join(problems) or "every page and act is as it should be")
sys.exit(1 if problems else 0)
