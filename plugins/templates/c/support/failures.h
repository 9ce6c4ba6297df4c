// The category of a failure, from a CLI's error text.
#pragma once
#include "json.h"
#include "plugin.h"

// The failure: category, a message for the client, the text as detail, and a retry hint if there is one. Pass only
// text from the CLI's error channel: text of the assistant is never an error. Valid until the end of the call.
exports_agent_failure_t classify(text said);
