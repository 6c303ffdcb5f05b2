/* Accesses to memory that are noted. */
static inline void note_lowest(Log *log, uint64_t address) {
  if (address - log->stack < log->stack_size && address < log->lowest) log->lowest = address;
}

static inline void record_access(Log *log, uint64_t address, const void *bytes, unsigned size, uint32_t writes) {
  Access *access = &log->access[log->accesses++];
  access->instruction = log->instruction;
  access->address = address;
  access->size = size;
  access->writes = writes;
  memcpy(access->bytes, bytes, size);
}

static inline int load_bytes(Memory *M, unsigned access, uint64_t address, void *bytes, unsigned size) {
  const uint8_t *at = host(M + access, address, size, 0);
  Log *log = M[access].all->log;
  if (!at || size > LARGEST_STORE) return 0;
  note_lowest(log, address);
  memcpy(bytes, at, size);
  if (log->access) record_access(log, address, bytes, size, 0);
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
  if (log->access) record_access(log, address, bytes, size, 1);
  return 1;
}
