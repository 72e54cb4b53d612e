#include "CBuild.h"

const char *build_commit(void) {
#ifdef TOKENVAULT_COMMIT
    return TOKENVAULT_COMMIT;
#else
    return 0;
#endif
}
