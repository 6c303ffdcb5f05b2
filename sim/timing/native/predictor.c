/* sim.timing.model.predictor in C; `BranchWay` is what it makes of a branch, by its mnemonic. */

typedef struct { uint64_t pc, history; uint32_t length, counter; } Counter; /* length + 1; counter as in Python */
typedef struct { uint64_t pc, target; } Target; /* pc + 1 */

typedef struct {
  int64_t branches, next;
  const uint64_t *pc, *next_pc; /* of each branch */
  const uint8_t *way, *taken, *backward;
  uint8_t *wrong;
  Counter *counter;
  int64_t counters, counter_room;
  Target *target;
  int64_t targets, target_room;
  uint64_t *call;
  int64_t calls, call_room;
  uint64_t history;
} Predictor;

static Counter *find_counter(const Predictor *P, uint64_t pc, uint64_t history, uint32_t length) {
  const uint64_t mask = (uint64_t)P->counter_room - 1;
  uint64_t at = mixed(pc ^ mixed(history + length)) & mask;
  for (; P->counter[at].length; at = (at + 1) & mask) {
    const Counter *found = &P->counter[at];
    if (found->pc == pc && found->history == history && found->length == length + 1) break;
  }
  return &P->counter[at];
}

static Target *find_target(const Predictor *P, uint64_t pc) {
  const uint64_t mask = (uint64_t)P->target_room - 1;
  uint64_t at = mixed(pc) & mask;
  while (P->target[at].pc && P->target[at].pc != pc + 1) at = (at + 1) & mask;
  return &P->target[at];
}

static int room_to_learn(Predictor *P) {
  if (2 * (P->counters + HISTORY_COUNT) > P->counter_room) {
    Counter *old = P->counter;
    const int64_t room = P->counter_room;
    P->counter_room = room ? 2 * room : 1024;
    P->counter = calloc((size_t)P->counter_room, sizeof(Counter));
    if (!P->counter) return P->counter = old, P->counter_room = room, 0;
    for (int64_t i = 0; i < room; i++)
      if (old[i].length) *find_counter(P, old[i].pc, old[i].history, old[i].length - 1) = old[i];
    free(old);
  }
  if (2 * (P->targets + 1) > P->target_room) {
    Target *old = P->target;
    const int64_t room = P->target_room;
    P->target_room = room ? 2 * room : 64;
    P->target = calloc((size_t)P->target_room, sizeof(Target));
    if (!P->target) return P->target = old, P->target_room = room, 0;
    for (int64_t i = 0; i < room; i++)
      if (old[i].pc) *find_target(P, old[i].pc - 1) = old[i];
    free(old);
  }
  return grown((void **)&P->call, P->calls, &P->call_room, sizeof(uint64_t));
}

/* Predicts branches up to number `until`, and learns them; 1 where there is no memory, else 0. */
int predict(Predictor *P, int64_t until) {
  for (; P->next < until && P->next < P->branches; P->next++) {
    if (!room_to_learn(P)) return 1;
    const int64_t number = P->next;
    const uint64_t pc = P->pc[number], next = P->next_pc[number];
    const int way = P->way[number], taken = P->taken[number];
    int wrong = 0;
    if (way == CALL || way == INDIRECT_CALL) P->call[P->calls++] = pc + 4;
    if (way == RETURN) {
      wrong = P->calls && P->call[--P->calls] != next;
    } else if (way == INDIRECT || way == INDIRECT_CALL) {
      Target *target = find_target(P, pc);
      wrong = !target->pc || target->target != next;
      P->targets += !target->pc;
      *target = (Target){pc + 1, next};
    } else if (way == CONDITION) {
      int guess = P->backward[number];
      for (uint32_t i = 0; i < HISTORY_COUNT; i++) {
        const Counter *found = find_counter(P, pc, P->history & ((1ULL << HISTORIES[i]) - 1), HISTORIES[i]);
        if (found->length) guess = found->counter >= 2;
      }
      for (uint32_t i = 0; i < HISTORY_COUNT; i++) {
        const uint64_t history = P->history & ((1ULL << HISTORIES[i]) - 1);
        Counter *one = find_counter(P, pc, history, HISTORIES[i]);
        if (!one->length) {
          *one = (Counter){pc, history, HISTORIES[i] + 1, taken ? 2 : 1};
          P->counters++;
        } else if (taken && one->counter < 3) {
          one->counter++;
        } else if (!taken && one->counter) {
          one->counter--;
        }
      }
      P->history = (P->history << 1 | (uint64_t)taken) & ((1ULL << HISTORIES[HISTORY_COUNT - 1]) - 1);
      wrong = guess != taken;
    }
    P->wrong[number] = (uint8_t)wrong;
  }
  return 0;
}

void release_predictor(Predictor *P) {
  free(P->counter), free(P->target), free(P->call);
  P->counter = 0, P->target = 0, P->call = 0;
}
