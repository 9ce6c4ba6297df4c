// The category of a failure, from a CLI's error text. Pass only text from its error channel: text of the
// assistant is never an error, regardless of its words.

import { TABLE } from "./failure-table.js";

// Words that mark a number as an HTTP status: `port 500` and `429 tokens` are not.
const BEFORE = ["http", "status", "code", "error", "err", "response", "returned", "received", "rejected", "failed", "got", "with"];
const UNITS = ["ms", "s", "sec", "seconds", "minutes", "tokens", "characters", "bytes", "lines", "times"];

const RATE_LIMIT_MS = 1000;
const QUOTA_MS = 60000;
const BURST_MS = 120000;

// The failure: category, a message for the client, the text as detail, and a retry hint if there is one.
export function classify(said) {
  const detail = said.slice(0, 16384).toWellFormed();
  const words = spaced(detail);
  const wait = waitOf(detail);
  const has = (phrase) => words.includes(` ${phrase}`);
  const row = TABLE.find(
    ([, , statuses, phrases, burstOnly]) =>
      (!burstOnly || (wait !== null && wait <= BURST_MS)) &&
      (phrases.some(has) || statuses.some((status) => isStatus(words, status))),
  );
  const [category, message] = row ?? ["unknown", "CLI failed"];
  const ms = retryOf(category, wait);
  return { category, message, detail, retry: ms === null ? null : { tag: "after-ms", val: ms } };
}

// Letters and digits in lower case, everything else as one space; camelCase is two words.
function spaced(text) {
  const parted = text.replace(/\\[nrt"\\]/g, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return ` ${parted.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim()} `;
}

function isStatus(words, status) {
  const all = words.trim().split(" ");
  return all.some(
    (word, at) =>
      word === String(status) &&
      (at === 0 || BEFORE.includes(all[at - 1]) || all.slice(Math.max(0, at - 3), at).includes("http")) &&
      !UNITS.includes(all[at + 1]),
  );
}

// "try again in 20s", "retry after 2m 30s", "resets in 3 hours": the milliseconds, or null.
function waitOf(text) {
  const told = /\b(?:again|retry|wait|resets?|available)\w*(?: (?:in|after|for|about))*[ :=]*((?:\d+(?:\.\d+)? ?(?:ms|s|sec|m|min|h|hr|d)[a-z]*[ ,]*)+)/i.exec(text);
  if (told === null) return null;
  const size = { ms: 1, s: 1e3, sec: 1e3, m: 60e3, min: 60e3, h: 3600e3, hr: 3600e3, d: 86400e3 };
  let ms = 0;
  for (const [, number, unit] of told[1].matchAll(/(\d+(?:\.\d+)?) ?(ms|sec|s|min|m|hr|h|d)/gi)) {
    ms += Number(number) * size[unit.toLowerCase()];
  }
  return Math.round(ms);
}

function retryOf(category, wait) {
  if (category === "rate-limit") return wait ?? RATE_LIMIT_MS;
  if (category === "quota") return wait !== null && wait >= QUOTA_MS ? wait : null;
  return category === "server" || category === "timeout" ? wait : null;
}
