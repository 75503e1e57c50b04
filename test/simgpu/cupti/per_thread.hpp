// One T for each thread, made when it is first asked for and destroyed when the thread ends.
//
// Not a thread_local T: that is destroyed on the main thread before its exit handlers run, which
// may still make CUDA calls. A key's destructor runs for threads that end, and the main thread's T
// lives as long as the process.
#pragma once

#include <pthread.h>

namespace gprofml::simgpu::cupti {

template <typename T>
class PerThread {
 public:
  static T& get() {
    if (mine_ == nullptr) {
      mine_ = new T;
      pthread_setspecific(key(), mine_);
    }
    return *mine_;
  }

 private:
  static void end(void* object) {
    mine_ = nullptr;
    delete static_cast<T*>(object);
  }

  static pthread_key_t key() {
    static const pthread_key_t made = [] {
      pthread_key_t new_key{};
      pthread_key_create(&new_key, end);
      return new_key;
    }();
    return made;
  }

  static inline thread_local T* mine_ = nullptr;
};

}  // namespace gprofml::simgpu::cupti
