/* sim.timing.model.in_order in C: each instruction issues as soon as the first constraint lets it.  Issues up to number
   `until`; 1 where there is no memory, else 0. */
int in_order(Schedule *S, int64_t until) {
  for (; S->next < until && S->next < S->count; S->next++) {
    const int64_t number = S->next;
    const Operation *operation = &S->operations[S->operation[number]];
    int64_t at = S->now, cause = number - 1;
    int kind = ORDER, what = 0;
    if (S->used_slots && (operation->first || S->used_slots + operation->slots > S->width)) {
      at++;
      kind = S->used_slots + operation->slots <= S->width ? PAIRING : WIDTH;
    }
    if (S->redirect > at) {
      at = S->redirect;
      kind = MISPREDICT;
      cause = S->redirected_by;
    }
    const Source *sources = S->source + operation->first_source;
    for (int32_t i = 0; i < operation->sources; i++) {
      const int32_t name = sources[i].name;
      if (S->made_by[name] < 0) continue;
      const int is_base = S->made_as[name] >> 16, column = S->made_as[name] & 0xffff;
      const int64_t ready = S->made_at[name] + S->distance[sources[i].row * S->columns + column];
      if (ready > at) {
        at = ready;
        cause = S->made_by[name];
        kind = !is_base && delay_of(S, cause) ? MEMORY : sources[i].kind;
        what = name;
      }
    }
    for (int64_t i = S->first_writer[number]; i < S->first_writer[number + 1]; i++) {
      const int64_t writer = S->writer[i];
      const int64_t forward = whole_of_pair(S, writer, number, forward_of(S, writer));
      if (forward < 0) return 1;
      const int64_t ready = S->issued[writer] + forward - operation->latency;
      if (ready > at) {
        at = ready;
        kind = STORE;
        cause = writer;
        what = 0;
      }
    }
    const int longer = is_unaligned(S, number, operation);
    const Use *uses = S->use + operation->first_use;
    uint8_t *pipes = S->busy_pipe + S->first_use[number];
    int64_t *from = S->busy_from + S->first_use[number], *to = S->busy_to + S->first_use[number];
    int64_t would = at;
    for (int32_t i = 0; i < operation->uses; i++) {
      const uint8_t *choices = S->pipe + uses[i].first_pipe;
      int chosen = -1, others = 0, is_free = 0;
      for (int pass = 0; pass < 2 && chosen < 0; pass++) { /* of those that are not taken yet, if there are some */
        for (int32_t k = 0; k < uses[i].pipes && !is_free; k++) {
          if (!pass) {
            for (int32_t j = others = 0; j < i; j++) others |= pipes[j] == choices[k];
            if (others) continue;
          }
          is_free = S->free[choices[k]] <= would;
          if (is_free || chosen < 0 || S->free[choices[k]] < S->free[chosen]) chosen = choices[k];
        }
      }
      int64_t cycles = uses[i].cycles + (longer ? uses[i].longer : 0);
      if (uses[i].fraction) cycles += extra(S, (longer ? uses[i].longer_key : uses[i].key) + chosen, uses[i].fraction);
      pipes[i] = (uint8_t)chosen;
      from[i] = uses[i].start;
      to[i] = uses[i].start + cycles;
      if (S->free[chosen] - uses[i].start > would) would = S->free[chosen] - uses[i].start;
    }
    for (int32_t i = 0; i < operation->uses; i++) {
      if (S->free[pipes[i]] - from[i] > at) {
        at = S->free[pipes[i]] - from[i];
        kind = PIPE;
        cause = S->holder[pipes[i]];
        what = (int)(S->names + 1 + pipes[i]);
      }
    }
    if (S->taken[number] && S->taken_next > at) {
      at = S->taken_next;
      kind = BRANCH;
      cause = S->last_taken;
      what = 0;
    }
    if (at > S->now) {
      S->now = at;
      S->used_slots = 0;
    }
    S->used_slots += operation->slots;
    for (int32_t i = 0; i < operation->uses; i++) {
      from[i] += at;
      S->free[pipes[i]] = to[i] += at;
      S->holder[pipes[i]] = number;
    }
    int64_t issued = at + delay_of(S, number);
    if (operation->fraction) issued += extra(S, operation->key, operation->fraction);
    for (int32_t i = 0; i < operation->results; i++) {
      const Result *result = &S->result[operation->first_result + i];
      S->made_at[result->name] = result->moves_base ? at : issued;
      S->made_as[result->name] = result->moves_base << 16 | result->column;
      S->made_by[result->name] = (int32_t)number;
    }
    if (S->taken[number]) take_branch(S, at, number);
    if (S->mispredicted[number]) {
      S->redirect = at + S->mispredict;
      S->redirected_by = number;
    }
    const int64_t ready = issued + operation->done_after;
    S->entered[number] = S->available[number] = S->issued[number] = at;
    S->ready[number] = ready;
    S->retired[number] = number && S->retired[number - 1] > ready ? S->retired[number - 1] : ready;
    S->entry_kind[number] = (uint8_t)kind;
    S->entry_cause[number] = (int32_t)cause;
    S->entry_what[number] = (int16_t)what;
  }
  return 0;
}
