// libpq as Debian ships it. No shim function is needed: everything Todoke calls imports as it is.
#include <libpq-fe.h>
