/*
 * How processes share the chains of refresh tokens in one vault: the protocol, not its code.
 *
 * docs/model.md says what each part stands for in the library, what is left out, and which invariants are checked.
 * scripts/proofs/model runs it; a configuration is a list of -D. States of a renewal have the names that they have in
 * RenewalMachine.swift.
 */

/* ---- Configuration ------------------------------------------------------------------------------------------- */

#ifndef NP
#define NP 2 /* processes */
#endif
#ifndef NL
#define NL 1 /* logins */
#endif
#ifndef SERVER
#define SERVER STRICT
#endif
#define NONE 0   /* never rotates */
#define GRACE 1  /* the spent token gives the same successor again, until that is used */
#define STRICT 2 /* a spent token that comes again revokes the grant */
#define NONCE 3  /* as strict, and spends the token before it asks for a nonce (atproto#3859) */

/* How often each thing may happen in one run. */
#ifndef CALLS
#define CALLS 2 /* renewals that callers want, for each login */
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef STALLS
#define STALLS 0
#endif
#ifndef LOSSES
#define LOSSES 0 /* a request or a reply that is lost */
#endif
#ifndef LATES
#define LATES 0 /* a request that arrives after its sender gave it up */
#endif
#ifndef FAILS
#define FAILS 0 /* a commit that is reported as failed, and happened or not */
#endif
#ifndef REFUSALS
#define REFUSALS 0 /* the server refuses the client, or asks for patience: nothing is spent */
#endif
#ifndef STALES
#define STALES 0 /* the server has a new nonce */
#endif
#ifndef LOGOUTS
#define LOGOUTS 0
#endif
#ifndef RELOGINS
#define RELOGINS 0 /* the app sets tokens of a new grant */
#endif
#ifndef UPDATES
#define UPDATES 0 /* the app sets an access token alone */
#endif
#ifndef REVOKES
#define REVOKES 0 /* the user ends the grant at the server */
#endif
#ifndef HELD
#define HELD 0 /* the vault was restored: held until somebody accepts */
#endif
#define REPLAYS 1
#define CHAINS (1 + RELOGINS)

/* ---- The vault: durable, shared ------------------------------------------------------------------------------ */

#define NOBODY 0

typedef Login {
    bool gone;
    byte chain;      /* 0-based */
    byte gen;
    byte rt;         /* the refresh token; 0: none */
    bool held;
    byte failed;     /* 0, DEAD_GRANT or LOST_RESPONSE */
    bool open;       /* the intent */
    byte fence;
    byte owner;
    byte igen;
    bool doubt;
    byte fences;     /* the last fence that was given out */
    byte calls;      /* renewals still wanted */
    int outbox;      /* tokens to be revoked, as a set */
    int kept;        /* tokens that were stored as current or previous at some time */
    int intents;     /* fences that were durable at some time */
}
Login vault[NL];

#define DEAD_GRANT 1
#define LOST_RESPONSE 2

/* One entry for each process and login; `owner` 0: empty. */
typedef Spooled { byte owner; byte rt; byte chain; byte gen; byte fence; }
Spooled spool[NP * NL];

/* ---- Processes ----------------------------------------------------------------------------------------------- */

typedef Process { bool dead; bool stalled; byte lives; }
Process process[NP];

/* A renewal in one process: gone when the process dies. `pc` is RenewalMachine.State. */
mtype = { idle, claiming, waitingForOwner, claimed, sending, pausingBeforeReplay, storing, stored, recording,
    replayingSpool, unspooling };
typedef Renewal {
    mtype pc = idle;
    byte wanted;     /* newer than this generation */
    byte chain; byte gen; byte fence; byte rt;
    bool doubt;
    byte replays;
    byte reply;      /* the refresh token that came */
    byte verdict;
    bool spooled;
}
Renewal renewal[NP * NL];

/* What a renewal has on the way: the request, then the reply. */
#define NOTHING 0
#define REQUEST 1
#define TOKENS 2
#define INVALID_GRANT 3
#define REFUSED 4
#define CHALLENGE 5
typedef Message { byte kind; byte chain; byte rt; byte fence; byte reply; bool nonceIsStale; }
Message wire[NP * NL];

#define V_DEAD 1
#define V_REFUSED 2
#define V_DOUBT 3

/* ---- The authorization server -------------------------------------------------------------------------------- */

typedef Grant { byte current; byte previous; bool spent; bool revoked; }
Grant grant[NL * CHAINS];
byte issued[NL];     /* the last token that was issued */

/* A request that its sender has given up and that has not arrived. */
typedef Late { bool is; byte login; byte chain; byte rt; }
Late late;

/* ---- What only the judge knows ------------------------------------------------------------------------------- */

int unsure[NL];        /* tokens that were sent and of which no answer tells that they are unspent */
int delivered[NL];     /* tokens that reached a process which lives or has stored them */
bool endedElsewhere[NL * CHAINS]; /* the grant was ended by the user, or by a request that arrived late */

byte crashes = CRASHES, stalls = STALLS, losses = LOSSES, lates = LATES, fails = FAILS, refusals = REFUSALS,
    stales = STALES, logouts = LOGOUTS, relogins = RELOGINS, updates = UPDATES, revokes = REVOKES;

hidden byte I1_one_request_at_a_time, I1_no_second_send_without_doubt, I2_intent_before_request,
    I3_no_token_dropped, I4_generations_grow, I5_stale_fence_writes_nothing, I6_dead_only_if_the_server_says_so,
    I7_no_flag_without_verdict, I8_renewed_is_newer, I9_nothing_survives_its_end, I14_held_sends_nothing,
    no_silent_loss, lost_only_if_no_reply_arrived, grace_loses_nothing, I16_nothing_stays_open;

/* ---- Abbreviations ------------------------------------------------------------------------------------------- */

#define X(p, l) ((p) * NL + (l))
#define G(l, c) ((l) * CHAINS + (c))
#define SET(rt) (1 << (rt))
#define L vault[l]
#define R renewal[X(p, l)]
#define W wire[X(p, l)]
#define S spool[X(p, l)]

#define NAME(p) (1 + (p) + NP * process[p].lives)
#define OWNER_PROCESS(o) (((o) - 1) % NP)
#ifdef MUTANT_LEASE
/* Who does not stir is taken for dead. */
#define LIVES(o) ((o) != NOBODY && !process[OWNER_PROCESS(o)].dead && NAME(OWNER_PROCESS(o)) == (o) \
    && !process[OWNER_PROCESS(o)].stalled)
#else
#define LIVES(o) ((o) != NOBODY && !process[OWNER_PROCESS(o)].dead && NAME(OWNER_PROCESS(o)) == (o))
#endif
#define RUNS (!process[p].dead && !process[p].stalled)
#define IN_FLIGHT(q) (renewal[X(q, l)].pc != idle && renewal[X(q, l)].pc != claiming \
    && renewal[X(q, l)].pc != waitingForOwner && renewal[X(q, l)].fence == L.fence)
/* Other processes see the lock; a process knows its own renewals. */
#define OWNER_WORKS (L.open && LIVES(L.owner) && (OWNER_PROCESS(L.owner) != p || IN_FLIGHT(p)))

#define SPOOLED_BY_DEAD(q) (spool[X(q, l)].owner != NOBODY && !LIVES(spool[X(q, l)].owner))
#if NP == 3
#define DEAD_SPOOL (SPOOLED_BY_DEAD(0) || SPOOLED_BY_DEAD(1) || SPOOLED_BY_DEAD(2))
#else
#define DEAD_SPOOL (SPOOLED_BY_DEAD(0) || SPOOLED_BY_DEAD(1))
#endif

#define CHECK(name, holds) name = (holds); assert(name)

inline rest() {
    R.pc = idle; R.wanted = 0; R.chain = 0; R.gen = 0; R.fence = 0; R.rt = 0; R.doubt = false;
    R.replays = 0; R.reply = 0; R.verdict = 0; R.spooled = false;
}

inline clearWire() {
    W.kind = NOTHING; W.chain = 0; W.rt = 0; W.fence = 0; W.reply = 0; W.nonceIsStale = false;
}

/* ---- D1 ------------------------------------------------------------------------------------------------------ */

inline writeIntent() {
    R.doubt = L.open; /* an attempt without an answer was here before */
    L.fences++;
    R.fence = L.fences; R.chain = L.chain; R.gen = L.gen; R.rt = L.rt; R.replays = 0;
#ifndef MUTANT_NO_INTENT
    L.intents = L.intents | SET(R.fence);
#endif
    L.open = true; L.fence = R.fence; L.owner = NAME(p); L.igen = L.gen; L.doubt = R.doubt;
    CHECK(I14_held_sends_nothing, !L.held && L.failed == 0 && !L.gone && L.rt != 0)
}

inline claim() {
    if
    :: L.gone || L.failed || L.held || L.rt == 0 -> rest()
    :: else ->
        if
        :: OWNER_WORKS -> R.pc = waitingForOwner
        :: else ->
            if
#ifndef MUTANT_BLIND_TAKEOVER
            :: DEAD_SPOOL -> R.pc = replayingSpool
            :: !DEAD_SPOOL && !L.open && L.gen > R.wanted -> rest() /* satisfied */
            :: !DEAD_SPOOL && (L.open || L.gen <= R.wanted) ->
#else
            :: !L.open && L.gen > R.wanted -> rest()
            :: L.open || L.gen <= R.wanted ->
#endif
                if
                :: writeIntent(); R.pc = claimed
                :: fails > 0 -> fails--; rest()
                :: fails > 0 -> fails--; writeIntent(); rest()
                fi
            fi
        fi
    fi
}

/* ---- Sending ------------------------------------------------------------------------------------------------- */

inline send() {
    CHECK(I1_one_request_at_a_time,
        (p == 0 || renewal[X(0, l)].pc != sending || renewal[X(0, l)].rt != R.rt)
        && (p == 1 || renewal[X(1, l)].pc != sending || renewal[X(1, l)].rt != R.rt)
#if NP == 3
        && (p == 2 || renewal[X(2, l)].pc != sending || renewal[X(2, l)].rt != R.rt)
#endif
        );
#ifndef MUTANT_NO_INTENT
    CHECK(I1_no_second_send_without_doubt, R.doubt || !(unsure[l] & SET(R.rt)));
    CHECK(I2_intent_before_request, (L.intents & SET(R.fence)) != 0);
#endif
    unsure[l] = unsure[l] | SET(R.rt);
    W.kind = REQUEST; W.chain = R.chain; W.rt = R.rt; W.fence = R.fence;
    if
    :: stales > 0 && SERVER == NONCE && R.replays == 0 && !R.doubt -> stales--; W.nonceIsStale = true
    :: W.nonceIsStale = false
    fi;
    R.pc = sending
}

/* Nothing usable came, and the request may have arrived. */
inline noReply() {
    clearWire();
    if
    :: R.replays < REPLAYS -> R.replays++; R.doubt = true; R.pc = pausingBeforeReplay
    :: else -> R.verdict = V_DOUBT; R.pc = recording
    fi
}

inline giveUp() {
    losses--;
    if
    :: W.kind == REQUEST && lates > 0 && !late.is ->
        lates--; late.is = true; late.login = l; late.chain = W.chain; late.rt = W.rt
    :: true
    fi;
    noReply()
}

inline receive() {
    if
    :: W.kind == TOKENS ->
        R.reply = W.reply;
        if :: W.reply -> delivered[l] = delivered[l] | SET(W.reply) :: else fi;
        unsure[l] = unsure[l] & ~SET(R.rt);
        R.pc = storing
    :: W.kind == INVALID_GRANT -> R.verdict = V_DEAD; R.pc = recording
    :: W.kind == REFUSED ->
        /* Whoever is in doubt stays in doubt: this says nothing of what was sent before. */
        if :: !R.doubt -> unsure[l] = unsure[l] & ~SET(R.rt) :: else fi;
        R.verdict = V_REFUSED; R.pc = recording
    :: W.kind == CHALLENGE ->
        /* The one repeat for the proof: the server has seen the token. */
        R.doubt = true; R.pc = claimed
    fi;
    clearWire()
}

/* ---- D2 ------------------------------------------------------------------------------------------------------ */

#ifdef MUTANT_NO_FENCE
#define IS_OPEN(onChain, withFence) (L.rt != 0 || L.open)
#else
#define IS_OPEN(c, f) (L.open && L.fence == (f) && L.chain == (c) && L.igen == L.gen)
#endif

/* One transaction: the tokens of this attempt, or what becomes of them when it is not the login's any more. */
inline store(onChain, onGen, withFence, token) {
    if
    :: L.gone ->
        if :: token -> L.outbox = L.outbox | SET(token) :: else fi
    :: !L.gone && !L.open && L.chain == onChain && token != 0 && L.rt == token -> skip /* a commit that had happened */
    :: !L.gone && !(!L.open && L.chain == onChain && token != 0 && L.rt == token) ->
        if
        :: IS_OPEN(onChain, withFence) ->
            CHECK(I5_stale_fence_writes_nothing, L.open && L.fence == withFence && L.chain == onChain);
            L.gen++;
            CHECK(I4_generations_grow, L.gen > onGen);
            if :: token -> L.rt = token; L.kept = L.kept | SET(token) :: else fi;
            L.open = false; L.fence = 0; L.owner = NOBODY; L.igen = 0; L.doubt = false
        :: else ->
            if
            :: token == 0 || (L.kept & SET(token)) -> skip /* a spool entry that comes a second time */
            :: token != 0 && !(L.kept & SET(token)) && L.chain == onChain -> L.kept = L.kept | SET(token)
            :: token != 0 && !(L.kept & SET(token)) && L.chain != onChain -> L.outbox = L.outbox | SET(token)
            fi
        fi
    fi
}

inline commit() {
    if
    :: store(R.chain, R.gen, R.fence, R.reply); R.pc = stored
    :: fails > 0 ->
        fails--;
        if
        :: true /* nothing was written */
        :: store(R.chain, R.gen, R.fence, R.reply)
        fi;
#ifndef MUTANT_DROP
        if
        :: R.reply != 0 && !R.spooled ->
            S.owner = NAME(p); S.rt = R.reply; S.chain = R.chain; S.gen = R.gen; S.fence = R.fence;
            R.spooled = true
        :: R.reply == 0 || R.spooled /* nothing that could be lost */
        :: fails > 0 && R.reply != 0 && !R.spooled -> fails-- /* nor could it be spooled: it is in memory */
        fi
#else
        rest()
#endif
    fi
}

/* ---- Outcomes without tokens --------------------------------------------------------------------------------- */

inline closeIntent() { L.open = false; L.fence = 0; L.owner = NOBODY; L.igen = 0; L.doubt = false }

inline leaveDoubt() {
#ifdef MUTANT_NO_INTENT
    closeIntent()
#else
    L.owner = NOBODY; L.doubt = true
#endif
}

inline apply() {
    if
    :: L.gone -> skip
    :: !L.gone && IS_OPEN(R.chain, R.fence) && L.gen == R.gen ->
        if
        :: R.verdict == V_DEAD ->
            CHECK(I6_dead_only_if_the_server_says_so, R.doubt || endedElsewhere[G(l, R.chain)]);
            CHECK(lost_only_if_no_reply_arrived, !R.doubt || R.chain > 0
                || (delivered[l] & ~(L.kept | L.outbox)) == 0);
            L.failed = (R.doubt -> LOST_RESPONSE : DEAD_GRANT);
            L.rt = 0;
            closeIntent()
        :: R.verdict == V_REFUSED ->
            if :: R.doubt -> leaveDoubt() :: else -> closeIntent() fi;
            CHECK(I7_no_flag_without_verdict, L.failed == 0)
        :: R.verdict == V_DOUBT -> leaveDoubt()
        fi
    :: !L.gone && !(IS_OPEN(R.chain, R.fence) && L.gen == R.gen) ->
        if
        :: L.open && L.fence == R.fence ->
            /* The app set an access token meanwhile. The refresh token is the same, and so is what is known of it. */
#ifndef MUTANT_FORGET
            if
            :: (R.doubt || R.verdict == V_DOUBT) && L.chain == R.chain -> leaveDoubt()
            :: else -> closeIntent()
            fi
#else
            closeIntent()
#endif
        :: else -> skip
        fi
    fi
}

inline record() {
    if
    :: apply(); rest()
    :: fails > 0 -> fails--; if :: true :: apply() fi
    fi
}

/* ---- Before a replay ------------------------------------------------------------------------------------------ */

inline notedDoubt() {
#ifndef MUTANT_NO_INTENT
    L.doubt = true
#else
    skip
#endif
}

/* What nobody would know of is not sent. */
inline noteReplay() {
    if
    :: L.gone || !IS_OPEN(R.chain, R.fence) -> rest()
    :: !L.gone && IS_OPEN(R.chain, R.fence) && L.gen != R.gen -> leaveDoubt(); rest()
    :: !L.gone && IS_OPEN(R.chain, R.fence) && L.gen == R.gen ->
        if
        :: notedDoubt(); R.pc = claimed
        :: fails > 0 ->
            fails--;
            if :: true :: notedDoubt() fi;
            R.verdict = V_DOUBT; R.pc = recording
        fi
    fi
}

/* ---- Spool of the dead --------------------------------------------------------------------------------------- */

inline replaySpool() {
    q = 0;
    do
    :: q < NP && SPOOLED_BY_DEAD(q) -> break
    :: q < NP && !SPOOLED_BY_DEAD(q) -> q++
    :: q == NP -> break
    od;
    if
    :: q == NP -> R.pc = claiming
    :: q < NP ->
        store(spool[X(q, l)].chain, spool[X(q, l)].gen, spool[X(q, l)].fence, spool[X(q, l)].rt);
        R.reply = q; R.fence = spool[X(q, l)].fence; R.pc = unspooling
    fi;
    q = 0
}

inline unspool(q) {
    spool[X(q, l)].owner = NOBODY; spool[X(q, l)].rt = 0; spool[X(q, l)].chain = 0; spool[X(q, l)].gen = 0;
    spool[X(q, l)].fence = 0
}

/* ---- One renewal --------------------------------------------------------------------------------------------- */

/* After a crash the process comes back with another name, and looks into the spool of the dead before all else. */
#define READY (spool[X(p, l)].owner == NOBODY || spool[X(p, l)].owner == NAME(p))

proctype Flight(byte p; byte l) {
    byte q;
end:
    do
    :: atomic { RUNS && R.pc == idle && READY && L.calls > 0 && !L.gone ->
        L.calls--; R.wanted = L.gen; R.pc = claiming }
    /* Recovery: spool entries of the dead, then intents that nobody works on. */
    :: atomic { RUNS && R.pc == idle && DEAD_SPOOL -> R.pc = replayingSpool }
#ifndef MUTANT_NO_SWEEP
    :: atomic { RUNS && R.pc == idle && READY && L.open && !L.held && !OWNER_WORKS && !DEAD_SPOOL ->
        R.wanted = L.gen; R.pc = claiming }
#endif

    :: atomic { RUNS && R.pc == claiming -> claim() }
#ifndef STALLED_FOR_EVER
    :: atomic { RUNS && R.pc == waitingForOwner && !OWNER_WORKS -> R.pc = claiming }
    :: atomic { RUNS && R.pc == waitingForOwner && OWNER_WORKS && process[OWNER_PROCESS(L.owner)].stalled ->
        rest() /* refreshStalled */ }
#else
    :: atomic { RUNS && R.pc == waitingForOwner -> R.pc = claiming }
#endif

    :: atomic { RUNS && R.pc == claimed -> send() }
    :: atomic { RUNS && R.pc == sending && W.kind > REQUEST -> receive() }
    :: atomic { RUNS && R.pc == sending && losses > 0 -> giveUp() }
    :: atomic { RUNS && R.pc == pausingBeforeReplay -> noteReplay() }

    :: atomic { RUNS && R.pc == storing -> commit() }
    :: atomic { RUNS && R.pc == stored ->
        CHECK(I8_renewed_is_newer, L.gone || L.gen > R.gen || L.chain != R.chain);
        if :: R.spooled && S.fence == R.fence -> unspool(p) :: else fi;
        rest() }
    :: atomic { RUNS && R.pc == recording -> record() }

    :: atomic { RUNS && R.pc == replayingSpool -> replaySpool() }
    :: atomic { RUNS && R.pc == unspooling ->
        if
        :: SPOOLED_BY_DEAD(R.reply) && spool[X(R.reply, l)].fence == R.fence -> unspool(R.reply)
        :: else
        fi;
        rest() }
    od
}

/* ---- The server ---------------------------------------------------------------------------------------------- */

#define D grant[G(l, onGrant)]

/* What the server does with one token; `answer` gets the kind, `token` the successor. */
inline serve(onGrant, sent, isLate, isStale) {
    token = 0;
    if
    :: D.revoked -> answer = INVALID_GRANT
    :: !D.revoked && SERVER == NONE -> answer = TOKENS
    :: !D.revoked && SERVER != NONE && sent == D.current && !D.spent ->
        if
        :: SERVER == NONCE && isStale -> D.spent = true; answer = CHALLENGE
        :: else ->
            issued[l]++;
            D.previous = D.current; D.current = issued[l]; D.spent = false;
            token = D.current; answer = TOKENS
        fi
    :: !D.revoked && SERVER == GRACE && sent == D.previous -> token = D.current; answer = TOKENS
    :: !D.revoked && SERVER != NONE && !(sent == D.current && !D.spent) && !(SERVER == GRACE && sent == D.previous) ->
        /* Reuse: the whole family ends. */
        D.revoked = true; answer = INVALID_GRANT;
        if :: isLate -> endedElsewhere[G(l, onGrant)] = true :: else fi
    fi
}

proctype Server() {
    byte p, l, answer, token;
end:
    do
    :: atomic { late.is ->
        l = late.login;
        serve(late.chain, late.rt, true, false);
        late.is = false; late.login = 0; late.chain = 0; late.rt = 0;
        l = 0; answer = 0; token = 0 }
    :: atomic { wire[0].kind == REQUEST -> p = 0; l = 0; goto act }
    :: atomic { wire[1].kind == REQUEST -> p = 1 / NL; l = 1 % NL; goto act }
#if NP * NL > 2
    :: atomic { wire[2].kind == REQUEST -> p = 2 / NL; l = 2 % NL; goto act }
#endif
#if NP * NL > 3
    :: atomic { wire[3].kind == REQUEST -> p = 3 / NL; l = 3 % NL; goto act }
#endif
#if NP * NL > 4
    :: atomic { wire[4].kind == REQUEST -> p = 4 / NL; l = 4 % NL; goto act }
    :: atomic { wire[5].kind == REQUEST -> p = 5 / NL; l = 5 % NL; goto act }
#endif
    od;
act:
    atomic {
        if
        :: W.kind != REQUEST /* given up meanwhile */
        :: W.kind == REQUEST && refusals > 0 -> refusals--; W.kind = REFUSED
        :: W.kind == REQUEST ->
            serve(W.chain, W.rt, false, W.nonceIsStale);
            W.kind = answer; W.reply = token
        fi;
        p = 0; l = 0; answer = 0; token = 0;
        goto end
    }
}

/* ---- What happens to them ------------------------------------------------------------------------------------ */

/* What was in memory only is lost: that cannot be had otherwise. */
inline crashFlight() {
    if
    :: R.pc == storing && R.reply != 0 && !R.spooled -> delivered[l] = delivered[l] & ~SET(R.reply)
    :: else
    fi;
    if
    :: W.kind == REQUEST && lates > 0 && !late.is ->
        lates--; late.is = true; late.login = l; late.chain = W.chain; late.rt = W.rt
    :: true
    fi;
    clearWire();
    rest()
}

inline crash() {
    process[p].dead = true; process[p].stalled = false;
    l = 0; crashFlight();
#if NL == 2
    l = 1; crashFlight();
#endif
#ifdef MUTANT_NO_INTENT
    /* What a process was about to do dies with it. */
    l = 0; if :: L.open && OWNER_PROCESS(L.owner) == p -> closeIntent() :: else fi;
#endif
    l = 0
}

inline logOut() {
    if :: L.rt -> L.outbox = L.outbox | SET(L.rt) :: else fi;
    L.gone = true; L.rt = 0; closeIntent()
}

inline logInAgain() {
    L.chain++; L.gen++; L.failed = 0;
    issued[l]++; grant[G(l, L.chain)].current = issued[l];
    L.rt = issued[l]; L.kept = L.kept | SET(L.rt);
    closeIntent()
}

proctype World() {
    byte p, l;
end:
    do
    :: atomic { crashes > 0 -> crashes--;
        if :: !process[0].dead -> p = 0 :: !process[1].dead -> p = 1
#if NP == 3
        :: !process[2].dead -> p = 2
#endif
        :: true -> goto spared
        fi;
        crash();
spared: p = 0 }
    :: atomic { process[0].dead -> process[0].dead = false; process[0].lives++ }
    :: atomic { process[1].dead -> process[1].dead = false; process[1].lives++ }
#if NP == 3
    :: atomic { process[2].dead -> process[2].dead = false; process[2].lives++ }
#endif
    :: atomic { stalls > 0 -> stalls--;
        if :: !process[0].dead -> process[0].stalled = true :: !process[1].dead -> process[1].stalled = true :: true
        fi }
#ifndef STALLED_FOR_EVER
    :: atomic { process[0].stalled -> process[0].stalled = false }
    :: atomic { process[1].stalled -> process[1].stalled = false }
#endif

    :: atomic { logouts > 0 -> logouts--; l = 0;
        if :: !L.gone -> logOut() :: true fi }
    :: atomic { relogins > 0 -> relogins--; l = 0;
        if :: !L.gone -> logInAgain() :: true fi }
    :: atomic { updates > 0 -> updates--; l = 0;
        if
        :: !L.gone && L.failed == 0 && L.rt != 0 ->
            L.gen++;
            if :: L.open -> L.igen = L.gen :: else fi
        :: true
        fi }
    :: atomic { revokes > 0 -> revokes--; l = 0;
        if :: grant[G(0, 0)].revoked = true; endedElsewhere[G(0, 0)] = true :: true fi }
#if HELD
    :: atomic { vault[0].held -> vault[0].held = false }
#endif
    od
}

/* ---- When all is quiet --------------------------------------------------------------------------------------- */

#define USABLE(l, c, rt) (SERVER == NONE || (!grant[G(l, c)].spent && (grant[G(l, c)].current == (rt) \
    || (SERVER == GRACE && grant[G(l, c)].previous == (rt)))))

#define CALM(l) (vault[l].gone || !vault[l].open)
#define QUIET(q, l) (renewal[X(q, l)].pc == idle && spool[X(q, l)].owner == NOBODY)
#if NP == 3
#define SETTLED(l) (CALM(l) && QUIET(0, l) && QUIET(1, l) && QUIET(2, l))
#else
#define SETTLED(l) (CALM(l) && QUIET(0, l) && QUIET(1, l))
#endif

#ifndef LIVENESS
proctype Judge() {
    byte l;
    timeout ->
    atomic {
        do
        :: l < NL ->
            CHECK(I3_no_token_dropped, (delivered[l] & ~(L.kept | L.outbox)) == 0);
            CHECK(I9_nothing_survives_its_end, !L.gone || L.rt == 0 && !L.open);
            CHECK(no_silent_loss, L.gone || L.failed || L.held || L.rt == 0 || L.open
                || (!grant[G(l, L.chain)].revoked && USABLE(l, L.chain, L.rt)) || endedElsewhere[G(l, L.chain)]);
            CHECK(grace_loses_nothing, SERVER > GRACE || L.failed == 0 || endedElsewhere[G(l, L.chain)]);
            CHECK(I16_nothing_stays_open, SETTLED(l) || L.held);
            l++
        :: else -> break
        od
    }
}
#endif

#ifdef LIVENESS
#if NL == 2
ltl I16_all_come_to_rest { <>[](SETTLED(0) && SETTLED(1)) }
#else
ltl I16_all_come_to_rest { <>[](SETTLED(0)) }
#endif
#endif

init {
    byte i;
    atomic {
        do
        :: i < NL ->
            vault[i].gen = 1; vault[i].rt = 1; vault[i].kept = SET(1); vault[i].calls = CALLS;
            if
            :: HELD && i == 0 -> vault[i].held = true
            :: else
            fi;
            issued[i] = 1; grant[G(i, 0)].current = 1;
            i++
        :: else -> break
        od;
        run Server();
        run World();
        run Flight(0, 0); run Flight(1, 0);
#if NL == 2
        run Flight(0, 1); run Flight(1, 1);
#endif
#if NP == 3
        run Flight(2, 0);
#endif
#ifndef LIVENESS
        run Judge();
#endif
        i = 0
    }
}
