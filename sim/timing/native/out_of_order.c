/* sim.timing.model.out_of_order in C, cycle by cycle: retire, issue the oldest ready micro-operation of each pipe,
   dispatch.  A value of the Python pipeline is here an instruction (its results, its store, its redirection, which are
   all published at once, in that order) or the base register that it moves. */

enum { WHEEL = 1 << 12 };

/* Micro-operations of one instruction that wait for the same operands; `next` is the one behind it of
   those `due` in a cycle. */
typedef struct {
  int64_t available, due;
  int32_t flight, cause, missing, issued, waiting, first, next;
  int16_t what;
  uint8_t kind, is_base;
} Part;

/* A part that waits for value `value` of an instruction. */
typedef struct {
  int32_t part, value, next, delay;
  int16_t what;
  uint8_t kind, spare;
} Reader;

typedef struct { int32_t flight, is_base, value, values, reader; } Publishing;
typedef struct { uint64_t order; int32_t part, use; } Ready;
typedef struct { Ready *ready; int64_t count, room; } Heap;

typedef struct {
  Part *part;
  Reader *reader;
  Publishing *publishing;
  int32_t *moved; /* parts whose base registers are to be published */
  int64_t parts, reader_room, depth, depth_room, moved_first, moved_end, moved_room;
  int32_t free_part, free_reader;
  int64_t part_room, readers;
  int32_t wheel_first[WHEEL], wheel_last[WHEEL];
  Heap *heap;

  int64_t *value_at, *base_at; /* when the values of an instruction, and its base, were issued; -1: not yet */
  int32_t *first_reader, *last_reader; /* of the values, of the base */
  int32_t *open;
  uint8_t *assigned; /* the pipe of each use */
  uint8_t *given; /* how many reservations of an instruction are written */
  int64_t *queued, *queued_cycles;

  int64_t cycle, slots, oldest, buffered, made_way, mispredicted, waits;
  int no_memory;
} Flights;

static int32_t new_part(Flights *F) {
  if (F->free_part >= 0) {
    const int32_t part = F->free_part;
    F->free_part = F->part[part].next;
    return part;
  }
  if (!grown((void **)&F->part, F->parts, &F->part_room, sizeof(Part))) F->no_memory = 1;
  return F->no_memory ? -1 : (int32_t)F->parts++;
}

static void drop_part(Flights *F, int32_t part) {
  F->part[part].next = F->free_part;
  F->free_part = part;
}

/* Behind those that come in the same cycle, or in one that shares its place of the wheel. */
static void put_on_wheel(Flights *F, int32_t part, int64_t cycle) {
  const int64_t place = cycle % WHEEL;
  F->part[part].due = cycle;
  F->part[part].next = -1;
  if (F->wheel_first[place] < 0) F->wheel_first[place] = part;
  else F->part[F->wheel_last[place]].next = part;
  F->wheel_last[place] = part;
}

static void push_ready(Flights *F, int pipe, uint64_t order, int32_t part, int32_t use) {
  Heap *heap = &F->heap[pipe];
  if (!grown((void **)&heap->ready, heap->count, &heap->room, sizeof(Ready))) {
    F->no_memory = 1;
    return;
  }
  int64_t at = heap->count++;
  for (; at && heap->ready[(at - 1) / 2].order > order; at = (at - 1) / 2) heap->ready[at] = heap->ready[(at - 1) / 2];
  heap->ready[at] = (Ready){order, part, use};
}

static Ready pop_ready(Heap *heap) {
  const Ready top = heap->ready[0], last = heap->ready[--heap->count];
  int64_t at = 0;
  for (;;) {
    int64_t below = 2 * at + 1;
    if (below >= heap->count) break;
    if (below + 1 < heap->count && heap->ready[below + 1].order < heap->ready[below].order) below++;
    if (heap->ready[below].order > last.order) break;
    heap->ready[at] = heap->ready[below];
    at = below;
  }
  heap->ready[at] = last;
  return top;
}

static void publish(Flights *F, int32_t flight, int is_base, int32_t values) {
  if (!grown((void **)&F->publishing, F->depth, &F->depth_room, sizeof(Publishing))) {
    F->no_memory = 1;
    return;
  }
  F->publishing[F->depth++] = (Publishing){flight, is_base, 0, values, F->first_reader[2 * flight + is_base]};
}

static int32_t values_of(const Schedule *S, int64_t number) {
  const Operation *operation = &S->operations[S->operation[number]];
  int32_t values = S->first_store[number] < S->first_store[number + 1];
  for (int32_t i = 0; i < operation->results; i++) values += !S->result[operation->first_result + i].moves_base;
  return values + (S->mispredicted[number] && S->mispredict);
}

/* The last micro-operation of a part starts; with the last part the instruction is issued. */
static void started(Schedule *S, Flights *F, int32_t index, int64_t at) {
  const Part *part = &F->part[index];
  const int32_t number = part->flight;
  F->open[number]--;
  if (part->available > S->available[number]) {
    S->available[number] = part->available;
    S->operand_kind[number] = part->kind;
    S->operand_cause[number] = part->cause;
    S->operand_what[number] = part->what;
  }
  if (at > S->issued[number]) S->issued[number] = at;
  drop_part(F, index);
  if (F->open[number]) return;
  const Operation *operation = &S->operations[S->operation[number]];
  int64_t issued = S->issued[number] + delay_of(S, number);
  if (operation->fraction) issued += extra(S, operation->key, operation->fraction);
  S->ready[number] = issued + operation->done_after;
  F->value_at[number] = issued;
  publish(F, number, 0, values_of(S, number));
}

static void begin_base(Flights *F) {
  const Part *part = &F->part[F->moved[F->moved_first]];
  F->base_at[part->flight] = part->available;
  publish(F, part->flight, 1, 1);
}

/* All operands of a part are on their way.  Bases are published one after the other. */
static void complete(Schedule *S, Flights *F, int32_t index) {
  const Part *part = &F->part[index];
  if (!part->is_base && part->waiting) {
    put_on_wheel(F, index, part->available > F->cycle + 1 ? part->available : F->cycle + 1);
  } else if (!part->is_base) {
    started(S, F, index, part->available);
  } else {
    if (F->moved_first == F->moved_end) F->moved_first = F->moved_end = 0;
    if (!grown((void **)&F->moved, F->moved_end, &F->moved_room, sizeof(int32_t))) {
      F->no_memory = 1;
      return;
    }
    F->moved[F->moved_end++] = index;
    if (F->moved_end - F->moved_first == 1) begin_base(F);
  }
}

/* Tell all readers of what is being published, those of a value that this completes before the next reader. */
static void tell_readers(Schedule *S, Flights *F) {
  while (F->depth && !F->no_memory) {
    Publishing *top = &F->publishing[F->depth - 1];
    const int32_t flight = top->flight, place = 2 * flight + top->is_base;
    while (top->reader >= 0 && F->reader[top->reader].value != top->value) top->reader = F->reader[top->reader].next;
    if (top->reader < 0 && ++top->value < top->values) {
      top->reader = F->first_reader[place];
      continue;
    }
    if (top->reader < 0) {
      if (F->last_reader[place] >= 0) {
        F->reader[F->last_reader[place]].next = F->free_reader;
        F->free_reader = F->first_reader[place];
        F->first_reader[place] = F->last_reader[place] = -1;
      }
      F->depth--;
      if (top->is_base) {
        drop_part(F, F->moved[F->moved_first++]);
        if (F->moved_first < F->moved_end) begin_base(F);
      }
      continue;
    }
    const Reader *reader = &F->reader[top->reader];
    const int64_t at = (top->is_base ? F->base_at : F->value_at)[flight] + reader->delay;
    Part *part = &F->part[reader->part];
    const int32_t index = reader->part;
    if (at > part->available) {
      part->available = at;
      part->kind = reader->kind;
      part->cause = flight;
      part->what = reader->what;
    }
    top->reader = reader->next;
    if (!--part->missing) complete(S, F, index);
  }
}

/* The part can issue `delay` cycles after a value was issued; else it waits. */
static void read_value(Flights *F, int32_t index, int32_t flight, int is_base, int32_t value, int64_t delay, int kind,
                       int what) {
  Part *part = &F->part[index];
  const int64_t issued = (is_base ? F->base_at : F->value_at)[flight];
  if (issued >= 0) {
    if (issued + delay > part->available) {
      part->available = issued + delay;
      part->kind = (uint8_t)kind;
      part->cause = flight;
      part->what = (int16_t)what;
    }
    return;
  }
  int32_t made = F->free_reader;
  if (made >= 0) F->free_reader = F->reader[made].next;
  else if (grown((void **)&F->reader, F->readers, &F->reader_room, sizeof(Reader))) made = (int32_t)F->readers++;
  else {
    F->no_memory = 1;
    return;
  }
  part->missing++;
  F->reader[made] = (Reader){index, value, -1, (int32_t)delay, (int16_t)what, (uint8_t)kind, 0};
  const int32_t place = 2 * flight + is_base;
  if (F->first_reader[place] < 0) F->first_reader[place] = made;
  else F->reader[F->last_reader[place]].next = made;
  F->last_reader[place] = made;
}

static void next_cycle(Schedule *S, Flights *F) {
  const int64_t now = ++F->cycle, end = S->next;
  F->waits++;
  F->slots = S->width + (F->slots < 0 ? F->slots : 0);
  if (F->oldest < end && S->ready[F->oldest] >= 0 && S->ready[F->oldest] <= now) F->made_way = F->oldest;
  int64_t left = S->retire_width ? S->retire_width : end - F->oldest;
  for (; F->oldest < end && left && S->ready[F->oldest] >= 0 && S->ready[F->oldest] <= now; F->oldest++, left--) {
    S->retired[F->oldest] = now;
    F->buffered -= S->operations[S->operation[F->oldest]].slots;
  }
  int32_t index = F->wheel_first[now % WHEEL];
  F->wheel_first[now % WHEEL] = -1;
  while (index >= 0) {
    Part *part = &F->part[index];
    const int32_t next = part->next;
    if (part->due > now) put_on_wheel(F, index, part->due);
    else {
      const int64_t uses = S->first_use[part->flight];
      for (int32_t i = 0; i < part->waiting; i++) {
        const int32_t order = part->first + i;
        push_ready(F, F->assigned[uses + order], (uint64_t)part->flight << 16 | (uint64_t)order, index, order);
      }
    }
    index = next;
  }
  for (int pipe = 0; pipe < S->pipes && !F->no_memory; pipe++) {
    if (!F->heap[pipe].count || S->free[pipe] > now) continue;
    const Ready ready = pop_ready(&F->heap[pipe]);
    Part *part = &F->part[ready.part];
    const int32_t number = part->flight;
    const Operation *operation = &S->operations[S->operation[number]];
    const Use *use = &S->use[operation->first_use + ready.use];
    const int longer = is_unaligned(S, number, operation);
    const int64_t cycles = use->cycles + (longer ? use->longer : 0);
    int64_t to = now + cycles;
    if (use->fraction) to += extra(S, use->key + pipe, use->fraction);
    if (now > part->available) {
      S->issue_kind[number] = PIPE;
      S->issue_cause[number] = (int32_t)S->holder[pipe];
      S->issue_what[number] = (int16_t)(S->names + 1 + pipe);
    }
    S->free[pipe] = to;
    S->holder[pipe] = number;
    F->queued[pipe] -= operation->entries;
    F->queued_cycles[pipe] -= cycles;
    const int64_t busy = S->first_use[number] + F->given[number]++;
    S->busy_pipe[busy] = (uint8_t)pipe;
    S->busy_from[busy] = now;
    S->busy_to[busy] = to;
    if (++part->issued == part->waiting) {
      started(S, F, ready.part, now);
      tell_readers(S, F);
    }
  }
}

/* The pipe of each micro-operation: of its alternatives the one with the least work before it, or the next in turn. */
static void assign_pipes(const Schedule *S, Flights *F, int64_t number, const Operation *operation) {
  uint8_t *pipes = F->assigned + S->first_use[number];
  for (int32_t i = 0; i < operation->uses; i++) {
    const Use *use = &S->use[operation->first_use + i];
    const uint8_t *choices = S->pipe + use->first_pipe;
    int64_t least = INT64_MAX;
    pipes[i] = choices[0];
    if (S->in_turn) {
      int64_t turn = S->turn[use->key];
      for (int32_t j = 0; j < i; j++) turn += S->use[operation->first_use + j].key == use->key;
      pipes[i] = choices[turn % use->pipes];
      continue;
    }
    for (int32_t k = 0; use->pipes > 1 && k < use->pipes; k++) {
      const int pipe = choices[k];
      int64_t work = F->queued_cycles[pipe] + (S->free[pipe] > F->cycle ? S->free[pipe] - F->cycle : 0);
      for (int32_t j = 0; j < i; j++) work += pipes[j] == pipe ? S->use[operation->first_use + j].cycles : 0;
      if (work < least) {
        least = work;
        pipes[i] = (uint8_t)pipe;
      }
    }
  }
}

/* What keeps an instruction from being dispatched in this cycle. */
static int obstacle(const Schedule *S, Flights *F, int64_t number, const Operation *operation, int *pipe) {
  if (F->slots <= 0) return WIDTH;
  const int64_t branch = F->mispredicted;
  if (branch >= 0 && (F->value_at[branch] < 0 || F->cycle < F->value_at[branch] + S->mispredict)) return MISPREDICT;
  if (S->taken[number] && F->cycle < S->taken_next) return BRANCH;
  if (F->buffered && S->reorder_buffer > 0 && F->buffered + operation->slots > S->reorder_buffer) return REORDER;
  assign_pipes(S, F, number, operation);
  const uint8_t *pipes = F->assigned + S->first_use[number];
  for (int32_t i = 0; i < operation->uses; i++) {
    int64_t entries = 0;
    for (int32_t j = 0; j < operation->uses; j++) entries += pipes[j] == pipes[i] ? operation->entries : 0;
    *pipe = pipes[i];
    if (F->queued[*pipe] && F->queued[*pipe] + entries > S->queue[*pipe]) return QUEUE;
  }
  return NONE;
}

static int32_t begun(Flights *F, int64_t number, int32_t waiting, int32_t first, int is_base) {
  const int32_t index = new_part(F);
  if (index >= 0)
    F->part[index] = (Part){
        .available = F->cycle + 1, .flight = (int32_t)number, .cause = -1, .missing = 1, .waiting = waiting,
        .first = first, .kind = NONE, .is_base = (uint8_t)is_base};
  return index;
}

/* Connect its parts with the values that they read, then make what it writes the values that others read. */
static void dispatch(Schedule *S, Flights *F, int64_t number, const Operation *operation) {
  const int longer = is_unaligned(S, number, operation);
  const uint8_t *pipes = F->assigned + S->first_use[number];
  for (int32_t i = 0; i < operation->uses; i++) {
    const Use *use = &S->use[operation->first_use + i];
    F->queued[pipes[i]] += operation->entries;
    F->queued_cycles[pipes[i]] += use->cycles + (longer ? use->longer : 0);
    if (S->in_turn) S->turn[use->key] = (S->turn[use->key] + 1) % use->pipes;
  }
  const Result *base = 0, *results = S->result + operation->first_result;
  for (int32_t i = 0; i < operation->results && !base; i++) base = results[i].moves_base ? &results[i] : 0;
  const int is_split = operation->is_store && operation->uses > 1;
  int32_t part[3], parts = 0;
  part[parts++] = begun(F, number, operation->uses - is_split, is_split, 0);
  if (is_split) part[parts++] = begun(F, number, 1, 0, 0);
  F->open[number] = parts;
  if (base) part[parts++] = begun(F, number, 0, 0, 1);
  if (F->no_memory) return;
  for (int32_t k = 0; k < parts; k++) {
    const int of_address = k || (parts > 1 && is_split);
    for (int32_t i = 0; i < operation->sources; i++) {
      const Source *source = &S->source[operation->first_source + i];
      if (of_address && (source->kind == ADDRESS) != (k > 0)) continue;
      const int32_t by = S->made_by[source->name];
      if (by < 0) continue;
      const int32_t value = S->made_as[source->name] >> 16, column = S->made_as[source->name] & 0xffff;
      const int of_base = value == 0x7fff, kind = !of_base && delay_of(S, by) ? MEMORY : source->kind;
      const int64_t delay = S->distance[source->row * S->columns + column];
      read_value(F, part[k], by, of_base, of_base ? 0 : value, delay, kind, source->name);
    }
  }
  for (int64_t i = S->first_writer[number]; i < S->first_writer[number + 1]; i++) {
    const int32_t writer = S->writer[i];
    const int64_t parts_of = forward_of(S, writer);
    if (!parts_of) continue;
    const int64_t whole = whole_of_pair(S, writer, number, parts_of), forward = whole - operation->latency;
    if (whole < 0) F->no_memory = 1;
    const Operation *stored = &S->operations[S->operation[writer]];
    int32_t value = 0;
    for (int32_t k = 0; k < stored->results; k++) value += !S->result[stored->first_result + k].moves_base;
    read_value(F, part[0], writer, 0, value, forward > 0 ? forward : 0, STORE, 0);
  }
  int32_t value = 0;
  for (int32_t i = 0; i < operation->results; i++) {
    if (results[i].moves_base) continue;
    S->made_by[results[i].name] = (int32_t)number;
    S->made_as[results[i].name] = value++ << 16 | results[i].column;
  }
  if (base) {
    S->made_by[base->name] = (int32_t)number;
    S->made_as[base->name] = 0x7fff << 16 | base->column;
  }
  for (int32_t k = 0; k < parts && !F->no_memory; k++) {
    if (--F->part[part[k]].missing) continue;
    complete(S, F, part[k]);
    tell_readers(S, F);
  }
  if (S->mispredicted[number] && S->mispredict) F->mispredicted = number;
  if (S->taken[number]) take_branch(S, F->cycle, number);
}

static void drop_flights(Schedule *S) {
  Flights *F = S->more;
  if (!F) return;
  for (int pipe = 0; F->heap && pipe < S->pipes; pipe++) free(F->heap[pipe].ready);
  void *made[] = {F->part, F->reader, F->publishing, F->moved, F->heap, F->value_at, F->base_at, F->first_reader,
                  F->last_reader, F->open, F->assigned, F->given, F->queued, F->queued_cycles, F};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) free(made[i]);
  S->more = 0;
}

static Flights *new_flights(Schedule *S) {
  const size_t count = (size_t)S->count + 1, uses = (size_t)S->first_use[S->count] + 1, pipes = (size_t)S->pipes + 1;
  Flights *F = S->more = calloc(1, sizeof(Flights));
  if (!F) return 0;
  F->value_at = malloc(8 * count), F->base_at = malloc(8 * count), F->open = calloc(4, count);
  F->first_reader = malloc(8 * count), F->last_reader = malloc(8 * count), F->given = calloc(1, count);
  F->assigned = malloc(uses), F->heap = calloc(pipes, sizeof(Heap));
  F->queued = calloc(8, pipes), F->queued_cycles = calloc(8, pipes);
  const int none = !F->value_at || !F->base_at || !F->open || !F->first_reader || !F->last_reader || !F->given ||
                   !F->assigned || !F->heap || !F->queued || !F->queued_cycles;
  if (none) return 0;
  memset(F->value_at, -1, 8 * count), memset(F->base_at, -1, 8 * count);
  memset(F->first_reader, -1, 8 * count), memset(F->last_reader, -1, 8 * count);
  memset(F->wheel_first, -1, sizeof F->wheel_first);
  F->free_part = F->free_reader = -1;
  F->slots = S->width;
  F->made_way = F->mispredicted = -1;
  return F;
}

/* Goes on for about so many instructions and cycles: 0 where all is done, 1 where there is no memory, 2 to go on. */
int out_of_order(Schedule *S, int64_t steps) {
  Flights *F = S->more ? S->more : new_flights(S);
  if (!F) return 1;
  F->waits = 0;
  int kind = NONE, pipe = 0;
  while (S->next < S->count) {
    const int64_t number = S->next;
    const Operation *operation = &S->operations[S->operation[number]];
    if (!S->used_slots) { /* else it was waiting already */
      S->entry_kind[number] = number ? ORDER : NONE;
      S->entry_cause[number] = (int32_t)number - 1;
      S->entry_what[number] = 0;
      S->used_slots = 1;
    }
    while (!F->no_memory && F->waits < steps && (kind = obstacle(S, F, number, operation, &pipe)) != NONE) {
      next_cycle(S, F);
      int64_t cause = number - 1; /* or who made way in this cycle */
      if (kind == QUEUE) cause = S->holder[pipe];
      else if (kind == REORDER) cause = F->made_way;
      else if (kind == BRANCH) cause = S->last_taken;
      else if (kind == MISPREDICT) cause = F->mispredicted;
      S->entry_kind[number] = (uint8_t)kind;
      S->entry_cause[number] = (int32_t)cause;
      S->entry_what[number] = (int16_t)(kind == QUEUE ? S->names + 1 + pipe : 0);
    }
    if (F->no_memory) return 1;
    if (F->waits >= steps) return 2;
    F->waits++;
    S->used_slots = 0;
    S->entered[number] = F->cycle;
    S->next++;
    F->buffered += operation->slots;
    F->slots -= operation->slots;
    dispatch(S, F, number, operation);
  }
  while (F->oldest < S->count && !F->no_memory && F->waits < steps) next_cycle(S, F);
  if (F->no_memory) return 1;
  if (F->oldest < S->count) return 2;
  drop_flights(S);
  return 0;
}

/* Give back all memory that was taken for a schedule, whether it was done or not. */
void release(Schedule *S) {
  drop_flights(S);
  free(S->pair);
  S->pair = 0;
  S->pair_count = S->pair_room = 0;
}
