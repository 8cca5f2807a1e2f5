// libnghttp2: HTTP/2 framing for the emulator.
#include <nghttp2/nghttp2.h>
