"use strict";
// The page can be read without this; with it the table of hosts can be searched and sorted.
const table = document.getElementById("hosts"), body = table.tBodies[0], rows = Array.from(body.rows);
const form = document.getElementById("find"), words = document.getElementById("words");
const status = document.getElementById("status"), shown = document.getElementById("shown");
let texts;
form.hidden = false;
function say(number) {
  shown.textContent = number + " of " + rows.length + " hosts are shown";
}
function find() {
  texts ||= rows.map(row => row.textContent.toLowerCase());
  const parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let number = 0;
  rows.forEach((row, at) => {
    const fits = (!status.value || row.dataset.v === status.value) && parts.every(part => texts[at].includes(part));
    row.hidden = !fits;
    number += fits;
  });
  say(number);
}
form.addEventListener("submit", event => event.preventDefault());
words.addEventListener("input", find);
status.addEventListener("change", find);
const order = new Intl.Collator(undefined, {numeric: true});
table.tHead.querySelectorAll("th").forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    table.tHead.querySelectorAll("th").forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sorted = rows.map(row => [row.cells[column].textContent, row]);
    sorted.sort((one, other) => order.compare(one[0], other[0]) * (down ? -1 : 1));
    body.append(...sorted.map(pair => pair[1]));
  });
});
addEventListener("beforeprint", () => rows.length <= 500 && table.querySelectorAll("details").forEach(each => { each.open = true; }));
say(rows.length);
