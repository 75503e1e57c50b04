#include "injection/cupti_session.hpp"
#include "injection/recorder.hpp"
namespace gprofml::injection {
bool CuptiSession::flush_everything(std::int64_t) {
  return true;
}
void start_cupti(Recorder&) {}
}  // namespace gprofml::injection
