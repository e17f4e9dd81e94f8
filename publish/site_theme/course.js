"use strict";

// Opened as a file, a page may not read other pages: the search then shows titles without excerpts.
if (window.location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// What scrolls sideways can be reached with the keyboard; what does not is no stop on the way.
function markScrollers() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .formula, .output.text_html, .lk")) {
    const scrolls = box.scrollWidth > box.clientWidth && box.clientWidth > 0;
    if (scrolls && !box.hasAttribute("tabindex")) {
      box.setAttribute("tabindex", "0");
      box.dataset.scrolls = "";
    } else if (!scrolls && "scrolls" in box.dataset) {
      box.removeAttribute("tabindex");
      delete box.dataset.scrolls;
    }
  }
}

// Paper has no folds: answers that are folded stay folded, tables of numbers are opened for the print.
function openTables() {
  for (const fold of document.querySelectorAll("details.numbers")) fold.open = true;
}

window.addEventListener("load", markScrollers);
window.addEventListener("resize", markScrollers);
window.addEventListener("beforeprint", openTables);
document.addEventListener("toggle", markScrollers, true);
document.fonts.ready.then(markScrollers);

// The words of the last search stand in the form of the search page.
const words = document.getElementById("words");
if (words) words.value = new URLSearchParams(window.location.search).get("q") || "";
