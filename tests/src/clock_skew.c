/* Tells a program another time: faster, or some seconds off. A file of four numbers, which may change at any moment, says how. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct skew {
    double speed;
    long long offset, real_start, monotonic_start; /* nanoseconds */
};

static volatile const struct skew *skew;

#define ORIGINAL(name) \
    static __typeof__(name) *original; \
    if (!original) original = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void open_skew(void) {
    const char *path = getenv("CLOCK_SKEW");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *there = mmap(NULL, sizeof(struct skew), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (there != MAP_FAILED) skew = there;
}

static long long of_timespec(const struct timespec *at) { return at->tv_sec * 1000000000LL + at->tv_nsec; }

static struct timespec to_timespec(long long nanos) {
    if (nanos < 0) nanos = 0;
    return (struct timespec){.tv_sec = nanos / 1000000000LL, .tv_nsec = nanos % 1000000000LL};
}

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

static int is_monotonic(clockid_t clock) {
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

/* The instant that the program is told, and back. */
static long long told(clockid_t clock, long long at) {
    long long start = is_wall(clock) ? skew->real_start : skew->monotonic_start;
    return start + (long long)((double)(at - start) * skew->speed) + (is_wall(clock) ? skew->offset : 0);
}

static long long real(clockid_t clock, long long at) {
    long long start = is_wall(clock) ? skew->real_start : skew->monotonic_start;
    return start + (long long)((double)(at - start - (is_wall(clock) ? skew->offset : 0)) / skew->speed);
}

static long long shorter(long long nanos) { return (long long)((double)nanos / skew->speed); }

static int shorter_millis(int millis) {
    if (!skew || millis <= 0) return millis;
    double real = (double)millis / skew->speed;
    return (int)real < real ? (int)real + 1 : (int)real;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    ORIGINAL(clock_gettime);
    int failed = original(clock, at);
    if (!failed && skew && (is_wall(clock) || is_monotonic(clock))) *at = to_timespec(told(clock, of_timespec(at)));
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left) {
    ORIGINAL(clock_nanosleep);
    if (!skew) return original(clock, flags, span, left);
    long long nanos = of_timespec(span);
    struct timespec other = to_timespec(flags & TIMER_ABSTIME ? real(clock, nanos) : shorter(nanos));
    int failed = original(clock, flags, &other, left);
    if (failed == EINTR && left && !(flags & TIMER_ABSTIME))
        *left = to_timespec((long long)((double)of_timespec(left) * skew->speed));
    return failed;
}

int nanosleep(const struct timespec *span, struct timespec *left) {
    int failed = clock_nanosleep(CLOCK_MONOTONIC, 0, span, left);
    if (failed) errno = failed;
    return failed ? -1 : 0;
}

int usleep(useconds_t micros) {
    struct timespec span = to_timespec(micros * 1000LL);
    return nanosleep(&span, NULL);
}

unsigned int sleep(unsigned int seconds) {
    struct timespec span = to_timespec(seconds * 1000000000LL);
    return nanosleep(&span, NULL) ? 1 : 0;
}

int poll(struct pollfd *fds, nfds_t count, int millis) {
    ORIGINAL(poll);
    return original(fds, count, shorter_millis(millis));
}

int epoll_wait(int fd, struct epoll_event *events, int most, int millis) {
    ORIGINAL(epoll_wait);
    return original(fd, events, most, shorter_millis(millis));
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int millis, const sigset_t *signals) {
    ORIGINAL(epoll_pwait);
    return original(fd, events, most, shorter_millis(millis), signals);
}

/* Locks and parked threads of the Rust library wait by this one. */
long syscall(long number, ...) {
    static long (*original)(long, ...);
    if (!original) original = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list list;
    va_start(list, number);
    for (int at = 0; at < 6; at++) a[at] = va_arg(list, long);
    va_end(list);
    struct timespec other;
    if (skew && number == SYS_futex && a[3]) {
        int what = (int)a[1] & FUTEX_CMD_MASK;
        long long nanos = what == FUTEX_WAIT || what == FUTEX_WAIT_BITSET ? of_timespec((struct timespec *)a[3]) : 0;
        if (what == FUTEX_WAIT) {
            other = to_timespec(shorter(nanos));
            a[3] = (long)&other;
        } else if (what == FUTEX_WAIT_BITSET) {
            other = to_timespec(real(a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, nanos));
            a[3] = (long)&other;
        }
    }
    return original(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
