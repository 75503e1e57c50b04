// Included in front of every source of the shipped library: binds the C library's functions that
// moved or changed since to the version every system has, so that a library built here loads on a
// system as old as glibc 2.17. What has no old version (gettid, getrandom, fstat) goes through
// syscall(). A test reads the symbol versions of the result.
#pragma once

#if defined(__x86_64__)
#define GPROFML_BIND(function) __asm__(".symver " #function "," #function "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define GPROFML_BIND(function) __asm__(".symver " #function "," #function "@GLIBC_2.17")
#else
#error "The oldest GLIBC version of this machine is not known here"
#endif

GPROFML_BIND(dladdr);
GPROFML_BIND(dlerror);
GPROFML_BIND(dlopen);
GPROFML_BIND(dlsym);
GPROFML_BIND(pthread_attr_getstack);
GPROFML_BIND(pthread_attr_setstacksize);
GPROFML_BIND(pthread_create);
GPROFML_BIND(pthread_detach);
GPROFML_BIND(pthread_getattr_np);
GPROFML_BIND(pthread_key_create);
GPROFML_BIND(pthread_setspecific);
GPROFML_BIND(pthread_sigmask);

#undef GPROFML_BIND
