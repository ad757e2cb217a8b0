// Sprite files on their way to the relay, and the departures that wait for them.
//
// A sprite crosses once the relay has its file. Invariant: a file is uploaded at most once at a
// time, and every departure that waits for it shares that upload.
// Cost: O(log files) a call.
#ifndef CLIENT_WIN_CORE_RELAY_UPLOADS_H_
#define CLIENT_WIN_CORE_RELAY_UPLOADS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/motion/sprite.h"
#include "core/relay/batch.h"
#include "core/relay/request.h"

namespace sprites {

constexpr size_t kFilesAtRelayMax = 1024;  // files remembered; a forgotten one is uploaded again

class Uploads {
 public:
  // What came of an upload that departures waited for.
  struct Result {
    std::vector<Departure> departures;
    bool is_at_relay = false;
    Problem problem;  // why it is not
  };

  bool IsAtRelay(const std::string& file) const { return at_relay_.contains(file); }
  void MarkAtRelay(const std::string& file);
  // The relay may be another one now, or may have lost its files.
  void ForgetFilesAtRelay() { at_relay_.clear(); }

  // Whether as many departures wait for this file as there may be.
  bool IsFull(const std::string& file) const;
  // Makes a departure wait for its file. Returns the request that uploads it, or nothing when the
  // upload is under way already.
  std::optional<Request> Add(const Departure& departure, const std::string& relay,
                             const std::string& token);
  // The response to the upload of this file.
  Result HandleResponse(const std::string& file, const Response& response);

  std::vector<Departure> Waiting() const;
  std::vector<Departure> PopWaiting();

 private:
  std::map<std::string, std::vector<Departure>> waiting_;  // by file
  std::set<std::string> at_relay_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_UPLOADS_H_
