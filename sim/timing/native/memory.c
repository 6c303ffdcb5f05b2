/* Which earlier stores wrote the bytes that each load reads: sim.timing.model.stored_bytes in C.

   Blocks of 16 bytes have the number of the store that wrote all of them last, or a table of one number for each byte. */

enum { BLOCK = 16 };

typedef struct { uint64_t block; int64_t writer; } Stored; /* block + 1; the writer, or -2 - its table */

typedef struct {
  int64_t count, next;
  const int64_t *first_load, *first_store;
  const uint64_t *load, *store;
  const uint32_t *load_size, *store_size;
  int64_t *first_writer;
  int32_t *writer;
  int64_t writers, writer_room;
  Stored *stored;
  int64_t blocks, block_room;
  int32_t (*table)[BLOCK];
  int64_t tables, table_room;
} Stores;

static Stored *find_block(const Stores *M, uint64_t block) {
  uint64_t at = mixed(block) & (uint64_t)(M->block_room - 1);
  while (M->stored[at].block && M->stored[at].block != block + 1) at = (at + 1) & (uint64_t)(M->block_room - 1);
  return &M->stored[at];
}

static int wider(Stores *M) {
  const int64_t old = M->block_room;
  Stored *before = M->stored;
  M->block_room = old ? 2 * old : 1024;
  M->stored = calloc((size_t)M->block_room, sizeof(Stored));
  if (!M->stored) {
    M->stored = before;
    M->block_room = old;
    return 0;
  }
  for (int64_t i = 0; i < old; i++)
    if (before[i].block) *find_block(M, before[i].block - 1) = before[i];
  free(before);
  return 1;
}

static int note_store(Stores *M, uint64_t from, uint64_t size, int32_t number) {
  for (uint64_t done = 0, some; done < size; done += some) {
    const uint64_t at = from + done, first = at % BLOCK, left = size - done;
    some = left < BLOCK - first ? left : BLOCK - first;
    if (2 * (M->blocks + 1) > M->block_room && !wider(M)) return 0;
    Stored *stored = find_block(M, at / BLOCK);
    const int is_new = !stored->block;
    if (is_new) {
      *stored = (Stored){at / BLOCK + 1, -1};
      M->blocks++;
    }
    if (some == BLOCK && stored->writer >= -1) {
      stored->writer = number;
    } else {
      if (stored->writer >= -1) {
        if (!grown((void **)&M->table, M->tables, &M->table_room, sizeof *M->table)) return 0;
        for (int i = 0; i < BLOCK; i++) M->table[M->tables][i] = (int32_t)stored->writer;
        stored->writer = -2 - M->tables++;
      }
      for (uint64_t i = first; i < first + some; i++) M->table[-2 - stored->writer][i] = number;
    }
  }
  return 1;
}

static int note_writer(Stores *M, int64_t begin, int32_t writer) {
  int64_t at = M->writers;
  while (at > begin && M->writer[at - 1] > writer) at--;
  if (writer < 0 || (at > begin && M->writer[at - 1] == writer)) return 1;
  if (!grown((void **)&M->writer, M->writers, &M->writer_room, sizeof(int32_t))) return 0;
  for (int64_t i = M->writers++; i > at; i--) M->writer[i] = M->writer[i - 1];
  M->writer[at] = writer;
  return 1;
}

/* Goes on up to number `until`; 1 where there is no memory, else 0. */
int find_writers(Stores *M, int64_t until) {
  for (; M->next < until && M->next < M->count; M->next++) {
    const int64_t number = M->next, begin = M->writers;
    for (int64_t i = M->first_load[number]; i < M->first_load[number + 1] && M->blocks; i++) {
      for (uint64_t done = 0; done < M->load_size[i];) {
        const uint64_t at = M->load[i] + done;
        const Stored *stored = find_block(M, at / BLOCK);
        const int is_whole = stored->writer >= -1;
        const int64_t writer = is_whole ? stored->writer : M->table[-2 - stored->writer][at % BLOCK];
        if (stored->block && !note_writer(M, begin, (int32_t)writer)) return 1;
        done += !stored->block || is_whole ? BLOCK - at % BLOCK : 1;
      }
    }
    for (int64_t i = M->first_store[number]; i < M->first_store[number + 1]; i++)
      if (!note_store(M, M->store[i], M->store_size[i], (int32_t)number)) return 1;
    M->first_writer[number + 1] = M->writers;
  }
  return 0;
}

void release_stores(Stores *M) {
  free(M->writer), free(M->stored), free(M->table);
  M->writer = 0, M->stored = 0, M->table = 0;
}
