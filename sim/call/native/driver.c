/* Lockstep in C: Unicorn calls `before_each` before each instruction, which compares what the last one did on both
   sides, then lets the machine execute this one by its step.  Nothing is decided here: where something differs, or an
   instruction has no step, or an access is not allowed, the run stops, and Python goes on (sim.call.native.lockstep). */

enum { V = 32, X = 32, FLAGS = 4, MOST_WENT = 4096 };
enum { QC = 1 << 27, MOST_PIECES = 24 };

/* Why a run stopped. */
enum { GOES_ON = 0, BUDGET = 1, NO_STEP = 2, REFUSED = 3, MODES = 4, GUARD = 5, DIFFERS = 6, FULL = 7 };

/* Of an instruction: what guards ask, and whether saturations are counted. */
enum { BRANCHES = 1, SATURATES = 2, WRITES_PLATFORM = 4, NEEDS_ALIGNED_SP = 8 };

typedef struct {
  Step step; /* 0 where there is none */
  Memory *memory;
  uint64_t next[2]; /* where it went on the last times that differ */
  uint32_t flags;
  uint32_t writes_v, writes_x; /* the registers that it writes, bit 31 of x for sp */
  uint8_t registers[20];
} Entry;

enum { PAGE = 4096 };
typedef struct { uint64_t start; Entry *entries; } Page;

/* A region of the emulator's memory. */
typedef struct { uint64_t start, size; uint8_t *bytes; } Mapped;

typedef int (*ReadRegisters)(void *emulator, const int *numbers, void **values, int count);
typedef int (*Stop)(void *emulator);

typedef struct {
  State state, before, seen;
  Log mine, theirs;
  uint64_t pages, regions;
  const Page *page;
  const Mapped *region;
  const Page *last_page;
  const Mapped *last_region;

  void *emulator;
  ReadRegisters read_registers;
  Stop stop;
  int numbers[V + X + FLAGS];
  uint8_t vectors[V][16]; /* as read */
  uint64_t general[X], flags[FLAGS];
  const uint64_t *x_in_place; /* 0 where the emulator's registers are not found in memory */
  const uint8_t *v_in_place;
  uint64_t v_stride;
  const uint8_t *kept[MOST_PIECES]; /* what the emulator computes its flags from (sim.call.native.status) */
  uint64_t pieces; /* 0 where that is not found */
  uint8_t kept_then[MOST_PIECES][16]; /* as it was when the flags were read */
  uint64_t flags_read;
  uint8_t *pc_is_known; /* the emulator need not search for it where it calls back; 0 where that is not found */
  uint64_t fpsr_mask, fpcr_mask;

  uint64_t why, pending, overflowed, saturated;
  Entry *entry;
  uint64_t left, done, qc_events;

  uint64_t guarded;
  uint64_t platform_seen, platform_pc; /* whether x18 was written, and where first */
  uint64_t seen_pc, changed, branches, branches_before;
  uint64_t *branch; /* as many as `left` was */
  uint64_t went;
  uint64_t went_from[MOST_WENT], went_to[MOST_WENT];

  uint64_t *path; /* of a recording: the address of each instruction, as many as `left` was */
  uint8_t *status; /* NZCV after it; bit 4: it saturated */
  uint8_t (*value)[16]; /* what it wrote to registers, those of v before those of x, each in order of number */
  uint64_t values, most_values, most_accesses;
} Lockstep;

const uint64_t sizes[] = {sizeof(Lockstep), sizeof(Log), sizeof(Entry)};

static Entry *find_entry(Lockstep *L, uint64_t pc) {
  const uint64_t start = pc / PAGE * PAGE;
  if (!L->last_page || L->last_page->start != start) {
    uint64_t low = 0, high = L->pages;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (L->page[middle].start <= start) low = middle + 1;
      else high = middle;
    }
    if (low == 0 || L->page[low - 1].start != start) return 0;
    L->last_page = &L->page[low - 1];
  }
  return pc % 4 ? 0 : &L->last_page->entries[(pc - start) / 4];
}

/* Where the emulator has some bytes; 0 where no region has all of them. */
static uint8_t *emulated(Lockstep *L, uint64_t address, uint64_t size) {
  const Mapped *region = L->last_region;
  if (!region || address - region->start >= region->size) {
    uint64_t low = 0, high = L->regions;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (L->region[middle].start <= address) low = middle + 1;
      else high = middle;
    }
    if (low == 0) return 0;
    region = L->last_region = &L->region[low - 1];
  }
  const uint64_t offset = address - region->start;
  return offset < region->size && size <= region->size - offset ? region->bytes + offset : 0;
}

void on_write(void *emulator, int kind, uint64_t address, int size, int64_t value, void *data) {
  (void)emulator, (void)kind, (void)value;
  Lockstep *L = data;
  if (L->theirs.count == MOST_STORES) {
    L->overflowed = 1;
    return;
  }
  Store *store = &L->theirs.stores[L->theirs.count++];
  store->address = address;
  store->size = (uint64_t)size;
  store->bytes = emulated(L, address, (uint64_t)size);
  if (store->bytes) memcpy(store->old, store->bytes, (uint64_t)size);
}

static void undo(Log *log) {
  while (log->count) {
    const Store *store = &log->stores[--log->count];
    if (store->bytes) memcpy(store->bytes, store->old, store->size);
  }
}

/* Copy what `entry` may change of a state: the registers that it writes, and all that is no register. */
static void copy_changed(State *to, const State *from, const Entry *entry) {
  for (uint32_t left = entry->writes_v; left; left &= left - 1) {
    const int v = __builtin_ctz(left);
    memcpy(to->v[v], from->v[v], 16);
  }
  for (uint32_t left = entry->writes_x; left; left &= left - 1) {
    const int x = __builtin_ctz(left);
    to->x[x] = from->x[x];
  }
  memcpy(&to->pc, &from->pc, sizeof(State) - __builtin_offsetof(State, pc));
}

/* Take back what the machine did of an instruction. */
void undo_mine(Lockstep *L) {
  undo(&L->mine);
  copy_changed(&L->state, &L->before, L->entry);
  L->pending = 0;
}

/* Take back what both did to memory, and the machine to its registers. */
void undo_both(Lockstep *L) {
  undo(&L->theirs);
  undo_mine(L);
}

typedef struct { uint64_t start, end; } Range;

/* The bytes of some stores as ranges in order, those that touch or overlap made one; returns how many. */
static uint64_t merged(const Log *log, Range *ranges) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < log->count; i++) {
    const Range range = {log->stores[i].address, log->stores[i].address + log->stores[i].size};
    if (count && range.start == ranges[count - 1].end) { /* nearly always */
      ranges[count - 1].end = range.end;
      continue;
    }
    uint64_t at = count++;
    for (; at > 0 && ranges[at - 1].start > range.start; at--) ranges[at] = ranges[at - 1];
    ranges[at] = range;
  }
  uint64_t made = 0;
  for (uint64_t i = 1; i < count; i++) {
    if (ranges[i].start > ranges[made].end) ranges[++made] = ranges[i];
    else if (ranges[i].end > ranges[made].end) ranges[made].end = ranges[i].end;
  }
  return count ? made + 1 : 0;
}

static int memory_differs(Lockstep *L) {
  if (!L->mine.count && !L->theirs.count) return 0;
  for (uint64_t i = 0; i < L->mine.count; i++) {
    const Store *store = &L->mine.stores[i];
    const uint8_t *other = emulated(L, store->address, store->size);
    if (!other || memcmp(other, store->bytes, store->size)) return 1;
  }
  Range mine[MOST_STORES], theirs[MOST_STORES];
  const uint64_t count = merged(&L->mine, mine);
  return L->overflowed || count != merged(&L->theirs, theirs) || memcmp(mine, theirs, count * sizeof(Range));
}

typedef uint64_t Pair __attribute__((vector_size(16)));

static Pair pair_at(const void *from) {
  Pair pair;
  memcpy(&pair, from, 16);
  return pair;
}

/* Whether the flags are as they were when they were read. */
static int flags_are_known(const Lockstep *L) {
  Pair changed = {0, 0};
  for (uint64_t i = 0; i < L->pieces; i++) changed |= pair_at(L->kept[i]) ^ pair_at(L->kept_then[i]);
  return L->flags_read && !(changed[0] | changed[1]);
}

/* Read the emulator's flags, and the registers that are not read in place; whether it refuses. */
static int read_through_emulator(Lockstep *L) {
  const int first = L->x_in_place ? V + X : 0;
  void *values[V + X + FLAGS];
  for (int i = first; i < V + X; i++) values[i] = i < V ? (void *)L->vectors[i] : &L->general[i - V];
  for (int i = 0; i < FLAGS; i++) values[V + X + i] = &L->flags[i];
  if (L->read_registers(L->emulator, L->numbers + first, values + first, V + X + FLAGS - first)) return 1;
  for (uint64_t i = 0; i < L->pieces; i++) memcpy(L->kept_then[i], L->kept[i], 16);
  L->flags_read = L->pieces != 0;
  return 0;
}

static int registers_differ(Lockstep *L) {
  const State *S = &L->state;
  if (!flags_are_known(L) && read_through_emulator(L)) return 1;
  const uint64_t *x = L->x_in_place ? L->x_in_place : L->general;
  const uint8_t *v = L->x_in_place ? L->v_in_place : L->vectors[0];
  const uint64_t stride = L->x_in_place ? L->v_stride : 16;
  Pair pairs = {0, 0};
  for (int i = 0; i < X; i += 2) pairs |= pair_at(&S->x[i]) ^ pair_at(&x[i]);
  for (int i = 0; i < V; i++) pairs |= pair_at(S->v[i]) ^ pair_at(v + i * stride);
  uint64_t other = pairs[0] | pairs[1];
  other |= S->nzcv ^ L->flags[0] >> 28;
  other |= S->tpidr ^ L->flags[3];
  return other || (S->fpsr ^ L->flags[1]) & L->fpsr_mask || (S->fpcr ^ L->flags[2]) & L->fpcr_mask;
}

/* Whether the machine is behind a branch as it was there before (Brent's algorithm; `Watch` has it in Python). */
static int is_again(const Lockstep *L) {
  const State *S = &L->state, *seen = &L->seen;
  return S->pc == L->seen_pc && !L->changed && !memcmp(S->v, seen->v, sizeof S->v) && !memcmp(S->x, seen->x, sizeof S->x)
         && !memcmp(S->monitor, seen->monitor, 16) && S->nzcv == seen->nzcv && S->fpsr == seen->fpsr
         && S->fpcr == seen->fpcr && S->tpidr == seen->tpidr;
}

/* The last instruction is done, and goes on at `pc`. */
static int count_done(Lockstep *L, uint64_t pc) {
  Entry *entry = L->entry;
  if (entry->next[0] != pc && entry->next[1] != pc) {
    entry->next[1] = entry->next[0];
    entry->next[0] = pc;
    L->went_from[L->went] = L->before.pc;
    L->went_to[L->went++] = pc;
  }
  L->pending = L->mine.count = 0;
  L->done++;
  return L->went == MOST_WENT ? FULL : GOES_ON;
}

/* Compare what the last instruction did, now that the emulator is at `pc`; count it where both did the same. */
int settle(Lockstep *L, uint64_t pc) {
  if (!L->pending) return GOES_ON;
  if (pc != L->state.pc || registers_differ(L) || memory_differs(L)) return DIFFERS;
  Entry *entry = L->entry;
  if (L->guarded) {
    for (uint64_t i = 0; i < L->mine.count && !L->changed; i++) {
      const Store *store = &L->mine.stores[i];
      L->changed = memcmp(store->bytes, store->old, store->size) != 0;
    }
    if (entry->flags & WRITES_PLATFORM && !L->platform_seen) {
      L->platform_seen = 1;
      L->platform_pc = L->before.pc;
    }
    if (entry->flags & BRANCHES) {
      if (is_again(L)) {
        undo_both(L);
        return GUARD;
      }
      L->branch[L->branches++] = pc;
      const uint64_t count = L->branches_before + L->branches;
      if (!(count & (count - 1))) {
        L->seen = L->state;
        L->seen_pc = pc;
        L->changed = 0;
      }
    }
  }
  L->theirs.count = 0;
  L->qc_events += L->saturated;
  return count_done(L, pc);
}

/* Let the machine execute the instruction at `pc`; where it does not, nothing has happened. */
static int advance(Lockstep *L, uint64_t pc) {
  State *S = &L->state;
  if (!L->left) return BUDGET;
  Entry *entry = find_entry(L, pc);
  if (!entry || !entry->step) return NO_STEP;
  if (L->guarded) {
    if (entry->flags & NEEDS_ALIGNED_SP && S->x[31] % 16) return GUARD;
  }
  L->entry = entry;
  copy_changed(&L->before, S, entry);
  L->before.x[31] = S->x[31]; /* what it accesses is held against sp */
  L->overflowed = 0;
  L->mine.lowest = ~0ULL;
  const uint32_t sticky = entry->flags & SATURATES ? S->fpsr & QC : 0;
  S->fpsr ^= sticky; /* so that a saturation is counted whether there was one before or not */
  const int why = entry->step(S, entry->memory, entry->registers);
  L->saturated = entry->flags & SATURATES && S->fpsr & QC;
  S->fpsr |= sticky;
  const uint64_t sp = L->before.x[31] < S->x[31] ? L->before.x[31] : S->x[31];
  if (why || L->mine.lowest < sp) {
    undo_mine(L);
    return why == 1 ? REFUSED : why ? MODES : GUARD;
  }
  L->pending = 1;
  L->left--;
  return GOES_ON;
}

/* Let the machine go on alone, up to `until`; where branches lead is noted. */
void follow(Lockstep *L, uint64_t until) {
  const State *S = &L->state;
  while (L->why == GOES_ON && S->pc != until) {
    L->why = (uint64_t)advance(L, S->pc);
    if (L->why != GOES_ON) return;
    if (L->entry->flags & BRANCHES) L->branch[L->branches++] = S->pc;
    L->why = (uint64_t)count_done(L, S->pc);
  }
}

enum { MOST_IN_ONE = 256 };

/* As `follow`, where what each instruction did is recorded; FULL where there is no room for one more. */
void record(Lockstep *L, uint64_t until) {
  const State *S = &L->state;
  Log *log = &L->mine;
  while (L->why == GOES_ON && S->pc != until) {
    const uint64_t accesses = log->accesses, done = log->instruction = L->done;
    if (accesses + MOST_IN_ONE > L->most_accesses || L->values + V + X > L->most_values) {
      L->why = FULL;
      return;
    }
    L->why = (uint64_t)advance(L, S->pc);
    if (L->why != GOES_ON) {
      log->accesses = accesses; /* of what did not happen */
      return;
    }
    L->path[done] = L->before.pc;
    L->status[done] = (uint8_t)(S->nzcv | L->saturated << 4);
    for (uint32_t left = L->entry->writes_v; left; left &= left - 1)
      memcpy(L->value[L->values++], S->v[__builtin_ctz(left)], 16);
    for (uint32_t left = L->entry->writes_x; left; left &= left - 1) {
      const uint64_t value[2] = {S->x[__builtin_ctz(left)], 0};
      memcpy(L->value[L->values++], value, 16);
    }
    L->why = (uint64_t)count_done(L, S->pc);
  }
}

void before_each(void *emulator, uint64_t pc, uint32_t size, void *data) {
  (void)size;
  Lockstep *L = data;
  if (L->pc_is_known) *L->pc_is_known = 1;
  if (L->why == GOES_ON) {
    L->why = (uint64_t)settle(L, pc);
    if (L->why == GOES_ON) L->why = (uint64_t)advance(L, pc);
  }
  if (L->why != GOES_ON) L->stop(emulator);
}
