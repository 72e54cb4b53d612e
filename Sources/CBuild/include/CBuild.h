#pragma once

/* The commit of which this was built, if scripts/install named it to the build (TOKENVAULT_COMMIT); null otherwise. */
const char *build_commit(void);
