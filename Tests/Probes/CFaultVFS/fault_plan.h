#pragma once
#include "fault_vfs.h"

/* What is to become of one operation. */
typedef struct {
    bool is_concerned;
    fault_action action;
    int32_t code;
} fault_verdict;

/* Counts the operation and gives what the plan says of it. Pauses, calls and kills before it are done here. */
fault_verdict fault_begin(fault_operation operation, uint32_t file);
/* Gives what the operation returns: kills after it are done here. */
int32_t fault_end(fault_verdict verdict, int32_t result);
/* Whether the operation itself is left out, and `verdict.code` or success is returned. */
bool fault_is_left_out(fault_verdict verdict);
int32_t fault_result(fault_verdict verdict);

bool fault_is_in_reach(const char *path);
bool fault_sleep_is_skipped(void);
bool fault_commit_syncs_are_skipped(void);
void fault_note(uint32_t operation, uint32_t file, int64_t offset, int64_t length, const void *bytes);
