/* What a schedule says, in C: the longest chain of results, the critical path, slack, and what of a path comes again. */

enum { STAGES = 5 };

/* What an instruction needs are its sources, then the stores that it reads, from `first_need` on. */
typedef struct {
  Schedule *schedule;
  int64_t next;
  int64_t *main_at, *base_at; /* of the chain: when the results and the base of each instruction come, in parts */
  int64_t chain;
  const int64_t *first_need;
  int32_t *producer, *cycles; /* of what an instruction needs, -1: nothing; whole cycles at least */
} Chain;

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* sim.timing.analysis.chains.longest_chain and .dependences, up to number `until`; registers are those of `schedule`. */
int follow_chains(Chain *C, int64_t until) {
  Schedule *S = C->schedule;
  const int apart = !S->in_order;
  for (; C->next < until && C->next < S->count; C->next++) {
    const int64_t number = C->next;
    const Operation *operation = &S->operations[S->operation[number]];
    int64_t at = 0, base_at = 0, need = C->first_need[number];
    for (int32_t i = 0; i < operation->sources; i++, need++) {
      const Source *source = &S->source[operation->first_source + i];
      const int32_t by = C->producer[need] = S->made_by[source->name];
      if (by < 0) continue;
      const int is_base = S->made_as[source->name] >> 16, column = S->made_as[source->name] & 0xffff;
      const int64_t whole = S->distance[source->row * S->columns + column];
      const int64_t fraction = is_base ? 0 : S->operations[S->operation[by]].fraction;
      const int64_t from = is_base && apart ? C->base_at[by] : C->main_at[by];
      const int64_t reached = from + whole * S->unit + fraction;
      at = most(at, reached);
      if (source->kind == ADDRESS) base_at = most(base_at, reached);
      C->cycles[need] = (int32_t)(whole + (fraction > 0));
      if (is_base && apart) C->producer[need] = -1;
    }
    for (int64_t i = S->first_writer[number]; i < S->first_writer[number + 1]; i++, need++) {
      const int32_t writer = C->producer[need] = S->writer[i];
      const int64_t parts = most(forward_of(S, writer) - operation->latency * S->unit, 0);
      at = most(at, C->main_at[writer] + parts);
      C->cycles[need] = (int32_t)((parts + S->unit - 1) / S->unit);
    }
    C->main_at[number] = at;
    C->base_at[number] = base_at;
    C->chain = most(C->chain, at + operation->last_result * S->unit);
    for (int32_t i = 0; i < operation->results; i++) {
      const Result *result = &S->result[operation->first_result + i];
      S->made_by[result->name] = (int32_t)number;
      S->made_as[result->name] = result->moves_base << 16 | result->column;
    }
  }
  return 0;
}

typedef struct { int64_t number, stage; } Event;
typedef struct { Event event; int kind, what; } Binding;

static int64_t time_of(const Schedule *S, Event event) {
  const int64_t *const times[STAGES] = {S->entered, S->available, S->issued, S->ready, S->retired};
  return times[event.stage][event.number];
}

static int before(const Schedule *S, Event one, Event other) {
  const int64_t a = time_of(S, one), b = time_of(S, other);
  if (a != b) return a < b;
  return one.number != other.number ? one.number < other.number : one.stage < other.stage;
}

static int from_issue(int kind) {
  return kind == OPERAND || kind == ACCUMULATOR || kind == ADDRESS || kind == FLAGS || kind == STORE || kind == PIPE ||
         kind == QUEUE || kind == MISPREDICT || kind == MEMORY;
}

/* The event that a stall names; its number is -1 where there is none.  `done` has, for each instruction, the last one up to
   it that retired when it was ready. */
static Event cause_of(const Schedule *S, const int32_t *done, int64_t number, int kind, int64_t cause) {
  if (kind == WIDTH && number) {
    int64_t first = number - 1;
    while (first && S->entered[first - 1] == S->entered[first]) first--;
    return (Event){first, ENTERED};
  }
  if (cause < 0) return (Event){-1, ENTERED};
  if (kind == REORDER) return (Event){done[cause], ISSUED};
  return (Event){cause, from_issue(kind) ? ISSUED : ENTERED};
}

/* What bound an event; its number is -1 for the entry of the first instruction. */
static Binding binding(const Schedule *S, const int32_t *done, Event event) {
  const int64_t number = event.number;
  if (event.stage == RETIRED) {
    const int in_order = number && S->retired[number] > S->ready[number];
    return (Binding){in_order ? (Event){number - 1, RETIRED} : (Event){number, READY}, NONE, 0};
  }
  if (event.stage == READY) return (Binding){{number, ISSUED}, NONE, 0};
  const uint8_t *const kinds[] = {S->entry_kind, S->operand_kind, S->issue_kind};
  const int32_t *const causes[] = {S->entry_cause, S->operand_cause, S->issue_cause};
  const int16_t *const whats[] = {S->entry_what, S->operand_what, S->issue_what};
  const int kind = kinds[event.stage][number];
  const Event cause = cause_of(S, done, number, kind, causes[event.stage][number]);
  if (cause.number >= 0 && before(S, cause, event)) return (Binding){cause, kind, whats[event.stage][number]};
  if (event.stage != ENTERED) return (Binding){{number, event.stage - 1}, kind, 0};
  return (Binding){{number - 1, ENTERED}, kind, 0};
}

typedef struct { int64_t start, end; int32_t source, target; int16_t what; uint8_t stage, kind; } Step;

typedef struct {
  const Schedule *schedule;
  const int32_t *done;
  int64_t number, stage, room, steps;
  Step *step;
} Path;

/* Goes back along the critical path until there is no room for more steps; 2 then, 0 at its start. */
int follow_path(Path *P) {
  const Schedule *S = P->schedule;
  for (P->steps = 0; P->steps < P->room;) {
    if (P->number < 0) return 0;
    const Event event = {P->number, P->stage};
    const Binding bound = binding(S, P->done, event);
    const int64_t end = time_of(S, event), from = bound.event.number;
    const int is_first = from < 0;
    const int64_t start = is_first ? 0 : time_of(S, bound.event);
    if (start < end)
      P->step[P->steps++] = (Step){start, end, (int32_t)(is_first ? event.number : from), (int32_t)event.number,
                                   (int16_t)bound.what, (uint8_t)event.stage, (uint8_t)bound.kind};
    P->number = from;
    P->stage = bound.event.stage;
  }
  return 2;
}

typedef struct {
  const Schedule *schedule;
  const int32_t *done;
  const Chain *needs;
  const int32_t *filling, *crowding; /* 0 where nothing crowds */
  const int64_t *at;                 /* of events by time: where those of a cycle begin, then where they end */
  const int32_t *event;              /* STAGES * number + stage */
  const int32_t *holder, *idle;      /* of each reservation: who had the pipe before (-1), and how long it stood idle */
  int64_t *left;                     /* of each event, STAGES to an instruction: how much later it could be */
  int64_t next, dispatch_to_issue;
} Slack;

static int64_t stage_in(const Schedule *S, int64_t stage) {
  return S->in_order && (stage == AVAILABLE || stage == ISSUED) ? ENTERED : stage;
}

static void limit(Slack *K, Event first, int64_t room, int64_t left) {
  int64_t *found = &K->left[STAGES * first.number + first.stage];
  const int64_t cycles = (room > 0 ? room : 0) + left;
  if (cycles < *found) *found = cycles;
}

static void limit_between(Slack *K, Event first, Event event, int64_t cycles, int64_t left) {
  limit(K, first, time_of(K->schedule, event) - time_of(K->schedule, first) - cycles, left);
}

static void limit_needs(Slack *K, Event event, int64_t left) {
  const Schedule *S = K->schedule;
  for (int64_t i = K->needs->first_need[event.number]; i < K->needs->first_need[event.number + 1]; i++) {
    const int32_t producer = K->needs->producer[i];
    if (producer < 0) continue;
    const Event issue = {producer, stage_in(S, ISSUED)};
    limit(K, (Event){producer, READY}, time_of(S, event) - time_of(S, issue) - K->needs->cycles[i], left);
  }
}

static void limit_reservations(Slack *K, Event event, int64_t left) {
  const Schedule *S = K->schedule;
  for (int64_t i = S->first_use[event.number]; i < S->first_use[event.number + 1]; i++)
    if (K->holder[i] >= 0) limit(K, (Event){K->holder[i], stage_in(S, ISSUED)}, K->idle[i], left);
}

static void limit_seen(Slack *K, Event event, int64_t left) {
  const Binding bound = binding(K->schedule, K->done, event);
  if (bound.event.number < 0 || bound.kind == NONE) return;
  const int issued = bound.event.stage == ISSUED && bound.kind != PIPE && bound.kind != QUEUE;
  const int64_t stage = issued ? READY : stage_in(K->schedule, bound.event.stage);
  limit(K, (Event){bound.event.number, stage}, 0, left);
}

/* sim.timing.analysis.slack: events from the last to the first, up to so many. */
int find_slack(Slack *K, int64_t events) {
  const Schedule *S = K->schedule;
  const int at_once = S->in_order;
  for (; K->next > 0 && events > 0; events--) {
    const int32_t one = K->event[--K->next];
    const Event event = {one / STAGES, one % STAGES};
    const int64_t number = event.number, left = K->left[one];
    const Operation *operation = &S->operations[S->operation[number]];
    switch (event.stage) {
    case ENTERED:
      if (number) limit_between(K, (Event){number - 1, ENTERED}, event, operation->first, left);
      if (K->filling[number] >= 0) limit_between(K, (Event){K->filling[number], ENTERED}, event, 1, left);
      if (K->crowding && K->crowding[number] >= 0)
        limit_between(K, (Event){K->crowding[number], RETIRED}, event, 0, left);
      limit_seen(K, event, left);
      if (at_once) {
        limit_needs(K, event, left);
        limit_reservations(K, event, left);
      }
      break;
    case AVAILABLE:
      limit_between(K, (Event){number, ENTERED}, event, K->dispatch_to_issue, left);
      limit_needs(K, event, left);
      limit_seen(K, event, left);
      break;
    case ISSUED:
      limit_between(K, (Event){number, AVAILABLE}, event, 0, left);
      limit_reservations(K, event, left);
      limit_seen(K, event, left);
      break;
    case READY:
      limit(K, (Event){number, stage_in(S, ISSUED)}, 0, left);
      break;
    default:
      limit_between(K, (Event){number, READY}, event, 0, left);
      if (!number) break;
      if (S->retired[number] > S->ready[number]) limit(K, (Event){number - 1, RETIRED}, 0, left);
      else limit_between(K, (Event){number - 1, RETIRED}, event, 0, left);
    }
  }
  return 0;
}

/* For each instruction from `from` to `until`, the last one before it such that both and all between need more slots than
   there is `room` for; or -1.  `last` is that of the one before `from`, or -1. */
void find_filling(const Schedule *S, int64_t room, int64_t from, int64_t until, int32_t *filling, int64_t *state) {
  int64_t last = state[0], slots = state[1]; /* those of all from last + 1 on, up to the one before `from` */
  for (int64_t number = from; number < until; number++) {
    slots += S->operations[S->operation[number]].slots;
    for (; last + 1 < number && slots > room; last++) slots -= S->operations[S->operation[last + 1]].slots;
    filling[number] = (int32_t)last;
  }
  state[0] = last;
  state[1] = slots;
}

/* Puts things into the order of their cycles, those of a cycle in the order given: `from` to `until` of them.  `at` is where
   the next one of a cycle goes. */
void sort_by_cycle(const int64_t *cycle, int64_t from, int64_t until, int64_t *at, int32_t *sorted) {
  for (int64_t i = from; i < until; i++) sorted[at[cycle[i]]++] = (int32_t)i;
}

/* Of reservations by their first cycle, `from` to `until`: who had the pipe before.  `owner` says whose each one is; `last`
   is the one before on each pipe, or -1.  A cycle is not split. */
void find_holders(const Schedule *S, int32_t *sorted, int64_t from, int64_t until, const int32_t *owner, int64_t *last,
                  int32_t *holder, int32_t *idle) {
  for (int64_t i = from, j; i < until; i = j) {
    const int64_t cycle = S->busy_from[sorted[i]];
    for (j = i; j < until && S->busy_from[sorted[j]] == cycle; j++) { /* by their end, then by number */
      const int32_t one = sorted[j];
      int64_t k = j;
      for (; k > i; k--) {
        const int32_t other = sorted[k - 1];
        if (S->busy_to[other] < S->busy_to[one] || (S->busy_to[other] == S->busy_to[one] && owner[other] <= owner[one]))
          break;
        sorted[k] = other;
      }
      sorted[k] = one;
    }
    for (int64_t k = i; k < j; k++) {
      const int32_t one = sorted[k], pipe = S->busy_pipe[one];
      holder[one] = last[pipe] >= 0 ? owner[last[pipe]] : -1;
      idle[one] = last[pipe] >= 0 ? (int32_t)(cycle - S->busy_to[last[pipe]]) : 0;
      last[pipe] = one;
    }
  }
}

/* Of numbers that come again after `period` places: the longest part, the first of these; where it begins and how long. */
void longest_run(const int32_t *steps, int64_t count, int64_t period, int64_t *found) {
  int64_t best = -1, begin = 0, start = 0;
  for (int64_t i = 0; i + period <= count; i++) {
    if (i + period < count && steps[i] == steps[i + period]) continue;
    if (i - start > best) {
      best = i - start;
      begin = start;
    }
    start = i + 1;
  }
  found[0] = begin;
  found[1] = best + period;
}
