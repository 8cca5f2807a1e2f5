// libssl, for the emulator's server side. Several calls are macros over SSL_ctrl, which Swift does not import.
#ifndef TODOKE_CTLS_SHIM_H
#define TODOKE_CTLS_SHIM_H
#include <openssl/ssl.h>
#include <openssl/err.h>

static inline int tls_shim_set_min_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
static inline long tls_shim_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
#endif
