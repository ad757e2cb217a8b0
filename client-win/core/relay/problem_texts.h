// What a problem of the relay means for the person, in their language.
#ifndef CLIENT_WIN_CORE_RELAY_PROBLEM_TEXTS_H_
#define CLIENT_WIN_CORE_RELAY_PROBLEM_TEXTS_H_

#include <string>

#include "core/relay/batch.h"
#include "core/relay/request.h"
#include "core/text/texts.h"

namespace sprites {

// A sentence about `problem`: from the table of texts if its code is known, otherwise its title.
std::string SayProblem(Language language, const Problem& problem);

// The same about a saying that was refused.
std::string SaySayingProblem(Language language, const Problem& problem);

// Why the relay at this host can't be reached.
std::string SayUnreachable(Language language, CertificateFault fault, const std::string& host);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_PROBLEM_TEXTS_H_
