#pragma once
#include <sodium.h>

/* stdio.h hides it behind _GNU_SOURCE, which Swift's view of the C library does not set. */
int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path, unsigned int flags);
