// libFuzzer comes with the compiler, without a header.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Runs what the arguments ask for: fuzzing, or the named inputs once each.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *data, size_t size));
