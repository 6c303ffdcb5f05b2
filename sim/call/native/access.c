/* Accesses to memory that are noted. */
static inline void note_lowest(Log *log, uint64_t address) {
  if (address - log->stack < log->stack_size && address < log->lowest) log->lowest = address;
}

static inline int load_bytes(Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size) {
  const uint8_t *at = host(M + access, address, size, 0);
  if (!at) return 0;
  note_lowest(M[access].all->log, address);
  memcpy(bytes, at, size);
  return 1;
}

static inline int store_bytes(Memory *M, unsigned access, uint64_t address, const void *bytes, unsigned size) {
  uint8_t *at = host(M + access, address, size, 1);
  Log *log = M[access].all->log;
  if (!at || log->count == MOST_STORES || size > LARGEST_STORE) return 0;
  note_lowest(log, address);
  Store *store = &log->stores[log->count++];
  store->address = address;
  store->bytes = at;
  store->size = size;
  memcpy(store->old, at, size);
  memcpy(at, bytes, size);
  return 1;
}
