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

/* A writer that dies gives its lock back. Another process goes on as a new writer. */
inline die() { atomic { crashes > 0; crashes--; locked = false; goto start } }

proctype Writer() {
    byte id, u;
start:
    atomic {
        !locked;
        if :: made == COMMITS -> goto dead :: else fi;
        locked = true;
        /* Whoever died before wrote one copy: the log is as good as its last whole commit. */
        if
        :: first.count != second.count || first.sum != second.sum ->
            first.count = log[frames].number; first.sum = frames;
            second.count = log[frames].number; second.sum = frames
        :: else
        fi;
        if :: u = 0 :: u = 1 fi;
        made++;
        id = made;
        log[id].former = first.sum;
        log[id].number = log[first.sum].number + 1;
        log[id].user = u;
        log[id].version[0] = log[first.sum].version[0];
        log[id].version[1] = log[first.sum].version[1];
        log[id].version[u] = log[id].version[u] + 1
    };
    if
    :: atomic {
        frames = id;
#ifdef MUTANT_ACKNOWLEDGES_EARLY
        acknowledged[u] = log[id].version[u]
#endif
    }
    :: die()
    fi;
    if :: second.count = log[id].number :: die() fi;
    if :: second.sum = id :: die() fi;
    if :: first.count = log[id].number :: die() fi;
    if :: first.sum = id :: die() fi;
    if
    :: atomic { acknowledged[u] = log[id].version[u]; locked = false; id = 0; u = 0 }
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
typedef Entry { bool is; byte version }
Entry entry[USERS];

/* Both copies, word by word. Whoever writes them may do any of its steps between two words. */
inline readHeader(h, isWhole) {
    atomic { h.count = first.count; isWhole = true };
    h.sum = first.sum;
    atomic { if :: second.count != h.count -> isWhole = false :: else fi };
    atomic { if :: second.sum != h.sum -> isWhole = false :: else fi }
}

/* The newest commit that a transaction of SQLite sees; it makes the header anew if somebody died of it. */
inline begin(s) {
    do
    :: atomic { first.count == second.count && first.sum == second.sum -> s = first.sum; break }
    :: atomic {
        !locked && (first.count != second.count || first.sum != second.sum) ->
        first.count = log[frames].number; first.sum = frames;
        second.count = log[frames].number; second.sum = frames
    }
    od
}

/* So that what no longer matters makes no new states. */
inline forget() { h.count = 0; h.sum = 0; after.count = 0; after.sum = 0; s = 0; isWhole = false; isSame = false; floor = 0 }

proctype Reader() {
    byte u, s, floor, c;
    byte left = READS;
    bool isWhole, isSame, hasSnapshot, hasReadTrail;
    Header h, after;
call:
    atomic {
        forget();
        if :: left == 0 -> goto done :: else -> left-- fi;
        if :: u = 0 :: u = 1 fi;
        hasReadTrail = false;
        /* Another query of this connection may be under way, since a moment before. */
        if
        :: hasSnapshot = false; floor = acknowledged[u]
        :: first.count == second.count && first.sum == second.sum ->
            hasSnapshot = true; s = first.sum; floor = log[s].version[u]
        fi
    };
#ifndef MUTANT_KEEPS_OLD_SNAPSHOTS
    if :: hasSnapshot -> goto database :: else fi;
#endif
look:
    atomic { isSame = begun; if :: first.count != known.count -> isSame = false :: else fi };
    atomic { if :: first.sum != known.sum -> isSame = false :: else fi };
    atomic { if :: second.count != known.count -> isSame = false :: else fi };
    atomic {
        if :: second.sum != known.sum -> isSame = false :: else fi;
        if
        :: isSame && entry[u].is ->
            serves_the_newest = (entry[u].version >= floor);
            assert(serves_the_newest);
            goto call
        :: isSame && !entry[u].is -> goto missing
        :: !isSame && (reading || hasReadTrail) -> goto database
        :: !isSame && !reading && !hasReadTrail -> reading = true; hasReadTrail = true
        fi
    };
    /* The trail. */
    readHeader(h, isWhole);
    atomic { if :: !isWhole -> reading = false; goto database :: else fi };
    if :: !hasSnapshot -> begin(s) :: else fi;
    readHeader(after, isWhole);
    atomic {
#ifdef MUTANT_HEADER_AFTERWARDS
        h.count = after.count; h.sum = after.sum;
#endif
        if
        :: !isWhole || after.count != h.count || after.sum != h.sum -> reading = false; goto database
        :: else
        fi;
        c = s;
        do
        :: c > 0 && log[c].number > head ->
#ifndef MUTANT_FORGETS_A_USER
            entry[log[c].user].is = false;
            entry[log[c].user].version = 0;
#endif
            c = log[c].former
        :: else -> break
        od;
        c = 0;
        begun = true;
        known.count = h.count;
        known.sum = h.sum;
        head = log[s].number;
        reading = false;
        goto look
    };
missing:
    readHeader(h, isWhole);
    if :: !hasSnapshot -> begin(s) :: else fi;
    readHeader(after, isWhole);
    atomic {
#ifdef MUTANT_HEADER_AFTERWARDS
        h.count = after.count; h.sum = after.sum;
#endif
        if
#ifdef MUTANT_KEEPS_UNDER_ANOTHER
        :: isWhole && after.count == h.count && after.sum == h.sum ->
#else
        :: isWhole && after.count == h.count && after.sum == h.sum && known.count == h.count && known.sum == h.sum ->
#endif
            entry[u].is = true;
            entry[u].version = log[s].version[u]
        :: else
        fi;
        serves_the_newest = (log[s].version[u] >= floor);
        assert(serves_the_newest);
        goto call
    };
database:
    if :: !hasSnapshot -> begin(s) :: else fi;
    atomic {
        serves_the_newest = (log[s].version[u] >= floor);
        assert(serves_the_newest);
        goto call
    };
done: skip
}

init {
    atomic {
        byte n = 0;
        do :: n < WRITERS -> run Writer(); n++ :: else -> n = 0; break od;
        do :: n < READERS -> run Reader(); n++ :: else -> n = 0; break od
    }
}
