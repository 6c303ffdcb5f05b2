/* A stream of executed instructions and a core's operations, as arrays: what all other files here read.

   The numbers of StallKind, Stage, the fields of `Schedule` and the sizes of the records are those of Python
   (sim.timing.native.library), which writes the enumerations before this text and compares the sizes.  Whatever takes
   long does a slice and returns, so that Python sees Ctrl-C; state is in `Schedule`.  Memory that grows is taken here and
   given back by `release`.  Averages are counted in `unit` parts of a cycle, which is even. */

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t first_source, sources, first_result, results, first_use, uses;
  int32_t slots, first, latency, done_after, entries, is_store, is_vector, key, last_result;
  int64_t fraction; /* of its latency; 0 where it is whole */
} Operation;

typedef struct { int32_t name, kind, row; } Source;
typedef struct { int32_t name, column, moves_base; } Result;

/* `longer` cycles more with the averages under `longer_key`, where an access is not aligned. */
typedef struct {
  int32_t first_pipe, pipes, cycles, start, key, longer, longer_key;
  int64_t fraction;
} Use;

typedef struct { uint64_t pair; int64_t owed; } Pair;

typedef struct {
  int64_t count, unit;
  const int32_t *operation;
  const uint8_t *taken, *mispredicted;
  const int64_t *first_load, *first_store;
  const uint64_t *load, *store;
  const uint32_t *load_size, *store_size;
  const int64_t *first_writer;
  const int32_t *writer;
  const int32_t *delay; /* 0 where nothing is delayed */
  const int64_t *first_use; /* of each executed instruction, in the reservations */

  const Operation *operations;
  const Source *source;
  const Result *result;
  const Use *use;
  const uint8_t *pipe;
  const int32_t *distance; /* by row of a source and column of a result */
  int64_t columns, pipes, names; /* registers are names 1 to `names`, pipes those after them */
  const int64_t *queue; /* entries of each pipe's queue */
  int64_t *turn; /* of those that can go to the same pipes: to which one the next goes */
  int64_t in_turn, in_order, width, reorder_buffer, retire_width, mispredict, unaligned, interval, forward_scalar, forward_vector;

  int64_t *entered, *available, *issued, *ready, *retired;
  uint8_t *entry_kind, *operand_kind, *issue_kind;
  int32_t *entry_cause, *operand_cause, *issue_cause;
  int16_t *entry_what, *operand_what, *issue_what;
  uint8_t *busy_pipe;
  int64_t *busy_from, *busy_to;

  int64_t *owed, *free, *holder; /* of averages; of pipes: from when they are free, who had them last */
  int64_t *made_at;
  int32_t *made_by, *made_as; /* of registers: the instruction (-1: none) and the column of the value */

  int64_t next, now, used_slots, redirect, redirected_by, last_taken, taken_next, taken_exact;
  int64_t pair_count, pair_room;
  Pair *pair;
  void *more;
} Schedule;

/* Room for one more of some things, of which there are `used`; 0 where there is no memory. */
static int grown(void **things, int64_t used, int64_t *room, size_t size) {
  if (used < *room) return 1;
  const int64_t more = *room ? 2 * *room : 256;
  void *made = realloc(*things, (size_t)more * size);
  if (!made) return 0;
  *things = made;
  *room = more;
  return 1;
}

static int64_t extra(Schedule *S, int64_t key, int64_t fraction) {
  const int64_t owed = S->owed[key] + fraction, whole = owed >= S->unit;
  S->owed[key] = owed - (whole ? S->unit : 0);
  return whole;
}

static uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

/* Whole cycles of `parts`, now those below and now those above, for a store and a load; -1 where there is no memory. */
static int64_t whole_of_pair(Schedule *S, int64_t store, int64_t load, int64_t parts) {
  const int64_t below = parts / S->unit, fraction = parts % S->unit;
  if (!fraction) return below;
  if (2 * (S->pair_count + 1) > S->pair_room) {
    const int64_t room = S->pair_room ? 2 * S->pair_room : 64;
    Pair *pair = calloc((size_t)room, sizeof(Pair));
    if (!pair) return -1;
    for (int64_t i = 0; i < S->pair_room; i++) {
      if (!S->pair[i].pair) continue;
      uint64_t at = mixed(S->pair[i].pair) & (uint64_t)(room - 1);
      while (pair[at].pair) at = (at + 1) & (uint64_t)(room - 1);
      pair[at] = S->pair[i];
    }
    free(S->pair);
    S->pair = pair;
    S->pair_room = room;
  }
  const uint64_t key = ((uint64_t)(S->operation[store] + 1) << 32) | (uint64_t)(S->operation[load] + 1);
  uint64_t at = mixed(key) & (uint64_t)(S->pair_room - 1);
  while (S->pair[at].pair && S->pair[at].pair != key) at = (at + 1) & (uint64_t)(S->pair_room - 1);
  if (!S->pair[at].pair) {
    S->pair[at] = (Pair){key, S->unit / 2};
    S->pair_count++;
  }
  const int64_t owed = S->pair[at].owed + fraction, whole = owed >= S->unit;
  S->pair[at].owed = owed - (whole ? S->unit : 0);
  return below + whole;
}

/* In parts of a cycle, from the issue of a store to that of a consumer of a load of its bytes. */
static int64_t forward_of(const Schedule *S, int64_t store) {
  for (int64_t i = S->first_store[store]; i < S->first_store[store + 1]; i++)
    if (S->store_size[i] > WIDEST_SCALAR) return S->forward_vector;
  return S->forward_scalar;
}

static int is_unaligned(const Schedule *S, int64_t number, const Operation *operation) {
  if (!S->unaligned || !operation->is_vector) return 0;
  for (int64_t i = S->first_load[number]; i < S->first_load[number + 1]; i++)
    if (S->load_size[i] >= (uint64_t)S->unaligned && S->load[i] % (uint64_t)S->unaligned) return 1;
  return 0;
}

static int64_t delay_of(const Schedule *S, int64_t number) { return S->delay ? S->delay[number] : 0; }

/* A taken branch in that cycle; `taken_next` is then the first cycle of another. */
static void take_branch(Schedule *S, int64_t at, int64_t number) {
  const int64_t after = S->taken_exact > (at - 1) * S->unit ? S->taken_exact : at * S->unit;
  S->taken_exact = S->interval + after;
  S->taken_next = (S->taken_exact + S->unit - 1) / S->unit;
  S->last_taken = number;
}
