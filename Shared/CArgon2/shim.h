#ifndef KITH_CARGON2_H
#define KITH_CARGON2_H

#include <argon2.h>
#include <stddef.h>

// Writes that no compiler may leave out because nobody reads the memory again.
static inline void kith_wipe(void *memory, size_t count) {
  volatile unsigned char *byte = memory;
  while (count--) *byte++ = 0;
}

#endif
