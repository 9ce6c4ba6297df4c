// The plugin: how {{name}}-cli is started, and what its output means. It touches nothing of the machine: text comes in,
// values go out. What each value means is said in wit/agent.wit; a variant such as `event` is { tag, val } here, and an
// option that is not there is null.
//
// Change what the comments point at, and keep four rules: text of the answer is given once, however often the CLI repeats
// it; how the output is grouped into calls makes no difference; what is not understood is skipped; nothing throws.

import { classify } from "./failures.js";

const PROGRAM = "{{name}}-cli";

// Says what the plugin is for. The same at every call.
function describe() {
  return {
    id: "{{name}}", // `driver` in proxy.toml
    name: "{{name}}",
    version: "0.1.0",
    programs: [PROGRAM], // nothing else can be started
    framing: "lines", // whole lines; "text" gives the output as it comes
    // Claim what is so, and leave out the rest: the host relies on it.
    features: { partial: true, tools: true, resume: true, modelChoice: true, readOnly: true },
    models: [],
    // How to find out about an installed CLI, such as versionArgs: ["--version"].
    probe: { versionArgs: [], testedVersions: "", installHint: "", loginHint: "" },
    home: null,
  };
}

// Makes the command line of a turn. The prompt does not belong into it: `begin` writes it to standard input. Choose flags
// with which the CLI never waits for a person.
function prepare(turn) {
  const args = [];
  if (turn.model !== null) args.push("--model", value("--model", turn.model));
  if (turn.session !== null) args.push("--resume", value("--resume", turn.session));
  if (turn.permission === "read-only") args.push("--read-only");
  return { program: PROGRAM, args, env: [], files: [] };
}

// A value that a CLI could take for an option of its own is refused.
function value(option, text) {
  if (text !== "" && !text.startsWith("-")) return text;
  throw failure("validation", `\`${text}\` cannot be the value of ${option}: it is empty or begins with a dash`);
}

// One process and what it says. Keep here what must be remembered between two calls.
class Transcript {
  #error = null; // what the CLI said on its error channel last

  constructor(_turn) {}

  // The prompt goes to standard input, which is then closed.
  begin(turn) {
    return [event("reply", turn.prompt), event("end-input")];
  }

  // Whole lines, one or many. The host keeps the end of standard error for the report of a failure.
  output(source, text) {
    return source === "stdout" ? text.split("\n").flatMap((line) => this.#read(line)) : [];
  }

  // What one line means. Put the events of your CLI here.
  #read(line) {
    const said = object(line);
    switch (said.type) {
      case "session":
        return [event("session", string(said.id))];
      case "text":
        return [event("text", string(said.text))];
      case "tool":
        return [event("tool-call", { id: string(said.id), name: string(said.name), input: JSON.stringify(said.input ?? {}) })];
      case "result":
        return [event("tool-result", { id: string(said.id), output: string(said.output), isError: said.is_error === true })];
      case "usage":
        return [event("usage", usage(said))];
      case "error":
        this.#error = said;
        return [];
      case "done": // the turn is over, whatever the process does after it
        return [event("done", finished())];
      default: // formats change
        return [];
    }
  }

  // The process ended: the verdict, which counts only if no `done` came.
  exit(how) {
    if (how.tag === "killed") return failed(killed(how.val));
    if (how.tag === "code" && how.val === 0) {
      return failed(failure("unknown", `${PROGRAM} ended before it had finished its turn`));
    }
    return failed(this.#error === null ? failure("unknown", "CLI failed") : told(this.#error));
  }
}

// The CLI's error event as a failure. The category decides about retry, fallback and the HTTP status.
function told(error) {
  const message = string(error.message);
  switch (error.kind) {
    case "rate_limit": {
      const seconds = count(error.retry_after);
      const retry = seconds > 0 ? { tag: "after-ms", val: seconds * 1000 } : null;
      return failure("rate-limit", "The provider's rate limit is reached", message, retry);
    }
    case "login":
      return failure("authentication", `${PROGRAM} is not logged in`, message);
    default: // told in words only
      return classify(message);
  }
}

// Why the host ended the process, in words for the client.
function killed(reason) {
  switch (reason) {
    case "timeout":
    case "idle":
      return failure("timeout", `${PROGRAM} took too long and was stopped`);
    default:
      return failure("unknown", `${PROGRAM} was stopped: ${reason}`);
  }
}

// An empty detail lets the host put the end of standard error there.
function failure(category, message, detail = "", retry = null) {
  return { category, message, detail, retry };
}

function finished() {
  return { stop: "end-turn", failure: null, answer: null };
}

function failed(failure) {
  return { stop: "end-turn", failure, answer: null };
}

// The tokens of the run so far: a later record takes the place of an earlier one.
function usage(said) {
  return { scope: "run", input: count(said.input), cachedInput: 0, cacheWrite: 0, output: count(said.output), reasoning: 0 };
}

function event(tag, val) {
  return { tag, val };
}

// Fields that are missing or of another type are simply not there.
function object(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

function string(field) {
  // JSON may name half a character, which is none: the host would not take it.
  return typeof field === "string" ? field.toWellFormed() : "";
}

function count(field) {
  return Number.isSafeInteger(field) && field > 0 ? field : 0;
}

export const agent = { describe, prepare, Transcript };
