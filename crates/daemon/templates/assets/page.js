// Renews the parts of a page that have changed, and copies command lines. Every page works without it.
(() => {
  "use strict";
  const body = document.body;
  const words = body.dataset;
  const open = (part) => [...part.querySelectorAll("details[open]")].map((box) => box.id);

  const addCopyButtons = (within) => {
    for (const command of within.querySelectorAll(".command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = words.copy;
      button.setAttribute("aria-label", words.copy + ": " + command.textContent.slice(0, 200));
      command.after(button);
    }
  };

  const copy = async (text, source) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // A page that is not on loopback nor behind TLS has no clipboard: the old way.
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const source = button.previousElementSibling;
    await copy(source.textContent, source);
    button.textContent = words.copied;
    setTimeout(() => { button.textContent = words.copy; }, 1500);
  });

  // Somebody who reads or writes in a part keeps it as it is.
  const isInUse = (part) => {
    const selection = getSelection();
    const selects = !selection.isCollapsed && part.contains(selection.anchorNode);
    return selects || (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea, button"));
  };

  // Returns whether the page is now as the answer is: a part in use is left out.
  const swap = (text) => {
    let isWhole = true;
    const fresh = new DOMParser().parseFromString(text, "text/html");
    for (const part of fresh.querySelectorAll("[data-etag]")) {
      const old = document.getElementById(part.id);
      if (!old || old.dataset.etag === part.dataset.etag) continue;
      if (isInUse(old)) {
        isWhole = false;
        continue;
      }
      const boxes = open(old);
      const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      old.replaceChildren(...part.childNodes);
      old.dataset.etag = part.dataset.etag;
      addCopyButtons(old);
      for (const box of boxes) document.getElementById(box)?.setAttribute("open", "");
      if (focused) [...old.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === focused)?.focus();
    }
    document.title = fresh.title;
    const icon = document.querySelector("link[rel=icon]");
    icon.href = fresh.querySelector("link[rel=icon]").href;
    return isWhole;
  };

  let tag = null;
  let heard = Date.now();

  // Says in a part that nothing is known; the next answer replaces all of it.
  const forget = (part, change) => {
    for (const old of document.querySelectorAll(part)) {
      change(old);
      delete old.closest("[data-etag]")?.dataset.etag;
    }
  };

  // A page that gets no answer must not go on looking green: since the last answer nothing is known.
  const lose = (isLost) => {
    const said = document.getElementById("lost");
    if (isLost === !said.hidden) return;
    said.hidden = !isLost;
    said.textContent = isLost ? words.lost : "";
    body.classList.toggle("is-lost", isLost);
    if (!isLost) return;
    tag = null;
    const unknown = words.unknown + " " + new Date(heard).toLocaleTimeString(document.documentElement.lang);
    document.title = "? " + unknown;
    document.querySelector("link[rel=icon]").href = words.unknownIcon;
    forget(".verdict", (verdict) => {
      verdict.className = "verdict unknown";
      verdict.querySelector(".sign").textContent = "?";
      verdict.querySelector("h1").textContent = unknown;
    });
    forget(".stores .state", (state) => {
      state.className = "state unknown";
      state.textContent = "?";
    });
  };

  // A hidden page asks once a minute: its title and icon are seen all the same.
  let asked = Date.now();
  let isAsking = false;
  const renew = async () => {
    if (isAsking || (document.hidden && Date.now() - asked < 60000)) return;
    [asked, isAsking] = [Date.now(), true];
    const patience = new AbortController();
    const end = setTimeout(() => patience.abort(), 10000);
    try {
      const headers = tag ? { "If-None-Match": tag } : {};
      const answer = await fetch(location.href, { headers, signal: patience.signal, cache: "no-store", redirect: "error" });
      if (answer.status !== 200 && answer.status !== 304) throw new Error(String(answer.status));
      if (answer.status === 200) {
        // Without its tag the next answer is whole again, and brings what was left out.
        tag = swap(await answer.text()) ? answer.headers.get("ETag") : null;
      }
      heard = Date.now();
      lose(false);
    } catch {
      lose(true);
    } finally {
      clearTimeout(end);
      isAsking = false;
    }
  };

  addCopyButtons(document);
  const seconds = Number(words.renew);
  if (seconds > 0) {
    setInterval(renew, seconds * 1000);
    document.addEventListener("visibilitychange", renew);
  }
})();
