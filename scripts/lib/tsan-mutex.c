// Tells the Thread Sanitizer of the contended paths of Swift's `Mutex`, which are in a library that it does not see: there
// the kernel hands the lock over (FUTEX_LOCK_PI), and without this every contended `withLock` would look like a race.
// Preloaded by scripts/proofs/tsan.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Of the sanitizer's run-time library; absent in processes that were built without it.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

// Synchronization._MutexHandle._lockSlow(Swift.UInt32) -> ()
SWIFT void lock(uint32_t thread, SELF void *self) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void lock(uint32_t thread, SELF void *self) {
    SWIFT void (*original)(uint32_t, SELF void *) = next("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    original(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

// Synchronization._MutexHandle._unlockSlow() -> ()
SWIFT void unlock(SELF void *self) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT void unlock(SELF void *self) {
    SWIFT void (*original)(SELF void *) = next("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(self);
    original(self);
}

// Synchronization._MutexHandle._tryLockSlow() -> Swift.Bool
SWIFT _Bool try_lock(SELF void *self) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT _Bool try_lock(SELF void *self) {
    SWIFT _Bool (*original)(SELF void *) = next("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
    _Bool locked = original(self);
    if (locked && __tsan_acquire) __tsan_acquire(self);
    return locked;
}
