/*
 * When rows that a process keeps in memory are the newest: the header of SQLite's WAL index, which is written word by word
 * by whoever commits, and read word by word without a lock.
 *
 * docs/model.md says what each part stands for in the library, what is left out, and which properties are checked.
 */

#ifndef COMMITS
#define COMMITS 3 /* in all, those of processes that die included */
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef READERS
#define READERS 2 /* threads of one process, which share its memory */
#endif
#ifndef READS
#define READS 2 /* of each */
#endif
#ifndef CRASHES
#define CRASHES 0 /* of writers, between any two words */
#endif
#define USERS 2

/* ---- The database -------------------------------------------------------------------------------------------- */

typedef Commit {
    byte number;         /* of the commit, and of its row in the trail */
    byte user;           /* whose rows it changes */
    byte former;
    byte version[USERS]; /* of each user's rows */
}
Commit log[COMMITS + 1];
byte made = 0; /* commits that anybody began */
byte frames = 0; /* the last commit that the log holds as a whole */
byte acknowledged[USERS]; /* the versions that some caller knows of */

/* Both copies of the header: a change counter, and a sum that no two commits share. */
typedef Header { byte count; byte sum }
Header first;
Header second;
bool locked = false;
byte crashes = CRASHES;

/* Makes the header anew from the log, as whoever finds its copies different does under the lock. */
inline recover() {
    atomic {
        !locked;
        if
        :: first.count != second.count || first.sum != second.sum ->
            first.count = log[frames].number; first.sum = frames;
            second.count = log[frames].number; second.sum = frames
        :: else
        fi
    }
}

inline die() { atomic { crashes > 0; crashes--; locked = false; goto dead } }

proctype Writer() {
    byte id, u;
start:
    atomic { !locked; locked = true }
    if
    :: atomic { made == COMMITS -> locked = false; goto dead }
    :: made < COMMITS
    fi;
    d_step {
        /* Whoever died before wrote one copy: the log is as good as its last whole commit. */
        if
        :: first.count != second.count || first.sum != second.sum ->
            first.count = log[frames].number; first.sum = frames;
            second.count = log[frames].number; second.sum = frames
        :: else
        fi
    }
    if :: u = 0 :: u = 1 fi;
    d_step {
        made++;
        id = made;
        log[id].former = first.sum;
        log[id].number = log[first.sum].number + 1;
        log[id].user = u;
        log[id].version[0] = log[first.sum].version[0];
        log[id].version[1] = log[first.sum].version[1];
        log[id].version[u] = log[id].version[u] + 1
    }
    if :: true :: die() fi;
    frames = id;
#ifdef MUTANT_ACKNOWLEDGES_EARLY
    d_step { acknowledged[u] = log[id].version[u] };
#endif
    if :: second.count = log[id].number :: die() fi;
    if :: second.sum = id :: die() fi;
    if :: first.count = log[id].number :: die() fi;
    if :: first.sum = id :: die() fi;
    if
    :: d_step { acknowledged[u] = log[id].version[u]; locked = false }
    :: die()
    fi;
    goto start;
dead: skip
}

/* ---- What the process has in memory --------------------------------------------------------------------------- */

bool begun = false;
bool serves_the_newest = true; /* no read gives less than what was acknowledged when it began */
Header known;
byte head = 0;
bool reading = false;
byte changes[USERS];
typedef Entry { bool is; byte version; byte head }
Entry entry[USERS];

/* Both copies, word by word. */
inline readHeader(h, isWhole) {
    h.count = first.count;
    h.sum = first.sum;
    isWhole = true;
    if :: second.count != h.count -> isWhole = false :: else fi;
    if :: second.sum != h.sum -> isWhole = false :: else fi
}

/* The newest commit that a transaction of SQLite sees; it makes the header anew if somebody died of it. */
inline begin(s) {
    do
    :: atomic { first.count == second.count && first.sum == second.sum -> s = first.sum; break }
    :: recover()
    od
}

proctype Reader() {
    byte u, s, floor, c;
    byte left = READS;
    bool isWhole, isSame, hasSnapshot, isServed;
    Header h, after;
call:
    if :: left == 0 -> goto done :: else -> left-- fi;
    if :: u = 0 :: u = 1 fi;
    hasSnapshot = false;
    isServed = false;
    /* Another query of this connection may be under way. */
    if :: true :: hasSnapshot = true; begin(s) fi;
    floor = (hasSnapshot -> log[s].version[u] : acknowledged[u]);
#ifndef MUTANT_KEEPS_OLD_SNAPSHOTS
    if :: hasSnapshot -> goto database :: else fi;
#endif
look:
    isSame = begun;
    if :: first.count != known.count -> isSame = false :: else fi;
    if :: first.sum != known.sum -> isSame = false :: else fi;
    if :: second.count != known.count -> isSame = false :: else fi;
    if :: second.sum != known.sum -> isSame = false :: else fi;
    atomic {
        if
        :: isSame && entry[u].is && changes[u] <= entry[u].head ->
            serves_the_newest = (entry[u].version >= floor); assert(serves_the_newest);
            goto call
        :: isSame && !(entry[u].is && changes[u] <= entry[u].head) -> goto missing
        :: !isSame && reading -> goto database
        :: !isSame && !reading && !isServed -> reading = true; isServed = true
        :: !isSame && !reading && isServed -> goto database
        fi
    };
    /* The trail. */
    readHeader(h, isWhole);
    if :: !isWhole -> reading = false; goto database :: else fi;
    if :: !hasSnapshot -> begin(s) :: else fi;
    readHeader(after, isWhole);
#ifdef MUTANT_HEADER_AFTERWARDS
    d_step { h.count = after.count; h.sum = after.sum };
#endif
    if
    :: !isWhole || after.count != h.count || after.sum != h.sum -> reading = false; goto database
    :: else
    fi;
    d_step {
        c = s;
        do
        :: c > 0 && log[c].number > head ->
#ifndef MUTANT_FORGETS_A_USER
            if :: changes[log[c].user] < log[c].number -> changes[log[c].user] = log[c].number :: else fi;
#endif
            c = log[c].former
        :: else -> break
        od;
        if :: !begun -> entry[0].is = false; entry[1].is = false :: else fi;
        begun = true;
        known.count = h.count;
        known.sum = h.sum;
        head = log[s].number;
        reading = false
    };
    goto look;
missing:
    readHeader(h, isWhole);
    if :: !hasSnapshot -> begin(s) :: else fi;
    readHeader(after, isWhole);
#ifdef MUTANT_HEADER_AFTERWARDS
    d_step { h.count = after.count; h.sum = after.sum };
#endif
    atomic {
        if
#ifdef MUTANT_KEEPS_UNDER_ANOTHER
        :: isWhole && after.count == h.count && after.sum == h.sum && begun ->
#else
        :: isWhole && after.count == h.count && after.sum == h.sum && begun && known.count == h.count && known.sum == h.sum ->
#endif
            entry[u].is = true;
            entry[u].version = log[s].version[u];
            entry[u].head = head
        :: else
        fi;
        serves_the_newest = (log[s].version[u] >= floor); assert(serves_the_newest);
        goto call
    };
database:
    if :: !hasSnapshot -> begin(s) :: else fi;
    serves_the_newest = (log[s].version[u] >= floor); assert(serves_the_newest);
    goto call;
done: skip
}

init {
    byte n;
    atomic {
        n = 0;
        do :: n < WRITERS -> run Writer(); n++ :: else -> break od;
        n = 0;
        do :: n < READERS -> run Reader(); n++ :: else -> break od
    }
}
