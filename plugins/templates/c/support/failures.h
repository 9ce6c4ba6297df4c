// What kind of failure a CLI's words tell of.
#pragma once
#include "json.h"
#include "plugin.h"

// The failure: category, a sentence for the client, the words as detail, and when to try again if they say it. Hand over what
// came on the CLI's error channel only: what the assistant says is never an error. Valid until the end of the call.
exports_agent_failure_t classify(text said);
