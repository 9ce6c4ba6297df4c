// The plugin: how {{name}}-cli is started, and what its output means. It has no access to the machine: text goes in,
// values come out. wit/agent.wit defines the values; a variant such as `event` is { tag, val } here, and a missing option is
// null.
//
// Change the places with comments, and keep four rules: text of the answer is returned once, even if the CLI repeats it; the
// grouping of the output into calls makes no difference; unknown output is skipped; nothing throws.

import { classify } from "./failures.js";

const PROGRAM = "{{name}}-cli";

// Describes the plugin. Every call must return the same value.
function describe() {
  return {
    id: "{{name}}", // `driver` in proxy.toml
    name: "{{name}}",
    version: "0.1.0",
    programs: [PROGRAM], // the host starts no other program
    framing: "lines", // whole lines; "text" delivers output as printed
    // Declare only what the CLI supports: the host relies on it.
    features: { partial: true, tools: true, resume: true, modelChoice: true, readOnly: true },
    models: [],
    // How to check an installed CLI, such as versionArgs: ["--version"].
    probe: { versionArgs: [], testedVersions: "", installHint: "", loginHint: "" },
    home: null,
  };
}

// Builds the command line of a turn, without the prompt, which `begin` writes to standard input. Choose flags with which the
// CLI never waits for a person.
function prepare(turn) {
  const args = [];
  if (turn.model !== null) args.push("--model", value("--model", turn.model));
  if (turn.session !== null) args.push("--resume", value("--resume", turn.session));
  if (turn.permission === "read-only") args.push("--read-only");
  return { program: PROGRAM, args, env: [], files: [] };
}

// A value that the CLI could take for an option is refused.
function value(option, text) {
  if (text !== "" && !text.startsWith("-")) return text;
  throw failure("validation", `\`${text}\` cannot be the value of ${option}: it is empty or starts with a dash`);
}

// The state of one process. Add the fields that you need between two calls.
class Transcript {
  #error = null; // the last error event

  constructor(_turn) {}

  // Writes the prompt to standard input, which is then closed.
  begin(turn) {
    return [event("reply", turn.prompt), event("end-input")];
  }

  // Reads whole lines, one or more. The host keeps the tail of standard error for failures.
  output(source, text) {
    return source === "stdout" ? text.split("\n").flatMap((line) => this.#read(line)) : [];
  }

  // Reads one line. Add the events of your CLI here.
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
      case "done": // the turn is over, regardless of what the process does next
        return [event("done", finished())];
      default: // unknown: formats change
        return [];
    }
  }

  // The outcome of a process that has ended. It counts only if there was no `done`.
  exit(how) {
    if (how.tag === "killed") return failed(killed(how.val));
    if (how.tag === "code" && how.val === 0) {
      return failed(failure("unknown", `${PROGRAM} ended before it had finished its turn`));
    }
    return failed(this.#error === null ? failure("unknown", "CLI failed") : told(this.#error));
  }
}

// The CLI's error event as a failure. The category determines retry, fallback and the HTTP status.
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
    default: // text only
      return classify(message);
  }
}

// The message for a process that the host ended.
function killed(reason) {
  switch (reason) {
    case "timeout":
    case "idle":
      return failure("timeout", `${PROGRAM} took too long and was stopped`);
    default:
      return failure("unknown", `${PROGRAM} was stopped: ${reason}`);
  }
}

// The host replaces an empty detail with standard error.
function failure(category, message, detail = "", retry = null) {
  return { category, message, detail, retry };
}

function finished() {
  return { stop: "end-turn", failure: null, answer: null };
}

function failed(failure) {
  return { stop: "end-turn", failure, answer: null };
}

// The tokens of the run so far: a later record replaces an earlier one.
function usage(said) {
  return { scope: "run", input: count(said.input), cachedInput: 0, cacheWrite: 0, output: count(said.output), reasoning: 0 };
}

function event(tag, val) {
  return { tag, val };
}

// Fields that are missing or have another type count as absent.
function object(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

function string(field) {
  // JSON can contain a lone surrogate, which the host would refuse.
  return typeof field === "string" ? field.toWellFormed() : "";
}

function count(field) {
  return Number.isSafeInteger(field) && field > 0 ? field : 0;
}

export const agent = { describe, prepare, Transcript };
