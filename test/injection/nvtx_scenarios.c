// What the tests of the recorder run: one scenario a call, no CUDA. The first argument names the
// scenario; what the scenarios print does not depend on whether anybody records.
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static nvtxEventAttributes_t attributes(void) {
  nvtxEventAttributes_t made;
  memset(&made, 0, sizeof made);
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return made;
}

static nvtxEventAttributes_t with_text(const char* text, unsigned category) {
  nvtxEventAttributes_t made = attributes();
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = text;
  made.category = category;
  return made;
}

static int recorded(void) {
  return getenv("EXPECT_RECORDING") != NULL;
}

/// Levels are only defined with a recorder; prints a line when one is not as it should be.
static void expect(const char* what, int got, int wanted) {
  if (recorded() && got != wanted) printf("%s: %d instead of %d\n", what, got, wanted);
}

static int default_domain(void) {
  expect("push", nvtxRangePushA("outer"), 0);
  expect("push", nvtxRangePushW(L"w\u00efde \u2603 \U0001F680"), 1);
  nvtxEventAttributes_t inner = with_text("inner", 17);
  expect("push", nvtxRangePushEx(&inner), 2);
  expect("pop", nvtxRangePop(), 2);
  expect("pop", nvtxRangePop(), 1);
  expect("pop", nvtxRangePop(), 0);
  if (nvtxRangePop() >= 0) printf("a pop without a push has a level\n");
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w");
  nvtxEventAttributes_t mark = with_text("mark ex", 3);
  nvtxMarkEx(&mark);
  nvtxRangeId_t a = nvtxRangeStartA("start a");
  nvtxRangeId_t w = nvtxRangeStartW(L"start w");
  nvtxEventAttributes_t start = with_text("start ex", 4);
  nvtxRangeId_t ex = nvtxRangeStartEx(&start);
  if (recorded() && (a == 0 || a == w || w == ex || a == ex)) printf("ids of ranges repeat\n");
  nvtxRangeEnd(w);
  nvtxRangeEnd(a);
  nvtxRangeEnd(ex);
  nvtxRangePushA("");
  nvtxRangePop();
  nvtxRangePushA(NULL);
  nvtxRangePop();
  nvtxEventAttributes_t nameless = attributes();
  nvtxRangePushEx(&nameless);
  nvtxRangePop();
  return 0;
}

/// Ends of nothing, three of them.
static int unopened(void) {
  nvtxRangePop();
  nvtxRangePushA("whole");
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeEnd(0);
  return 0;
}

static int domains(void) {
  nvtxDomainHandle_t first = nvtxDomainCreateA("first domain");
  nvtxDomainHandle_t second = nvtxDomainCreateW(L"second d\u00f6main");
  nvtxEventAttributes_t registered = attributes();
  registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  registered.message.registered = nvtxDomainRegisterStringA(first, "registered");
  nvtxEventAttributes_t wide = registered;
  wide.message.registered = nvtxDomainRegisterStringW(second, L"r\u00e9gistered");
  expect("push", nvtxDomainRangePushEx(first, &registered), 0);
  expect("push", nvtxDomainRangePushEx(second, &wide), 0);
  expect("push", nvtxDomainRangePushEx(first, &registered), 1);
  expect("push", nvtxRangePushA("default"), 0);
  expect("pop", nvtxDomainRangePop(first), 1);
  expect("pop", nvtxDomainRangePop(first), 0);
  expect("pop", nvtxDomainRangePop(second), 0);
  expect("pop", nvtxRangePop(), 0);
  nvtxDomainMarkEx(second, &wide);
  nvtxRangeId_t id = nvtxDomainRangeStartEx(first, &registered);
  nvtxDomainRangeEnd(first, id);
  nvtxDomainDestroy(second);
  return 0;
}

/// Handles that NVTX never gave, among good ones, in 13 calls: three domains, four strings.
static int foreign_handles(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("good domain");
  nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "good string");
  nvtxEventAttributes_t good = attributes();
  good.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  good.message.registered = string;
  static long long not_ours[64];
  // With a recorder the last is aligned and within its memory, but not the begin of anything.
  const nvtxDomainHandle_t domains[] = {
      (nvtxDomainHandle_t)0x1, (nvtxDomainHandle_t)not_ours,
      recorded() ? (nvtxDomainHandle_t)((char*)domain + 8) : (nvtxDomainHandle_t)12345};
  const nvtxStringHandle_t strings[] = {
      (nvtxStringHandle_t)12345, (nvtxStringHandle_t) ~(uintptr_t)7, (nvtxStringHandle_t)domain,
      recorded() ? (nvtxStringHandle_t)((char*)string + 8) : (nvtxStringHandle_t)not_ours};
  nvtxDomainRangePushEx(domain, &good);
  nvtxEventAttributes_t named = with_text("unknown domain", 0);
  for (int at = 0; at < 3; ++at) {
    nvtxDomainRangePushEx(domains[at], &named);
    nvtxDomainMarkEx(domains[at], &named);
    nvtxDomainRangePop(domains[at]);
  }
  for (int at = 0; at < 4; ++at) {
    nvtxEventAttributes_t nameless = good;
    nameless.message.registered = strings[at];
    nvtxDomainMarkEx(domain, &nameless);
  }
  nvtxDomainRangePop(domain);
  nvtxDomainMarkEx(domain, &good);
  return 5;
}

static int many_domains(void) {
  nvtxEventAttributes_t text = with_text("range", 0);
  for (int number = 0; number < 1500; ++number) {
    char name[32];
    snprintf(name, sizeof name, "domain %d", number);
    nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
    nvtxDomainRangePushEx(domain, &text);
    nvtxDomainRangePop(domain);
  }
  return 0;
}

static int deep(void) {
  for (int level = 0; level < 300; ++level) expect("push", nvtxRangePushA("level"), level);
  for (int level = 299; level >= 0; --level) expect("pop", nvtxRangePop(), level);
  return 0;
}

static int long_names(void) {
  static char text[200000];
  for (size_t at = 0; at + 2 < sizeof text; at += 2) memcpy(text + at, "\xc3\xa4", 2);
  nvtxRangePushA(text);
  nvtxRangePop();
  static wchar_t wide[20000];
  for (size_t at = 0; at + 1 < 20000; ++at) wide[at] = L'\u20ac';
  nvtxRangePushW(wide);
  nvtxRangePop();
  wchar_t invalid[] = {L'a', (wchar_t)0xd800, (wchar_t)0x7fffffff, L'b', 0};
  nvtxMarkW(invalid);
  return 0;
}

static nvtxRangeId_t handed_over;
static void* end_range(void* unused) {
  nvtxRangeEnd(handed_over);
  return unused;
}

static int across_threads(void) {
  handed_over = nvtxRangeStartA("across");
  pthread_t thread;
  pthread_create(&thread, NULL, end_range, NULL);
  pthread_join(thread, NULL);
  return 0;
}

static void* start_range(void* unused) {
  handed_over = nvtxRangeStartA("started elsewhere");
  return unused;
}

/// The ender's ring comes first, so it is read before the start's.
static int started_elsewhere(void) {
  nvtxMarkA("first");
  for (int round = 0; round < 50; ++round) {
    pthread_t thread;
    pthread_create(&thread, NULL, start_range, NULL);
    pthread_join(thread, NULL);
    nvtxRangeEnd(handed_over);
  }
  return 0;
}

static void* named_thread(void* name) {
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), name);
  nvtxMarkA(name);
  return NULL;
}

static int thread_names(void) {
  nvtxNameOsThreadW((uint32_t)syscall(SYS_gettid), L"m\u00e4in");
  nvtxMarkA("main");
  pthread_t thread;
  pthread_create(&thread, NULL, named_thread, "loader");
  pthread_join(thread, NULL);
  return 0;
}

static void* one_range(void* unused) {
  nvtxRangePushA("short-lived");
  nvtxRangePop();
  return unused;
}

/// Far more threads over time than there are rings at once.
static int many_threads(void) {
  for (int round = 0; round < 5000; ++round) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, one_range, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

static long rounds;
static pthread_barrier_t barrier;

static void* hammer(void* unused) {
  pthread_barrier_wait(&barrier);
  for (long round = 0; round < rounds; ++round) {
    nvtxRangePushA("outer range with a name of some length");
    nvtxRangePushA("middle");
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangeId_t id = nvtxRangeStartA("started");
    nvtxRangeEnd(id);
    nvtxRangePop();
  }
  return unused;
}

static int hammer_threads(int count, long each) {
  pthread_t threads[64];
  rounds = each;
  pthread_barrier_init(&barrier, NULL, (unsigned)count);
  for (int number = 0; number < count; ++number) {
    pthread_create(&threads[number], NULL, hammer, NULL);
  }
  for (int number = 0; number < count; ++number) pthread_join(threads[number], NULL);
  return 0;
}

static int end_as(const char* how) {
  nvtxRangePushA("whole");
  nvtxMarkA("before the end");
  if (strcmp(how, "return") == 0) return 42;
  if (strcmp(how, "exit") == 0) exit(43);
  if (strcmp(how, "_exit") == 0) _exit(44);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "SIGTERM") == 0) raise(SIGTERM);
  if (strcmp(how, "SIGKILL") == 0) raise(SIGKILL);
  if (strcmp(how, "exec") == 0) execl("/proc/self/exe", "again", "end", "return", (char*)NULL);
  return 1;
}

static void late(void) {
  nvtxRangePushA("in an exit handler");
  nvtxRangePop();
}

static int late_handler(void) {
  atexit(late);  // before the recorder's own, so it runs after it
  nvtxMarkA("early");
  return 0;
}

/// Marks without end; the test kills it.
static int endless(void) {
  for (unsigned number = 0; number < 1000000000u; ++number) {
    char name[32];
    snprintf(name, sizeof name, "mark %u", number);
    nvtxMarkA(name);
    usleep(200);
  }
  return 1;
}

static long size_of(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

/// A worker that ends in _exit soon after its start: ranges until the spool has grown `growths`
/// times. Prints how many of them were over before the last growth but one, which began after them.
static int short_worker(const char* folder, int growths) {
  nvtxRangePushA("range");
  nvtxRangePop();
  glob_t found;
  char pattern[4096];
  snprintf(pattern, sizeof pattern, "%s/*.spool", folder);
  if (glob(pattern, 0, NULL, &found) != 0) return 1;
  long before = size_of(found.gl_pathv[0]);
  int made = 1, at_last_growth = 0, safe = 0;
  while (growths > 0) {
    nvtxRangePushA("range");
    nvtxRangePop();
    ++made;
    usleep(100);
    const long size = size_of(found.gl_pathv[0]);
    if (size == before) continue;
    before = size;
    safe = at_last_growth;
    at_last_growth = made;
    --growths;
  }
  printf("%d\n", safe);
  _exit(44);
}

static int fork_child(const char* how) {
  nvtxRangePushA("parent");
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    if (strcmp(how, "_exit") == 0) _exit(7);
    exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  nvtxRangePop();
  printf("child ended with %d\n", WEXITSTATUS(status));
  return 0;
}

/// What a daemon does; afterwards the next files get the recorder's old number.
static int close_everything(const char* folder) {
  nvtxRangePushA("before");
  const long most = sysconf(_SC_OPEN_MAX);
  for (int number = 3; number < most; ++number) close(number);
  int opened[1000];
  int count = 0;
  char path[4096];
  for (; count < 1000; ++count) {
    snprintf(path, sizeof path, "%s/own-%d", folder, count);
    opened[count] = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (opened[count] < 0) break;
  }
  for (int round = 0; round < 20000; ++round) {
    nvtxRangePushA("after");
    nvtxRangePop();
  }
  nvtxRangePop();
  for (int number = 0; number < count; ++number) {
    if (write(opened[number], "own", 3) != 3) return 1;
  }
  return 0;
}

static volatile sig_atomic_t too_large;
static void on_too_large(int unused) {
  (void)unused;
  ++too_large;
}

static int limited_file_size(void) {
  const struct rlimit limit = {65536, 65536};
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, on_too_large);
  hammer_threads(4, 20000);
  printf("SIGXFSZ seen %d times\n", (int)too_large);
  return 9;
}

/// The recorder's very first write, made on this thread, is too large already.
static int limited_from_the_start(long bytes) {
  const struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  hammer_threads(1, 100);
  sigset_t pending;
  sigpending(&pending);
  printf("SIGXFSZ pending: %d\n", sigismember(&pending, SIGXFSZ));
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  printf("SIGXFSZ blocked: %d\n", sigismember(&blocked, SIGXFSZ));
  return 9;
}

static volatile sig_atomic_t wrong_thread;
static pid_t main_tid;
static void on_alarm(int unused) {
  (void)unused;
  if (syscall(SYS_gettid) != main_tid) wrong_thread = 1;
}

/// The program's handlers must not run on the recorder's threads.
static int signals(void) {
  main_tid = (pid_t)syscall(SYS_gettid);
  nvtxMarkA("start");
  signal(SIGUSR1, on_alarm);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  for (int round = 0; round < 100; ++round) kill(getpid(), SIGUSR1);
  pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
  printf("a handler ran on another thread: %d\n", (int)wrong_thread);
  return 0;
}

static void say_goodbye(void) {
  puts("exit handlers ran");
}

static void* linger(void* unused) {
  usleep(250000);
  nvtxRangePushA("after main");
  nvtxRangePop();
  return unused;
}

/// The process lives until its last thread ends, and ours must not be that one.
static int main_ends_first(void) {
  atexit(say_goodbye);
  nvtxRangePushA("main");
  nvtxRangePop();
  pthread_t thread;
  pthread_create(&thread, NULL, linger, NULL);
  pthread_exit(NULL);
}

int main(int count, char** arguments) {
  const char* scenario = count > 1 ? arguments[1] : "";
  const char* first = count > 2 ? arguments[2] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("scenario %s\n", scenario);
  if (strcmp(scenario, "default_domain") == 0) return default_domain();
  if (strcmp(scenario, "unopened") == 0) return unopened();
  if (strcmp(scenario, "domains") == 0) return domains();
  if (strcmp(scenario, "foreign_handles") == 0) return foreign_handles();
  if (strcmp(scenario, "many_domains") == 0) return many_domains();
  if (strcmp(scenario, "deep") == 0) return deep();
  if (strcmp(scenario, "long_names") == 0) return long_names();
  if (strcmp(scenario, "across_threads") == 0) return across_threads();
  if (strcmp(scenario, "started_elsewhere") == 0) return started_elsewhere();
  if (strcmp(scenario, "thread_names") == 0) return thread_names();
  if (strcmp(scenario, "many_threads") == 0) return many_threads();
  if (strcmp(scenario, "hammer") == 0) return hammer_threads(atoi(first), atol(arguments[3]));
  if (strcmp(scenario, "end") == 0) return end_as(first);
  if (strcmp(scenario, "late_handler") == 0) return late_handler();
  if (strcmp(scenario, "endless") == 0) return endless();
  if (strcmp(scenario, "short_worker") == 0) return short_worker(first, atoi(arguments[3]));
  if (strcmp(scenario, "fork") == 0) return fork_child(first);
  if (strcmp(scenario, "close_everything") == 0) return close_everything(first);
  if (strcmp(scenario, "limited_file_size") == 0) return limited_file_size();
  if (strcmp(scenario, "limited_from_the_start") == 0) return limited_from_the_start(atol(first));
  if (strcmp(scenario, "signals") == 0) return signals();
  if (strcmp(scenario, "main_ends_first") == 0) return main_ends_first();
  fprintf(stderr, "no scenario %s\n", scenario);
  return 2;
}
