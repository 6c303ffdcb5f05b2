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

/* A load or a store of a run that is recorded, and the bytes that it moved. */
typedef struct {
  uint64_t instruction; /* its number in the recording */
  uint64_t address;
  uint32_t size, writes;
  uint8_t bytes[LARGEST_STORE];
} Access;

typedef struct {
  uint64_t count;
  Store stores[MOST_STORES];
  uint64_t stack, stack_size; /* addresses of which the lowest that is accessed is kept */
  uint64_t lowest;
  Access *access; /* where accesses are recorded, `accesses` until now; 0 where none are */
  uint64_t accesses, instruction;
} Log;

typedef int (*Step)(State *S, Memory *M, const uint8_t *registers);
