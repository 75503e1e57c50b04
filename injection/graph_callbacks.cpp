#include "injection/cupti_session.hpp"
