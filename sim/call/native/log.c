/* What one instruction did to memory.  Both the steps and the driver of lockstep have this; State, Memory and
   Regions come before it. */
enum { MOST_STORES = 80, LARGEST_STORE = 64 };

/* A store, and what was there before. */
typedef struct {
  uint64_t address;
  uint8_t *bytes; /* on the host; 0 where nothing is mapped */
  uint64_t size;
  uint8_t old[LARGEST_STORE];
} Store;

typedef struct {
  uint64_t count;
  Store stores[MOST_STORES];
  uint64_t stack, stack_size; /* addresses of which the lowest that is accessed is kept */
  uint64_t lowest;
} Log;

typedef int (*Step)(State *S, Memory *M, const uint8_t *registers);
