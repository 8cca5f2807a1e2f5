// epoll, signalfd, eventfd and timerfd are missing from the Glibc module of the toolchain.
#ifndef TODOKE_CLINUX_SHIM_H
#define TODOKE_CLINUX_SHIM_H
#if defined(__linux__)
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

// EPOLL_CTL takes a union inside a packed struct, which is awkward to fill from Swift.
static inline int linux_shim_epoll_ctl(int epoll, int operation, int descriptor, unsigned int events, unsigned long data) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = data;
    return epoll_ctl(epoll, operation, descriptor, &event);
}
static inline unsigned long linux_shim_event_data(const struct epoll_event *event) { return event->data.u64; }
#endif
#endif
