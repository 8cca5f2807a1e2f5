// libcurl. `curl_easy_setopt`, `curl_easy_getinfo` and `curl_multi_setopt` are variadic, which Swift cannot call:
// each type of argument that Todoke passes gets one typed function, and nothing else is here.
#ifndef TODOKE_CCURL_SHIM_H
#define TODOKE_CCURL_SHIM_H
#include <curl/curl.h>

static inline CURLcode curl_shim_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_shim_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_shim_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_shim_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_shim_set_headers(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_shim_set_url(CURL *handle, CURLU *value) {
    return curl_easy_setopt(handle, CURLOPT_CURLU, value);
}
typedef size_t (*curl_shim_data_callback)(char *data, size_t size, size_t count, void *context);
static inline CURLcode curl_shim_set_data_callback(CURL *handle, CURLoption option, curl_shim_data_callback callback) {
    return curl_easy_setopt(handle, option, callback);
}
typedef int (*curl_shim_prereq_callback)(void *context, char *remote_ip, char *local_ip, int remote_port, int local_port);
static inline CURLcode curl_shim_set_prereq_callback(CURL *handle, curl_shim_prereq_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, callback);
}
typedef curl_socket_t (*curl_shim_opensocket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
static inline CURLcode curl_shim_set_opensocket_callback(CURL *handle, curl_shim_opensocket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}
typedef int (*curl_shim_closesocket_callback)(void *context, curl_socket_t socket);
static inline CURLcode curl_shim_set_closesocket_callback(CURL *handle, curl_shim_closesocket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, callback);
}
static inline CURLcode curl_shim_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_shim_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_shim_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode curl_shim_get_string(CURL *handle, CURLINFO info, char **value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode curl_shim_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode curl_shim_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode curl_shim_multi_set_socket_callback(CURLM *multi, curl_socket_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}
static inline CURLMcode curl_shim_multi_set_timer_callback(CURLM *multi, curl_multi_timer_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}
// CURLMsg keeps its result in a union, which Swift imports without a name for the case.
static inline CURLcode curl_shim_message_result(const CURLMsg *message) { return message->data.result; }
#endif
