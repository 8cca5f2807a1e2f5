// libmicrohttpd: HTTP/1.1 for the emulator and for metrics. Starting a daemon and asking about one or a connection are
// variadic calls, which Swift does not import.
#ifndef TODOKE_CMICROHTTPD_SHIM_H
#define TODOKE_CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#include <stdint.h>

struct microhttpd_shim_callbacks {
    void *context;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *(*uri)(void *context, const char *uri, struct MHD_Connection *connection);
};

static inline struct MHD_Daemon *microhttpd_shim_start(
    const struct microhttpd_shim_callbacks *calls, unsigned int seconds, unsigned int connections, size_t memory) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_SUPPRESS_DATE_NO_CLOCK, 0,
        NULL, NULL, calls->access, calls->context,
        MHD_OPTION_CONNECTION_TIMEOUT, seconds,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_NOTIFY_COMPLETED, calls->completed, calls->context,
        MHD_OPTION_NOTIFY_CONNECTION, calls->connection, calls->context,
        MHD_OPTION_URI_LOG_CALLBACK, calls->uri, calls->context,
        MHD_OPTION_END);
}

static inline int microhttpd_shim_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

static inline int microhttpd_shim_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline void *microhttpd_shim_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}
#endif
