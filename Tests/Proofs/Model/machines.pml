/*
 * Who may send a refresh token when the vault is on a server and its processes on several machines: the protocol, not its
 * code. renewal.pml is about what becomes of one request; this is about time, networks and failover.
 *
 * docs/model.md says what each part stands for in the library, what is left out, and which properties are checked.
 */

/* ---- Configuration ------------------------------------------------------------------------------------------- */

#ifndef NP
#define NP 2 /* processes */
#endif
#ifndef CALLS
#define CALLS 2 /* renewals that callers want */
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 3 /* intents in all */
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef STALLS
#define STALLS 0
#endif
#ifndef CUTS
#define CUTS 0 /* between a machine and the database server; the way to the provider stays open */
#endif
#ifndef LOSSES
#define LOSSES 0 /* a reply of the provider that is lost */
#endif
#ifndef FAILS
#define FAILS 0 /* a commit that is reported as failed, and happened on the primary */
#endif
#ifndef FAILOVERS
#define FAILOVERS 0
#endif
/* ONE_MACHINE: the kernel tells at once who has ended. ASYNCHRONOUS: a failover may lose acknowledged commits. SHORT_LIVED:
 * process 0 ends in good order, at any moment; with two processes, and without crashes. */

/* Time in units of some seconds. What the library promises is their order: a proof that is recent, a short way from the
 * intent to the request, a request that ends; and a wait that is longer than all of them. */
#define SILENCE 1 /* longestSilence */
#define WAY 1     /* longestWayToRequest */
#define REQUEST 1 /* what a renewal has for all its requests */
#ifdef MUTANT_SHORT_WAIT
#define WAIT 3
#else
#define WAIT 4    /* longestRenewal: more than all of them together, since a failover may lose the last proofs */
#endif

#if CRASHES > 0
#define NAMES (2 * NP)
#else
#define NAMES NP
#endif
#define NOBODY 0

/* ---- The database -------------------------------------------------------------------------------------------- */

typedef Vault {
    byte gen; byte rt;
    bool open; byte owner; byte fence; bool doubt; /* the intent */
    byte fences;
    bool held; bool dead;
    byte seen[NAMES]; /* how long ago each owner's last proof was, by the server's clock */
}
Vault v; /* the primary */
#if FAILOVERS > 0
Vault s; /* the standby that a failover promotes */
bool behind; /* it lacks a commit */
#ifdef ASYNCHRONOUS
Vault w; /* what was acknowledged: the processes remember it together, each its own commits */
bool settled = true;
#endif
#endif
#ifdef SHORT_LIVED
/* Of the commits of process 0: whether the standby lacks one, whether the new primary does, whether process 1 has heard of
 * the last one. */
bool lacks; bool misses; bool heard = true;
#endif
bool lock[NAMES]; /* the advisory locks: of sessions, so no standby has them */

/* ---- Processes ----------------------------------------------------------------------------------------------- */

mtype = { idle, claimed, looked, checked, sending, storing, recording };
typedef Process {
    bool dead; bool stalled; bool cut; bool left;
    bool hasSession;
    byte lives;
    byte proof;  /* how long ago its last proof began */
    mtype pc = idle;
    byte age;    /* of the intent, then of the request */
    byte gen; byte rt; byte fence; bool doubt;
    byte reply;
    bool isDead; /* the answer: invalid_grant */
    bool hasReported; /* after a failover */
    bool hasForgotten; /* it was killed, and what it had committed nobody else remembers */
    /* What it has seen, beyond what the standby has; and whether the new primary lacks it. */
    bool ahead; bool missesCommits;
}
Process process[NP];

/* Requests that the server has yet to act on, and the answers. */
#define NOTHING 0
#define ASKED 1
#define TOKENS 2
#define INVALID_GRANT 3
typedef Message { byte kind; byte rt; byte reply; }
Message wire[NP];

byte current = 1; /* the refresh token that the provider takes */
bool revoked;

/* ---- What only the judge knows ------------------------------------------------------------------------------- */

int sent;         /* tokens that reached the provider, or may have */
byte acknowledged = 1; /* the newest token whose commit was acknowledged */

byte calls = CALLS, crashes = CRASHES, stalls = STALLS, cuts = CUTS, losses = LOSSES, fails = FAILS,
    failovers = FAILOVERS;

hidden byte one_request_at_a_time, no_second_send_without_doubt, no_acknowledged_rotation_forgotten,
    no_chain_lost_beside_its_reply;

/* ---- Abbreviations ------------------------------------------------------------------------------------------- */

#define P process[p]
#define W wire[p]
#define SET(rt) (1 << (rt))
#define NAME(p) ((p) + NP * process[p].lives)
#define OWNER (v.owner - 1)
#define OWNER_PROCESS (OWNER % NP)
#define OWNER_HAS_ENDED (process[OWNER_PROCESS].dead || NAME(OWNER_PROCESS) != OWNER)
#define RUNS (!P.dead && !P.stalled && !P.left)
#define REACHES (P.hasSession && !P.cut)
#define CHECK(name, holds) name = (holds); assert(name)

/* Whether others count the owner of the open intent as alive. */
#ifdef MUTANT_LEASE
#define OTHER_LIVES (intentAge < WAIT)
#else
#ifdef MUTANT_FREE_IS_DEAD
#define OTHER_LIVES (lock[OWNER])
#else
#ifdef ONE_MACHINE
#define OTHER_LIVES (!OWNER_HAS_ENDED && (lock[OWNER] || v.seen[OWNER] < WAIT))
#else
#define OTHER_LIVES (lock[OWNER] || v.seen[OWNER] < WAIT)
#endif
#endif
#endif
#ifdef MUTANT_LEASE
byte intentAge;
#define AGE_OF_INTENT(n) intentAge = (n)
#else
#define AGE_OF_INTENT(n) skip
#endif

/* Of its own intents a process knows which it works on. */
#define OWNER_WORKS (v.open && v.owner != NOBODY \
    && ((OWNER == NAME(p) && P.pc != idle) || (OWNER != NAME(p) && OTHER_LIVES)))

/* ---- Commits, and what a standby has of them ------------------------------------------------------------------ */

inline copy(from, to) {
    to.gen = from.gen; to.rt = from.rt; to.open = from.open; to.owner = from.owner; to.fence = from.fence;
    to.doubt = from.doubt; to.fences = from.fences; to.held = from.held; to.dead = from.dead
}

inline copyProofs(from, to) {
    n = 0;
    do :: n < NAMES -> to.seen[n] = from.seen[n]; n++ :: else -> break od;
    n = 0
}

#if FAILOVERS > 0
inline replicate() {
    copy(v, s); copyProofs(v, s); behind = false;
#ifdef SHORT_LIVED
    lacks = false;
#endif
#ifdef MUTANT_NOBODY_WAITS
    n = 0;
    do :: n < NP -> process[n].ahead = false; n++ :: else -> break od;
    n = 0
#else
    skip
#endif
}
#endif

/* It was answered. A synchronous standby has it then. */
inline acknowledge() {
#if FAILOVERS > 0
#ifdef ASYNCHRONOUS
    behind = true; copy(v, w); noteWhatIsThere();
#ifdef SHORT_LIVED
    if :: p == 0 -> lacks = true; heard = false :: else -> heard = true fi
#endif
#else
    replicate()
#endif
#else
    skip
#endif
}

/* It was not answered: whoever reads the primary sees it all the same. */
inline leaveUnacknowledged() {
#if FAILOVERS > 0
    behind = true
#else
    skip
#endif
}

inline noteWhatIsThere() {
#ifdef MUTANT_NOBODY_WAITS
    if :: behind -> P.ahead = true :: else fi
#else
    skip
#endif
}

/* Whether a process may claim after a failover. */
#if FAILOVERS > 0 && defined(ASYNCHRONOUS) && !defined(MUTANT_NOBODY_WAITS)
#define MAY_CLAIM settled
#else
#define MAY_CLAIM true
#endif

/* Nobody waits for one that has left: its row may be gone. */
#define REPORTED(q) (process[q].left || (process[q].hasReported && !process[q].hasForgotten))
#if NP == 3
#define ALL_REPORTED (REPORTED(0) && REPORTED(1) && REPORTED(2))
#else
#define ALL_REPORTED (REPORTED(0) && REPORTED(1))
#endif

/* ---- One renewal --------------------------------------------------------------------------------------------- */

inline rest() {
    P.pc = idle; P.age = 0; P.gen = 0; P.rt = 0; P.fence = 0; P.doubt = false; P.reply = 0; P.isDead = false;
    W.kind = NOTHING; W.rt = 0; W.reply = 0
}

inline closeIntent() { v.open = false; v.owner = NOBODY; v.fence = 0; v.doubt = false; AGE_OF_INTENT(0) }

inline writeIntent() {
    v.doubt = v.open; v.fences++;
    v.open = true; v.owner = NAME(p) + 1; v.fence = v.fences; AGE_OF_INTENT(0)
}

inline claim() {
    if :: !v.open -> calls-- :: else fi;
    writeIntent();
    if
    :: acknowledge();
        P.gen = v.gen; P.rt = v.rt; P.fence = v.fence; P.doubt = v.doubt; P.age = 0; P.pc = claimed
    :: fails > 0 -> fails--; leaveUnacknowledged()
    fi
}

#define IS_MINE (v.open && v.owner == NAME(p) + 1 && v.fence == P.fence && v.gen == P.gen)

/* The last look: at the server. */
inline look() {
    if
    :: IS_MINE && !v.held && !v.dead -> noteWhatIsThere(); P.pc = looked
    :: else -> giveBack()
    fi
}

/* Nothing was sent under this intent. */
inline giveBack() {
    if
    :: IS_MINE && !P.doubt -> closeIntent(); acknowledge()
    :: IS_MINE && P.doubt -> v.owner = NOBODY; acknowledge()
    :: else
    fi;
    rest()
}

/* Of one that was stopped for longer than its request may take, the answer lies there, as after a crash. */
#define OTHER_SENDS(q) (p != (q) && process[q].pc == sending && process[q].age <= REQUEST && process[q].rt == P.rt)

inline send() {
#if NP == 3
    CHECK(one_request_at_a_time, !OTHER_SENDS(0) && !OTHER_SENDS(1) && !OTHER_SENDS(2));
#else
    CHECK(one_request_at_a_time, !OTHER_SENDS(0) && !OTHER_SENDS(1));
#endif
    CHECK(no_second_send_without_doubt, P.doubt || !(sent & SET(P.rt)));
    CHECK(no_acknowledged_rotation_forgotten, P.rt >= acknowledged);
    sent = sent | SET(P.rt);
    W.kind = ASKED; W.rt = P.rt; P.age = 0; P.pc = sending
}

inline store() {
    if
    :: v.open && v.fence == P.fence && v.gen == P.gen && !v.dead ->
        v.gen++; v.rt = P.reply; closeIntent();
        if
        :: acknowledge(); acknowledged = v.rt; rest()
        :: fails > 0 -> fails--; leaveUnacknowledged()
        fi
    :: !(v.open && v.fence == P.fence && v.gen == P.gen && !v.dead) && v.rt == P.reply ->
        /* A commit that had happened. The one that records this is behind it. */
        acknowledge(); acknowledged = v.rt; rest()
    :: else -> rest() /* no longer the login's: to the outbox */
    fi
}

#define HOLDS_REPLY(q) (p != (q) && process[q].pc == storing && !process[q].dead)

inline record() {
    if
    :: v.open && v.fence == P.fence && v.gen == P.gen ->
        if
        :: P.isDead ->
#ifdef LIMIT_LONG_CUT
            CHECK(no_chain_lost_beside_its_reply, !HOLDS_REPLY(0) && !HOLDS_REPLY(1));
#endif
            v.dead = true; closeIntent()
        :: !P.isDead -> v.owner = NOBODY; v.doubt = true
        fi;
        acknowledge()
    :: else
    fi;
    rest()
}

/* ---- What a session of the server is ------------------------------------------------------------------------- */

inline connect() {
    lock[NAME(p)] = true; P.hasSession = true; P.proof = 0; v.seen[NAME(p)] = 0;
#if FAILOVERS > 0 && defined(ASYNCHRONOUS)
#ifdef MUTANT_NOBODY_WAITS
    /* Each looks for its own last commit alone. */
    if :: P.missesCommits -> v.held = true; P.missesCommits = false; acknowledge() :: else fi
#else
    P.hasReported = true;
    /* With the last one everything is done again that was acknowledged. */
    if :: !settled && ALL_REPORTED -> goOn(); settled = true; acknowledge() :: else fi
#endif
#else
    skip
#endif
}

#if FAILOVERS > 0 && defined(ASYNCHRONOUS)
inline goOn() {
#ifdef SHORT_LIVED
    if
    :: process[0].left && misses && heard -> v.held = true
    /* Nobody knows that something is missing. */
    :: process[0].left && misses && !heard
    :: else -> copy(w, v)
    fi;
    misses = false
#else
    copy(w, v)
#endif
}
#endif

#ifdef SHORT_LIVED
inline hear() { if :: p == 1 && settled -> heard = true :: else fi }
#ifdef MUTANT_NO_FAREWELL
#define MAY_LEAVE true
#else
#define MAY_LEAVE heard
#endif
#else
inline hear() { skip }
#endif

proctype Running(byte p) {
    byte n;
end:
    do
    :: atomic { RUNS && !P.cut && !P.hasSession && !lock[NAME(p)] -> connect() }
    :: atomic { RUNS && REACHES && (P.proof > 0 || v.seen[NAME(p)] > 0) -> P.proof = 0; v.seen[NAME(p)] = 0; hear() }
#ifdef SHORT_LIVED
    :: atomic { p == 1 && RUNS && REACHES && !heard -> hear() }
    /* It has closed the vault. */
    :: atomic { p == 0 && RUNS && REACHES && P.pc == idle && settled && MAY_LEAVE ->
        P.left = true; P.hasSession = false; lock[NAME(p)] = false; v.seen[NAME(p)] = WAIT }
#endif

    :: atomic { RUNS && REACHES && P.pc == idle && P.proof <= SILENCE && MAY_CLAIM && !v.held && !v.dead &&
            v.fences < ATTEMPTS && (v.open || calls > 0) && !OWNER_WORKS ->
        noteWhatIsThere(); claim() }
    :: atomic { RUNS && REACHES && P.pc == claimed -> look() }
#ifdef MUTANT_LEASE
    :: atomic { RUNS && P.pc == looked -> send() }
#else
#ifdef LIMIT_PAUSE
    /* Time passes between the check and the request. */
    :: atomic { RUNS && P.pc == looked && P.proof <= SILENCE && P.age <= WAY -> P.pc = checked }
    :: atomic { RUNS && P.pc == checked -> send() }
#else
    :: atomic { RUNS && P.pc == looked && P.proof <= SILENCE && P.age <= WAY -> send() }
#endif
    :: atomic { RUNS && REACHES && P.pc == looked && (P.proof > SILENCE || P.age > WAY) -> giveBack() }
#endif

    :: atomic { RUNS && P.pc == sending && W.kind == TOKENS ->
        P.reply = W.reply; W.kind = NOTHING; W.rt = 0; W.reply = 0; P.age = 0; P.pc = storing }
    :: atomic { RUNS && P.pc == sending && W.kind == INVALID_GRANT ->
        W.kind = NOTHING; W.rt = 0; P.isDead = true; P.age = 0; P.pc = recording }
    :: atomic { RUNS && P.pc == sending && (P.age >= REQUEST || losses > 0) ->
        if :: P.age < REQUEST -> losses-- :: else fi;
        /* A request that has not arrived yet does not arrive any more: renewal.pml has those that do. */
        W.kind = NOTHING; W.rt = 0; W.reply = 0; P.age = 0; P.pc = recording }
    :: atomic { RUNS && REACHES && P.pc == storing -> store() }
    :: atomic { RUNS && REACHES && P.pc == recording -> record() }
    od
}

/* ---- The provider: strict, so that each token sent twice shows --------------------------------------------------- */

proctype Provider() {
    byte p;
end:
    do
    :: atomic { wire[0].kind == ASKED -> p = 0; goto act }
    :: atomic { wire[1].kind == ASKED -> p = 1; goto act }
#if NP == 3
    :: atomic { wire[2].kind == ASKED -> p = 2; goto act }
#endif
    od;
act:
    atomic {
        if
        :: W.kind == ASKED && !revoked && W.rt == current -> current++; W.reply = current; W.kind = TOKENS
        :: W.kind == ASKED && (revoked || W.rt != current) -> revoked = true; W.kind = INVALID_GRANT
        :: W.kind != ASKED
        fi;
        p = 0;
        goto end
    }
}

/* ---- Time, and what happens to them -------------------------------------------------------------------------- */

/* A request that runs ends in time, if its process does. */
#define MUST_ACT(q) (process[q].pc == sending && process[q].age >= REQUEST && !process[q].stalled && !process[q].dead)
#if NP == 3
#define TIME_MAY_PASS (!MUST_ACT(0) && !MUST_ACT(1) && !MUST_ACT(2))
#else
#define TIME_MAY_PASS (!MUST_ACT(0) && !MUST_ACT(1))
#endif

inline older(what, most) { if :: what < most -> what++ :: else fi }

inline tick() {
    p = 0;
    do
    :: p < NP ->
        if :: !P.dead -> older(P.proof, SILENCE + 1) :: else fi;
        if
        :: P.pc == claimed || P.pc == looked -> older(P.age, WAY + 1)
        :: P.pc == sending -> older(P.age, REQUEST + 1) /* beyond REQUEST only who is stopped */
        :: else
        fi;
        p++
    :: else -> break
    od;
    n = 0;
    do
    :: n < NAMES ->
        older(v.seen[n], WAIT);
#if FAILOVERS > 0
        older(s.seen[n], WAIT);
#endif
        n++
    :: else -> break
    od;
#ifdef MUTANT_LEASE
    if :: v.open -> older(intentAge, WAIT) :: else fi;
#endif
    p = 0; n = 0
}

inline crash() {
    P.dead = true; P.stalled = false; P.hasSession = false; P.ahead = false; P.missesCommits = false; P.proof = 0;
#if FAILOVERS > 0 && defined(ASYNCHRONOUS)
    P.hasForgotten = true;
#endif
    /* On a machine that is cut off the server learns of it later. */
    if :: !P.cut -> lock[NAME(p)] = false :: else fi;
    rest()
}

#if FAILOVERS > 0
/* The old primary is gone for good, and with it all sessions. */
inline failOver() {
    p = 0;
    do
    :: p < NP ->
        P.hasSession = false; P.hasReported = false;
        P.missesCommits = P.missesCommits || P.ahead; P.ahead = false;
        p++
    :: else -> break
    od;
    n = 0;
    do :: n < NAMES -> lock[n] = false; n++ :: else -> break od;
    copy(s, v); copyProofs(s, v); behind = false;
#ifdef ASYNCHRONOUS
    settled = false;
#endif
#ifdef SHORT_LIVED
    misses = misses || lacks; lacks = false;
#endif
    p = 0; n = 0
}
#endif

proctype World() {
    byte p, n;
end:
    do
    :: atomic { TIME_MAY_PASS -> tick() }

#if CRASHES > 0
    :: atomic { crashes > 0 && !process[0].dead && process[0].lives == 0 -> crashes--; p = 0; crash(); p = 0 }
    :: atomic { crashes > 0 && !process[1].dead && process[1].lives == 0 -> crashes--; p = 1; crash(); p = 0 }
    :: atomic { process[0].dead -> process[0].dead = false; process[0].lives++ }
    :: atomic { process[1].dead -> process[1].dead = false; process[1].lives++ }
#endif
#if STALLS > 0
    :: atomic { stalls > 0 && !process[0].dead -> stalls--; process[0].stalled = true }
    :: atomic { process[0].stalled -> process[0].stalled = false }
#endif
#ifdef MUTANT_FORGET
    /* Its row is removed while it has no session. */
    :: atomic { !lock[NAME(0)] && v.seen[NAME(0)] < WAIT -> v.seen[NAME(0)] = WAIT }
#endif
#if CUTS > 0
    :: atomic { cuts > 0 -> cuts--; process[0].cut = true }
    :: atomic { process[0].cut ->
        /* Sessions are lost on either side, first on one. */
        if
        :: process[0].hasSession -> process[0].hasSession = false
        :: lock[NAME(0)] -> lock[NAME(0)] = false
        :: process[0].cut = false
        fi }
    /* The server has dropped the session, and the client learns of it. */
    :: atomic { process[0].hasSession && !process[0].cut && !lock[NAME(0)] -> process[0].hasSession = false }
    /* The client has given its session up, and the server learns of it. */
    :: atomic { !process[0].hasSession && !process[0].cut && lock[NAME(0)] -> lock[NAME(0)] = false }
#endif
#if FAILOVERS > 0
    :: atomic { failovers > 0 -> failovers--; failOver() }
#ifdef ASYNCHRONOUS
    :: atomic { behind -> replicate() }
#ifndef MUTANT_NOBODY_WAITS
    /* Somebody who may know more does not come in time: all is held. Whoever comes later finds it so. */
    :: atomic { !settled && !ALL_REPORTED -> v.held = true; settled = true; behind = true; copy(v, w) }
#endif
#else
    /* Proofs of life are not waited for, not even by a synchronous standby. */
    :: atomic { !behind -> replicate() }
#endif
#endif
    od
}

init {
    atomic {
        byte p = 0;
        v.gen = 1; v.rt = 1;
#if FAILOVERS > 0
        s.gen = 1; s.rt = 1;
#ifdef ASYNCHRONOUS
        w.gen = 1; w.rt = 1;
#endif
#endif
        do
        :: p < NP -> lock[p] = true; P.hasSession = true; p++
        :: else -> break
        od;
        p = 0;
        run Running(0); run Running(1);
#if NP == 3
        run Running(2);
#endif
        run Provider();
        run World()
    }
}
